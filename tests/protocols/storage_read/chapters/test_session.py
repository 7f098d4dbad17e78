from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from conformance.contract import proto
from conformance.engine.outcomes import finding_class
from conformance.records import BqType, Column, CreateSession, Expect, Finding, Json, Outcome, ReadRows, Table
from tests.contract.exchanges import (
    NOW,
    Answer,
    Deviation,
    Obedient,
    case_of,
    create,
    empty_table,
    prove,
    session,
    verdicts,
)

PLAIN = case_of(CreateSession(), ReadRows())


def served(name: str, step: CreateSession) -> Deviation:
    """The deviation that refuses one kind of valid request."""
    return Deviation(f"session.{name}", case_of(step), lambda answers: create(answers).refuse())


def spoilt(name: str, change: Any, *, step: CreateSession | None = None, **more: Any) -> Deviation:
    """A deviation of the ReadSession message."""
    case = PLAIN if step is None else case_of(step, ReadRows())
    return Deviation(f"session.{name}", case, lambda answers: change(session(answers)), **more)


def renamed(name: str) -> Any:
    """A spoil that gives the session and its streams another name."""

    def rename(answers: list[Answer]) -> None:
        old = session(answers).name
        for stream in session(answers).streams:
            stream.name = stream.name.replace(old, name)
        for answer in answers[1:]:
            answer.request.read_stream = answer.request.read_stream.replace(old, name)
        session(answers).name = name

    return rename


def rows_of_an_empty_table(answers: list[Answer]) -> None:
    """One stream with one row."""
    name = session(answers).name + "/streams/0"
    session(answers).streams.add(name=name)
    answer = Answer(1, "s/0", "ReadRows", proto.ReadRowsRequest(read_stream=name))
    answer.send(PLAIN_TABLE.slice(0, 1))
    answers.append(answer)


PLAIN_TABLE = Obedient(PLAIN).table

DEVIATIONS = (
    served("plain-request-is-served", CreateSession()),
    served("options-may-be-absent", CreateSession(omit_options=True)),
    served("several-streams-may-be-asked", CreateSession(max_stream_count=4)),
    served("preferred-count-may-be-asked", CreateSession(max_stream_count=4, preferred_min_stream_count=2)),
    served("parent-may-be-another-project", CreateSession(parent="projects/other")),
    Deviation("session.answer-is-a-session", case_of(CreateSession()), lambda a: create(a).responses.clear()),
    Deviation(
        "session.answer-is-a-session",
        case_of(CreateSession()),
        lambda a: create(a).responses.__setitem__(0, b"\x0a\xff"),
    ),
    Deviation("session.name-has-the-pattern", PLAIN, renamed("projects/p/sessions/s0")),
    Deviation("session.name-is-in-the-parent", PLAIN, renamed("projects/other/locations/us/sessions/s0")),
    Deviation(
        "session.names-differ",
        case_of(CreateSession(), CreateSession(label="t")),
        lambda a: session(a, 1).CopyFrom(session(a, 0)),
    ),
    spoilt("stream-names-differ", lambda s: s.streams.add(name=s.streams[0].name)),
    Deviation(
        "session.streams-are-below-it",
        case_of(CreateSession()),
        lambda a: setattr(session(a).streams[0], "name", session(a).name + "/streams/"),
    ),
    Deviation(
        "session.streams-are-below-it",
        case_of(CreateSession()),
        lambda a: setattr(session(a).streams[0], "name", "projects/p/locations/us/sessions/s9/streams/0"),
    ),
    spoilt("table-is-echoed", lambda s: s.ClearField("table")),
    spoilt("data-format-is-echoed", lambda s: s.ClearField("data_format")),
    spoilt("read-options-are-echoed", lambda s: s.read_options.selected_fields.append("id")),
    spoilt(
        "read-options-are-echoed",
        lambda s: s.read_options.selected_fields.append("id"),
        step=CreateSession(selected_fields=("id",)),
    ),
    spoilt(
        "read-options-are-echoed",
        lambda s: s.read_options.ClearField("row_restriction"),
        step=CreateSession(row_restriction="id >= 0"),
    ),
    spoilt(
        "read-options-are-echoed",
        lambda s: setattr(s.read_options.arrow_serialization_options, "buffer_compression", 2),
        step=CreateSession(buffer_compression="LZ4_FRAME"),
    ),
    spoilt("trace-id-is-echoed", lambda s: s.ClearField("trace_id"), step=CreateSession(trace_id="t")),
    spoilt("expire-time-is-set", lambda s: s.ClearField("expire_time")),
    spoilt("expire-time-is-ahead", lambda s: s.expire_time.FromMicroseconds(NOW - 1_000_000)),
    spoilt("expire-time-is-an-instant", lambda s: setattr(s.expire_time, "nanos", 1_000_000_000)),
    spoilt("expire-time-is-an-instant", lambda s: setattr(s.expire_time, "nanos", 1_000_000_001)),
    spoilt("expire-time-is-an-instant", lambda s: setattr(s.expire_time, "nanos", -1)),
    spoilt("expire-time-is-six-hours-ahead", lambda s: s.expire_time.FromMicroseconds(NOW + 3_600_000_000)),
    spoilt("estimates-are-not-negative", lambda s: setattr(s, "estimated_row_count", -1)),
    spoilt("estimates-are-not-negative", lambda s: setattr(s, "estimated_total_bytes_scanned", -1)),
    Deviation("session.carries-a-schema", case_of(CreateSession()), lambda a: session(a).ClearField("arrow_schema")),
    Deviation(
        "session.schema-is-of-the-format",
        case_of(CreateSession()),
        lambda a: setattr(session(a).avro_schema, "schema", "{}"),
    ),
    Deviation(
        "session.streams-stay-below-the-maximum",
        case_of(CreateSession(max_stream_count=1)),
        lambda a: session(a).streams.add(name=session(a).name + "/streams/1"),
    ),
    Deviation(
        "session.streams-stay-below-a-thousand",
        case_of(CreateSession()),
        lambda a: [session(a).streams.add(name=f"{session(a).name}/streams/x{n}") for n in range(1000)],
    ),
    Deviation("session.rows-have-a-stream", case_of(CreateSession()), lambda a: session(a).ClearField("streams")),
    Deviation(
        "session.empty-table-yields-nothing",
        case_of(CreateSession(), ReadRows(), table=empty_table()),
        rows_of_an_empty_table,
    ),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.ClearField("read_options"),
        lambda s: s.read_options.arrow_serialization_options.SetInParent(),
        lambda s: setattr(s.read_options, "response_compression_codec", 0),
        lambda s: s.expire_time.FromMicroseconds(NOW + 6 * 3_600_000_000 + 60_000_000),
    ],
    ids=["no echo", "empty options", "default spelt out", "a minute of clock"],
)
def test_what_the_contract_leaves_open_is_no_finding(change: Any) -> None:
    """An absent echo, a default spelt out and a clock that is a minute off are permitted."""
    found = verdicts(PLAIN, lambda answers: change(session(answers)))

    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_the_echo_may_name_the_fields_in_another_order() -> None:
    """The order of the selected fields has no meaning (stream.proto), so a server may sort them."""
    two = tuple(PLAIN_TABLE.column_names[:2])
    found = verdicts(
        case_of(CreateSession(selected_fields=two), ReadRows()),
        lambda answers: session(answers).read_options.selected_fields.reverse(),
    )

    assert len(two) == 2
    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_streams_of_an_empty_table_that_yield_nothing_are_permitted() -> None:
    """An empty table may have a stream, as the proto says, if nothing comes in it."""
    case = case_of(CreateSession(), ReadRows(), table=empty_table())

    def one_stream(answers: list[Answer]) -> None:
        name = session(answers).name + "/streams/0"
        session(answers).streams.add(name=name)
        answers.append(Answer(1, "s/0", "ReadRows", proto.ReadRowsRequest(read_stream=name)))

    found = verdicts(case, one_stream)

    assert {verdict.clause for verdict in found if verdict.findings} == set()
    assert "session.empty-table-yields-nothing" in {verdict.clause for verdict in found}


def test_a_request_that_may_be_refused_is_asked_of_no_clause_on_serving() -> None:
    """A step that permits OK and a refusal leaves both to the server."""
    case = case_of(CreateSession(expect=Expect(codes=("OK", "INVALID_ARGUMENT"))))

    found = verdicts(case, lambda answers: create(answers).refuse())

    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_a_finding_names_what_was_required_and_what_came() -> None:
    """The text of a finding holds the value that was asked for and the one that came."""
    found = verdicts(PLAIN, lambda answers: setattr(session(answers), "table", "projects/q"))

    finding = next(finding for verdict in found for finding in verdict.findings)
    assert (finding.clause, finding.call, finding.field) == ("session.table-is-echoed", 0, "table")
    assert finding.required == "the table 'projects/p/datasets/d/tables/t'"
    assert finding.observed == "the table 'projects/q'"


def test_a_lifetime_is_shown_in_hours_with_their_parts() -> None:
    """A session of ninety minutes lives for one and a half hours."""
    found = verdicts(PLAIN, lambda answers: session(answers).expire_time.FromMicroseconds(NOW + 5_400_000_000))

    (finding,) = [finding for verdict in found for finding in verdict.findings]
    assert finding.observed == "1.50 h after it was made"


PRECISE = Table(
    (Column("n", BqType.INT64), Column("at", BqType.TIMESTAMP)),
    tuple(Json({"n": n, "at": "2024-04-05T15:45:58.981123Z"}) for n in range(3)),
)


def precisely(plain: pa.DataType, precise: Mapping[str, pa.DataType]) -> list[Finding]:
    """The findings on the precision of timestamps, where `at` comes in a type without it, and in others with it."""
    either = Expect(codes=("OK", "UNIMPLEMENTED"), reason="not-offered")
    asked = [CreateSession(form, timestamps=form, expect=either) for form in precise]
    steps = [step for one in asked for step in (one, ReadRows(one.label))]
    types = [plain, *precise.values()]

    def change(answers: list[Answer]) -> None:
        for made, read, kind in zip(answers[::2], answers[1::2], types, strict=True):
            assert read.table is not None
            table = read.table.set_column(1, "at", read.table.column("at").cast(kind))
            made.responses[0].arrow_schema.serialized_schema = table.schema.serialize().to_pybytes()
            read.send(table)

    found = verdicts(case_of(CreateSession("plain"), ReadRows("plain"), *steps, table=PRECISE), change)
    (verdict,) = [one for one in found if one.clause == "session.timestamp-precision-spares-other-columns"]
    return list(verdict.findings)


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.string()], ids=str)
def test_a_type_that_is_wrong_without_the_precision_is_no_effect_of_it(kind: pa.DataType) -> None:
    """A server that ignores the option has the types of its plain session, be they right or wrong."""
    right = pa.timestamp("us", "UTC")

    assert precisely(kind, dict.fromkeys(("MICROS", "NANOS", "PICOS"), kind)) == []
    assert precisely(kind, {"MICROS": right}) == []


def test_a_precision_that_changes_types_is_one_class() -> None:
    """Whatever the precision and the type are, the option is applied to a column that it is not for."""
    found = precisely(pa.timestamp("us"), {"NANOS": pa.timestamp("ns", "UTC"), "PICOS": pa.string()})

    assert [one.observed for one in found] == [
        "other types: {'at': timestamp[ns, tz=UTC]}",
        "other types: {'at': string}",
    ]
    assert {finding_class(Outcome.FAIL, one) for one in found} == {
        "fail: other types: <…> (required: the types of a session without '…', or a refusal)"
    }
