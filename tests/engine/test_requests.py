"""The features of a request and of a table, in the words by which cases are compared."""

from __future__ import annotations

import dataclasses

from conformance.contract.viewing import view_of
from conformance.engine.events import CaseShape, Request
from conformance.engine.requests import requests_of, shape_of
from conformance.generate import materialise
from conformance.records import (
    BqType,
    Call,
    Case,
    Column,
    CreateSession,
    Exchange,
    Expect,
    Mode,
    ReadRows,
    Recipe,
    Table,
)
from tests.engine.samples import sample_call, sample_case


def requests(step: CreateSession, *calls: Call) -> tuple[Request, ...]:
    """The requests of a case with one session that ended in these calls."""
    case = dataclasses.replace(sample_case("a"), steps=(step, ReadRows()))
    return requests_of(view_of(case, Exchange("a", "fake", calls), materialise(case.table)))


def test_a_request_asks_for_its_options_from_the_general_to_the_special() -> None:
    """A server may lack the option, or one value of it."""
    (request,) = requests(CreateSession(buffer_compression="ZSTD", max_stream_count=3), sample_call())

    assert request == Request(
        0,
        "CreateReadSession",
        ("buffer_compression", "max_stream_count", "max_stream_count above 1", "buffer_compression ZSTD"),
    )


def test_a_read_asks_for_what_its_session_asks_for() -> None:
    """The server that accepted the session may refuse the read."""
    refused = Call(1, "s/0", "ReadRows", b"", status="INTERNAL", details="no LZ4")

    _, read = requests(CreateSession(response_compression="LZ4"), sample_call(), refused)

    assert read == Request(1, "ReadRows", ("response_compression",), session=0, refused="INTERNAL: no LZ4")


def test_a_refusal_in_another_status_is_not_owed() -> None:
    """The request had to be refused; only the status is wrong."""
    step = CreateSession(expect=Expect(codes=("NOT_FOUND",), reason="missing-table"))

    (request,) = requests(step, sample_call(status="UNKNOWN"))

    assert (request.owed, request.refused) == (False, "UNKNOWN: ")


def test_a_refused_request_keeps_its_filter() -> None:
    """A read has that of its session; a request that was served needs none."""
    refused = sample_call(status="INTERNAL")
    step = CreateSession(row_restriction="number > 1")

    assert [one.restriction for one in requests(step, refused)] == ["number > 1"]
    assert [one.restriction for one in requests(step, sample_call())] == [""]


def test_a_right_refusal_is_no_request_to_compare() -> None:
    """It says nothing about a feature."""
    step = CreateSession(expect=Expect(codes=("NOT_FOUND",), reason="missing-table"))

    assert requests(step, sample_call(status="NOT_FOUND")) == ()


def test_a_request_that_may_be_refused_and_is_was_not_served() -> None:
    """Else a feature would count as served that was refused each time."""
    step = CreateSession(row_restriction="number > 1", expect=Expect(codes=("OK", "INVALID_ARGUMENT")))

    assert requests(step, sample_call(status="INVALID_ARGUMENT")) == ()
    assert [one.refused for one in requests(step, sample_call())] == [""]


def test_a_table_has_its_types_and_its_nesting() -> None:
    """At every level."""
    inner = Column("b", BqType.INT64, Mode.REPEATED)
    table = Table((Column("a", BqType.RECORD, Mode.REPEATED, fields=(inner,)),), recipe=Recipe(rows=1))

    assert shape_of(Case("a", "Case a", table)) == CaseShape(
        1,
        1,
        2,
        (
            "a single row",
            "columns of type RECORD",
            "REPEATED columns",
            "records inside lists",
            "columns of type INT64",
            "lists inside lists",
            "lists inside records",
        ),
    )
