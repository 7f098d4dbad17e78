"""Mutants that read restrictions as another dialect of SQL does: one for each wrong reading.

:data:`conformance.protocols.storage_read.generate.dialects.READINGS` says which engines read so. The generator computes
the same readings over plain Python values; a test compares both on drawn restrictions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.protocols.storage_read.generate.dialects import READINGS
from conformance.protocols.storage_read.reference import restriction
from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.mutants.dialect_nodes import EVALUATIONS
from conformance.protocols.storage_read.reference.mutants.dialect_texts import rewritten
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.sql import NODES, SqlError
from conformance.records import Column
from conformance.reference.statuses import Reason

__all__ = ["keep_as"]


def keep_as(reading: str, text: str, columns: Sequence[Column], rows: pa.Table) -> pa.BooleanArray:
    """For each row (in stored form) whether a dialect with this reading keeps it.

    Raises:
        RestrictionError: the dialect refuses the restriction.
    """
    try:
        changed = rewritten(text, reading, columns)
    except SqlError as error:
        raise restriction.RestrictionError(str(error)) from None
    nodes = {**NODES, **EVALUATIONS.get(reading, {})}
    return restriction.keep(changed, columns, rows, nodes=nodes)


def _of_reading(reading: str) -> type[ReadService]:
    class OtherDialect(ReadService):
        def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
            if not text:
                return None
            try:
                return keep_as(reading, text, snapshot.columns, snapshot.rows)
            except restriction.RestrictionError:
                self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)

    return OtherDialect


_FUNCTIONS: Final = (
    "cast-takes-a-prefix", "length-in-bytes", "lower-of-ascii-only", "substr-counts-position-zero",
    "concat-skips-null", "remainder-of-the-divisor",
)  # fmt: skip
"""The readings of functions."""

_KILLS: Final[Mapping[str, str | tuple[str, ...]]] = {
    "double-quotes-are-names": "restriction.double-quoted-literal",
    "hash-is-no-comment": "restriction.and-or",
    "comment-is-executed": "restriction.and-or",
    "dotted-name-is-a-table": "restriction.nested-field",
    # The right answer of its case has no row, which is judged apart from the comparison.
    "literals-are-decimals": ("restriction.nothing-selected", "restriction.comparison"),
    **dict.fromkeys(("dates-are-texts", "zone-is-dropped", "local-zone"), "restriction.temporal-literal"),
    **dict.fromkeys(("like-ignores-case", "like-has-no-escape"), "restriction.like"),
    "nan-is-null": "restriction.is-null",
    "null-compares-false": "restriction.null-is-not-true",
    **dict.fromkeys(_FUNCTIONS, "restriction.function"),
    "between-in-any-order": "restriction.between",
}
"""The clauses that the case of a reading shows, where they are others than that of comparisons."""

for _name, _reading in READINGS.items():
    _engines = f" So do {', '.join(_reading.engines)}." if _reading.engines else ""
    behaviour_mutant(
        f"dialect.{_name}",
        kills=_KILLS.get(_name, "restriction.comparison"),
        fault=f"{_reading.fault}{_engines}",
    )(_of_reading(_name))
