"""The features of a server of Flight SQL that CommandGetSqlInfo speaks of, and the steps that need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.protocols.flight.records import SqlBegin, SqlCancel, SqlIngest, SqlQuery, SqlSavepoint, SqlUpdate
from conformance.records import Step

__all__ = ["FEATURES", "READ_ONLY", "needed"]

READ_ONLY: Final = 3
_SQL, _SUBSTRAIT, _TRANSACTION, _CANCEL, _INGESTION = 4, 5, 8, 9, 10
FEATURES: Final[Mapping[int, str]] = {
    READ_ONLY: "FLIGHT_SQL_SERVER_READ_ONLY",
    _SQL: "FLIGHT_SQL_SERVER_SQL",
    _SUBSTRAIT: "FLIGHT_SQL_SERVER_SUBSTRAIT",
    _TRANSACTION: "FLIGHT_SQL_SERVER_TRANSACTION",
    _CANCEL: "FLIGHT_SQL_SERVER_CANCEL",
    _INGESTION: "FLIGHT_SQL_SERVER_BULK_INGESTION",
}
"""The names of the features by their codes."""


_TRUE: Final = frozenset({True})
_NEEDS: Final[Mapping[type, Mapping[int, frozenset[object]]]] = {
    SqlBegin: {_TRANSACTION: frozenset({1, 2})},
    SqlSavepoint: {_TRANSACTION: frozenset({2})},
    SqlCancel: {_CANCEL: _TRUE},
    SqlUpdate: {READ_ONLY: frozenset({False})},
    SqlIngest: {READ_ONLY: frozenset({False}), _INGESTION: _TRUE},
}
"""The features that a step needs, each with the values that say that it is there."""


def needed(step: Step) -> Mapping[int, frozenset[object]]:
    """What a step needs; of queries, a statement and a plan need another feature each, and a handle needs none."""
    if isinstance(step, SqlQuery):
        return {_SUBSTRAIT: _TRUE} if step.plan else {_SQL: _TRUE} if step.sql else {}
    return _NEEDS.get(type(step), {})
