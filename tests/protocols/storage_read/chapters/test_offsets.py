from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.records import CreateSession, Expect, Happening, Meanwhile, Outcome, ReadRows
from tests.contract.exchanges import Answer, Deviation, Spoil, case_of, prove, read, session, verdicts

REFUSED = Expect(codes=("FAILED_PRECONDITION",), reason="offset-beyond-end")
NEGATIVE = Expect(codes=("INVALID_ARGUMENT",), reason="negative-offset")


def at(offset: str, expect: Expect | None = None) -> Any:
    """A case that reads a full stream and then from ``offset``."""
    return case_of(CreateSession(), ReadRows(), ReadRows(offset=offset, expect=expect or Expect()))


def from_row(row: int) -> Spoil:
    """The second read delivers the rows from ``row`` on, whatever was asked."""

    def spoil(answers: list[Answer]) -> None:
        whole = read(answers, 0).table
        assert whole is not None
        read(answers, 1).status, read(answers, 1).details = "OK", ""
        read(answers, 1).send(whole.slice(row))

    return spoil


def other_schema(answers: list[Answer]) -> None:
    """The resumed read declares another schema."""
    schema = pa.ipc.read_schema(pa.py_buffer(session(answers).arrow_schema.serialized_schema))
    renamed = schema.set(0, schema.field(0).with_name("other"))
    read(answers, 1).responses[0].arrow_schema.serialized_schema = renamed.serialize().to_pybytes()


DEVIATIONS = (
    *(
        Deviation("offsets.resumed-read-is-served", at(place), lambda a: read(a, 1).refuse("UNIMPLEMENTED"))
        for place in ("inside", "boundary", "last")
    ),
    Deviation("offsets.inside-a-response", at("inside"), from_row(0)),
    Deviation("offsets.inside-a-response", at("inside"), from_row(4)),
    Deviation("offsets.inside-a-response", at("inside"), from_row(3)),
    Deviation("offsets.between-responses", at("boundary"), from_row(0)),
    Deviation("offsets.between-responses", at("boundary"), from_row(5)),
    Deviation("offsets.last-row", at("last"), from_row(0)),
    Deviation("offsets.last-row", at("last"), from_row(10)),
    Deviation("offsets.end-is-served", at("end"), lambda a: read(a, 1).refuse("OUT_OF_RANGE")),
    Deviation("offsets.end-yields-nothing", at("end"), from_row(0)),
    Deviation("offsets.end-yields-nothing", at("end"), from_row(9)),
    Deviation("offsets.beyond-the-end-is-refused", at("end+1", REFUSED), from_row(0)),
    Deviation("offsets.beyond-the-end-is-refused", at("end+100", REFUSED), from_row(10)),
    Deviation(
        "offsets.beyond-the-end-has-its-code", at("end+100", REFUSED), lambda a: read(a, 1).refuse("OUT_OF_RANGE")
    ),
    Deviation("offsets.negative-is-refused", at("-1", NEGATIVE), from_row(9)),
    Deviation("offsets.resumed-schema-is-the-sessions", at("inside"), other_schema),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


def test_a_resumed_read_may_leave_the_schema_out_and_divide_rows_anew() -> None:
    """A resumed read need not have the schema or the responses of the full read."""

    def other_division(answers: list[Answer]) -> None:
        answer = read(answers, 1)
        assert answer.table is not None
        answer.send(answer.table, response_rows=1)
        answer.responses[0].ClearField("arrow_schema")

    found = verdicts(at("inside"), other_division)

    assert {verdict.clause for verdict in found if verdict.findings} == set()


@pytest.mark.parametrize("offset", ["3", "10"])
def test_an_offset_that_no_read_has_reached_may_be_refused(offset: str) -> None:
    """The proto calls it undefined, although a later read shows that the stream has the row; after it, it is not."""
    permitted = Expect(codes=("OK", "FAILED_PRECONDITION"))
    refused = ReadRows(offset=offset, expect=permitted)
    early = case_of(CreateSession(), refused, refused, ReadRows())
    late = case_of(CreateSession(), ReadRows(), ReadRows(offset=offset, expect=permitted))

    def refuse_two(answers: list[Answer]) -> None:
        read(answers, 0).refuse("FAILED_PRECONDITION")
        read(answers, 1).refuse("FAILED_PRECONDITION")

    before = verdicts(early, refuse_two)
    after = verdicts(late, lambda answers: read(answers, 1).refuse("FAILED_PRECONDITION"))

    assert {verdict.clause for verdict in before if verdict.findings} == set()
    assert len({verdict.clause for verdict in after if verdict.findings}) == 1


def test_a_session_that_a_restart_ended_says_nothing_of_offsets() -> None:
    """Its reads may be refused, as of a session that does not exist, wherever they begin."""
    permitted = Expect(codes=("OK", "FAILED_PRECONDITION", "NOT_FOUND"))
    read_on = ReadRows(offset="end+1", expect=permitted)
    case = case_of(CreateSession(), ReadRows(), Meanwhile(Happening.RESTART), read_on)

    found = verdicts(case, lambda answers: read(answers, 1).refuse("NOT_FOUND"))

    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_a_stream_of_one_response_shows_nothing_between_responses() -> None:
    """A place that the stream does not have is no subject, and a clause without one does not pass."""
    case = at("boundary")
    named = case_of(*case.steps, clauses=("offsets.between-responses",))

    found = verdicts(named, response_rows=10)

    outcomes = {v.clause: v.outcome for v in found if v.clause.startswith("offsets.")}
    assert outcomes == {"offsets.between-responses": Outcome.UNTESTABLE}
