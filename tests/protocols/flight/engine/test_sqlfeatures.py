"""Calls of a recording that show a feature are judged with the answer that speaks of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from conformance.engine.conversed import conversations
from conformance.protocols.flight.contract.encoding import number, part, text
from conformance.protocols.flight.contract.sqlmessages import packed
from conformance.protocols.flight.engine.sqlfeatures import told_by
from conformance.records import Call
from tests.protocols.flight.engine.test_recordings import alone
from tests.protocols.flight.engine.test_sqlrecordings import begin, end, update


def said(*codes: int, at: float = 0.0, status: str = "OK") -> Call:
    """A GetFlightInfo that asks what the server says of these features; of all of them without one."""
    command = packed("CommandGetSqlInfo", b"".join(number(1, code) for code in codes))
    return Call(0, "", "GetFlightInfo", part(2, command), status=status, details="", started=at, seconds=0.1)


def query(*, at: float, status: str = "OK", label: str = "") -> Call:
    """A statement."""
    command = packed("CommandStatementQuery", text(1, "S"))
    return Call(0, label, "GetFlightInfo", part(2, command), status=status, details="", started=at, seconds=0.1)


def ingest(*, temporary: bool = False) -> Call:
    """An ingestion."""
    command = packed("CommandStatementIngest", number(5, int(temporary)))
    return Call(0, "", "DoPut", part(1, part(2, command)), details="", started=1.0, seconds=0.1)


def refused_begin() -> Call:
    """A transaction that the server does not implement."""
    return dataclasses.replace(begin(), started=1.0, status="UNIMPLEMENTED", responses=())


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        pytest.param([said(), query(at=1.0)], {1: 0}, id="a query"),
        pytest.param([said(8), refused_begin()], {1: 0}, id="a transaction that is not implemented"),
        pytest.param(
            [said(4), query(at=1.0, status="UNIMPLEMENTED")], {}, id="a part of a statement that is not there"
        ),
        pytest.param([said(3), ingest(), query(at=2.0)], {1: 0}, id="only what was asked for"),
        pytest.param([said(), ingest(temporary=True)], {}, id="a temporary table"),
        pytest.param([said(), update(at=1.0)], {}, id="an update, which need not write"),
        pytest.param([said(3), said(4, at=0.5), query(at=1.0)], {2: 1}, id="the answer that speaks of it"),
        pytest.param([said(), query(at=1.0), query(at=2.0)], {1: 0}, id="the first call decides"),
        pytest.param([said(), query(at=1.0, status="INVALID_ARGUMENT")], {}, id="a statement that is wrong"),
        pytest.param([said(status="UNIMPLEMENTED"), query(at=1.0)], {}, id="no answer"),
        pytest.param([said(), query(at=90.0)], {}, id="long after it"),
        pytest.param([said(), query(at=1.0, label="login 3")], {}, id="another user"),
        pytest.param([query(at=0.0), said(at=1.0)], {}, id="before it"),
    ],
)
def test_the_first_call_that_needs_a_feature_shows_it(calls: Sequence[Call], expected: dict[int, int]) -> None:
    """Within a minute after the answer."""
    assert told_by(calls) == expected


def test_what_goes_along_with_the_call_goes_along() -> None:
    """A transaction with its end, and a query; the others are exchanges of their own."""
    later = [dataclasses.replace(one, started=at) for at, one in ((1.0, begin()), (2.0, end(2, at=2.0, status="OK")))]
    found = conversations(alone([said(), *later, update(at=3.0), query(at=4.0), query(at=5.0)]))

    assert [len(one.exchange.calls) for one in found] == [4, 1, 1]
