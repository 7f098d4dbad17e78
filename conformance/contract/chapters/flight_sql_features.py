"""What CommandGetSqlInfo says of the features of a server, against what the server does."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa

from conformance.contract.clause import FLIGHT, Role, Violation, clause
from conformance.contract.flight.sqlsubjects import described
from conformance.contract.flight.subjects import about
from conformance.contract.flight.view import FlightCall, FlightView
from conformance.contract.sources import FLIGHT_SQL_PROTO
from conformance.records import (
    Level,
    SqlBegin,
    SqlCancel,
    SqlIngest,
    SqlQuery,
    SqlSavepoint,
    SqlUpdate,
    Step,
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
        return f"{_FEATURES[self.code]} is {self.value!r}"


_READ_ONLY, _SQL, _SUBSTRAIT, _TRANSACTION, _CANCEL, _INGESTION = 3, 4, 5, 8, 9, 10
_FEATURES: Final = {
    _READ_ONLY: "FLIGHT_SQL_SERVER_READ_ONLY",
    _SQL: "FLIGHT_SQL_SERVER_SQL",
    _SUBSTRAIT: "FLIGHT_SQL_SERVER_SUBSTRAIT",
    _TRANSACTION: "FLIGHT_SQL_SERVER_TRANSACTION",
    _CANCEL: "FLIGHT_SQL_SERVER_CANCEL",
    _INGESTION: "FLIGHT_SQL_SERVER_BULK_INGESTION",
}


_TRUE: Final = frozenset({True})
_NEEDS: Final[Mapping[type, Mapping[int, frozenset[object]]]] = {
    SqlBegin: {_TRANSACTION: frozenset({1, 2})},
    SqlSavepoint: {_TRANSACTION: frozenset({2})},
    SqlCancel: {_CANCEL: _TRUE},
    SqlUpdate: {_READ_ONLY: frozenset({False})},
    SqlIngest: {_READ_ONLY: frozenset({False}), _INGESTION: _TRUE},
}
"""The features that a step needs, each with the values that say that it is there."""


def _needed(step: Step) -> Mapping[int, frozenset[object]]:
    """What a step needs; of queries, a statement and a plan need another feature each, and a handle needs none."""
    if isinstance(step, SqlQuery):
        return {_SUBSTRAIT: _TRUE} if step.plan else {_SQL: _TRUE} if step.sql else {}
    return _NEEDS.get(type(step), {})


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
        for code, values in _needed(call.step).items()
        if isinstance(said.get(code), bool | int)
    ]


_TELLS: Final = (
    'FlightSql.proto, on FLIGHT_SQL_SERVER_TRANSACTION for example: "indicating whether the Flight SQL Server supports'
    ' the BeginTransaction/EndTransaction/BeginSavepoint/EndSavepoint actions."'
)


@_clause(
    "flight-sql-features.supported-is-served",
    over=lambda view: [one for one in _claims(view) if one.supported and one.code != _READ_ONLY],
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
