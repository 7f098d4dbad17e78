"""Mutants that read restrictions as another dialect of SQL does: one for each wrong reading.

:data:`conformance.generate.dialects.READINGS` says which engines read so. The generator computes the same readings over
plain Python values; a test compares both on drawn restrictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from conformance.generate.dialects import READINGS
from conformance.reference import restriction
from conformance.reference.catalogue import Snapshot
from conformance.reference.mutants.dialect_nodes import EVALUATIONS
from conformance.reference.mutants.dialect_texts import rewritten
from conformance.reference.mutants.register import behaviour_mutant
from conformance.reference.refusals import Reason
from conformance.reference.service import Service
from conformance.reference.sql import NODES, SqlError

__all__ = ["keep_as"]


def keep_as(reading: str, text: str, snapshot: Snapshot) -> pa.BooleanArray:
    """For each row whether a dialect with this reading keeps it.

    Raises:
        RestrictionError: the dialect refuses the restriction.
    """
    try:
        changed = rewritten(text, reading, snapshot.columns)
    except SqlError as error:
        raise restriction.RestrictionError(str(error)) from None
    nodes = {**NODES, **EVALUATIONS.get(reading, {})}
    return restriction.keep(changed, snapshot.columns, snapshot.rows, nodes=nodes)


def _of_reading(reading: str) -> type[Service]:
    class OtherDialect(Service):
        def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
            if not text:
                return None
            try:
                return keep_as(reading, text, snapshot)
            except restriction.RestrictionError:
                self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)

    return OtherDialect


_KILLS: Final[Mapping[str, str]] = {}

for _name, _reading in READINGS.items():
    _engines = f" So do {', '.join(_reading.engines)}." if _reading.engines else ""
    behaviour_mutant(f"dialect.{_name}", kills=_KILLS.get(_name, ""), fault=f"{_reading.fault}{_engines}")(
        _of_reading(_name)
    )
