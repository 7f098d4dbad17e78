"""What CommandGetSqlInfo says of the features of a server, against what the server does."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from conformance.contract.clause import Role, Violation, clause
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.sources import FLIGHT_SQL_PROTO
from conformance.protocols.flight.contract.sqlfeatures import FEATURES, READ_ONLY, needed
from conformance.protocols.flight.contract.sqlsubjects import described
from conformance.protocols.flight.contract.subjects import about
from conformance.protocols.flight.contract.view import FlightCall, FlightView
from conformance.records import (
    Level,
)

_clause = functools.partial(clause, source=FLIGHT_SQL_PROTO, level=Level.SHOULD, profiles=FLIGHT, role=Role.APPLICATION)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Claim:
    """What CommandGetSqlInfo says of a feature, and a call that needs it."""

    call: int
    of: FlightCall
    code: int
    value: object
    supported: bool
    response: None = None

    def __str__(self) -> str:
        return f"{FEATURES[self.code]} is {self.value!r}"


@about
def _claims(view: FlightView) -> list[_Claim]:
    said: dict[int, object] = {}
    for one in described(view):
        for table in one.tables:
            if table.schema.names == ["info_name", "value"] and pa.types.is_union(table.schema.field(1).type):
                said.update(zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True))
    return [
        _Claim(call.index, call, code, said[code], said[code] in values)
        for call in view.flight_calls
        if call.answered
        for code, values in needed(call.step).items()
        if isinstance(said.get(code), bool | int)
    ]


_TELLS: Final = (
    'FlightSql.proto, on FLIGHT_SQL_SERVER_TRANSACTION for example: "indicating whether the Flight SQL Server supports'
    ' the BeginTransaction/EndTransaction/BeginSavepoint/EndSavepoint actions."'
)


@_clause(
    "flight-sql-features.supported-is-served",
    over=lambda view: [one for one in _claims(view) if one.supported and one.code != READ_ONLY],
    breaks="drivers that ask for the features first",
    says=f"A feature that CommandGetSqlInfo says is there is not UNIMPLEMENTED.\n\n{_TELLS}",
)
def _supported_is_served(claim: _Claim) -> Iterator[Violation]:
    if claim.of.raw.status == "UNIMPLEMENTED":
        yield Violation(f"another status than UNIMPLEMENTED: {claim}", claim.of.raw.details)


@_clause(
    "flight-sql-features.served-is-supported",
    over=lambda view: [one for one in _claims(view) if one.of.ok],
    breaks="drivers that ask for the features first: they refuse what the server could do",
    says=f"What ends in OK is a feature that CommandGetSqlInfo says is there, if it says anything.\n\n{_TELLS}",
)
def _served_is_supported(claim: _Claim) -> Iterator[Violation]:
    if not claim.supported:
        yield Violation(f"a status other than OK: {claim}", f"OK for {claim.of.raw.label or claim.of.raw.method}")
