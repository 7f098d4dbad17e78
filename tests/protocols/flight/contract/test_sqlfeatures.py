"""Which features of a server a step needs."""

from __future__ import annotations

import pytest

from conformance.protocols.flight.contract.sqlfeatures import FEATURES, needed
from conformance.protocols.flight.records import SqlBegin, SqlClose, SqlIngest, SqlQuery, SqlSavepoint
from conformance.records import Step


@pytest.mark.parametrize(
    ("step", "names"),
    [
        (SqlQuery("SELECT 1"), ["SQL"]),
        (SqlQuery(plan=b"p"), ["SUBSTRAIT"]),
        (SqlQuery(prepared="p"), []),
        (SqlIngest(), ["READ_ONLY", "BULK_INGESTION"]),
        (SqlClose(), []),
    ],
)
def test_a_step_needs_its_features(step: Step, names: list[str]) -> None:
    """A handle says nothing: it was given out by another call."""
    assert [FEATURES[code] for code in needed(step)] == [f"FLIGHT_SQL_SERVER_{name}" for name in names]


def test_a_savepoint_needs_more_than_a_transaction() -> None:
    """The values say which of both a server has."""
    (begin,), (savepoint,) = (needed(step).values() for step in (SqlBegin(), SqlSavepoint()))

    assert savepoint < begin
