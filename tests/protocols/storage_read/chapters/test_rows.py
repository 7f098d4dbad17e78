from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from conformance.contract import proto
from conformance.records import CreateSession, ReadRows
from tests.contract.exchanges import Answer, Deviation, Spoil, case_of, message_of, prove, read, verdicts

PLAIN = case_of(CreateSession(max_stream_count=2), ReadRows())
TWICE = case_of(CreateSession(), ReadRows(), ReadRows())
TOGETHER = case_of(CreateSession(), ReadRows(), ReadRows(times=2, together=True))


def rows_changed(change: Callable[[pa.Table], pa.Table], index: int = 0) -> Spoil:
    """A read that delivers other rows, truly counted."""

    def spoil(answers: list[Answer]) -> None:
        answer = read(answers, index)
        assert answer.table is not None
        answer.send(change(answer.table))

    return spoil


def response(change: Callable[[Any], object], index: int = 0) -> Spoil:
    """A deviation of one response."""
    return lambda answers: change(read(answers).responses[index])


def fault(name: str, spoil: Spoil, **more: Any) -> Deviation:
    """A deviation from the plain case."""
    return Deviation(f"rows.{name}", PLAIN, spoil, **more)


def with_row(table: pa.Table, row: int, column: str, value: object) -> pa.Table:
    """The table and one more row, a copy of ``row`` with another value in ``column``."""
    extra = {**table.slice(row, 1).to_pylist()[0], column: value}
    return pa.concat_tables([table, pa.Table.from_pylist([extra], schema=table.schema)])


def empty_batch(answers: list[Answer]) -> None:
    """A further response, with a record batch of no rows."""
    table = read(answers).table
    assert table is not None
    empty = pa.RecordBatch.from_pylist([], schema=table.schema)
    read(answers).responses.append(
        proto.ReadRowsResponse(arrow_record_batch={"serialized_record_batch": message_of(empty)})
    )


def shared_row(answers: list[Answer]) -> None:
    """The last row of the first stream comes in the second too."""
    first, second = read(answers, 0), read(answers, 1)
    assert first.table is not None
    second.send(pa.concat_tables([second.table, first.table.slice(first.table.num_rows - 1)]))


def other_schema(response: Any) -> None:
    """The first column under another name."""
    schema = pa.ipc.read_schema(pa.py_buffer(response.arrow_schema.serialized_schema))
    renamed = schema.set(0, schema.field(0).with_name("other"))
    response.arrow_schema.serialized_schema = renamed.serialize().to_pybytes()


def progress(start: float, end: float) -> Callable[[Any], None]:
    """A response's progress."""

    def change(response: Any) -> None:
        response.stats.progress.at_response_start = start
        response.stats.progress.at_response_end = end

    return change


DEVIATIONS = (
    fault("read-is-served", lambda a: read(a).refuse("NOT_FOUND")),
    fault("response-is-a-message", lambda a: read(a).responses.append(b"\x0a\xff")),
    fault("every-response-has-a-payload", lambda a: read(a).responses.append(proto.ReadRowsResponse())),
    Deviation(
        "rows.payload-is-of-the-format",
        case_of(CreateSession(), ReadRows(take=1)),
        response(lambda r: setattr(r.avro_rows, "serialized_binary_rows", b"\0")),
    ),
    fault("every-batch-has-rows", empty_batch),
    fault("row-count-is-true", response(lambda r: setattr(r, "row_count", 0))),
    fault("row-count-is-true", response(lambda r: setattr(r, "row_count", 10), 1)),
    fault("deprecated-count-is-zero-or-true", response(lambda r: setattr(r.arrow_record_batch, "row_count", 10))),
    fault("uncompressed-size-is-unset", response(lambda r: setattr(r, "uncompressed_byte_size", -1))),
    fault("uncompressed-size-is-unset", response(lambda r: setattr(r, "uncompressed_byte_size", 1 << 20))),
    fault("first-response-has-the-schema", response(lambda r: r.ClearField("arrow_schema"))),
    fault("schema-is-the-sessions", response(other_schema)),
    fault("progress-is-a-fraction", response(progress(0, 1.5), 2)),
    fault("progress-is-a-fraction", response(progress(float("nan"), 1), 2)),
    fault("progress-starts-before-it-ends", response(progress(1, 0.9), 2)),
    fault("progress-does-not-fall", response(progress(0, 0.1), 2)),
    fault("progress-goes-on", response(progress(0, 0.8), 1)),
    fault("progress-goes-on", response(progress(0.6, 0.8), 1)),
    fault("throttling-is-a-percentage", response(lambda r: setattr(r.throttle_state, "throttle_percent", 101))),
    fault("throttling-is-a-percentage", response(lambda r: setattr(r.throttle_state, "throttle_percent", -1))),
    fault("none-is-missing", rows_changed(lambda t: t.slice(1))),
    fault("none-is-missing", lambda a: read(a).responses.pop()),
    fault("none-is-missing", rows_changed(lambda t: t.slice(0, 0))),
    fault("none-is-repeated", rows_changed(lambda t: pa.concat_tables([t, t.slice(0, 1)]))),
    fault("none-is-repeated", rows_changed(lambda t: pa.concat_tables([t, t]))),
    fault("none-is-foreign", rows_changed(lambda t: with_row(t, 0, "id", 99))),
    Deviation("rows.streams-are-disjoint", PLAIN, shared_row, streams=2),
    Deviation("rows.rereading-repeats", TWICE, rows_changed(lambda t: t.take(list(range(9, -1, -1))), 1)),
    Deviation("rows.rereading-repeats", TWICE, rows_changed(lambda t: t.slice(5), 1)),
    Deviation("rows.rereading-repeats", TWICE, rows_changed(lambda t: t.slice(0, 0), 1)),
    Deviation("rows.reading-together-repeats", TOGETHER, rows_changed(lambda t: t.slice(5), 2)),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


@pytest.mark.parametrize(
    "spoil",
    [
        rows_changed(lambda t: t.take([3, 1, 4, 0, 5, 9, 2, 6, 8, 7])),
        response(lambda r: setattr(r.arrow_record_batch, "row_count", 4)),
        response(lambda r: r.ClearField("stats"), 1),
        response(lambda r: setattr(r.throttle_state, "throttle_percent", 100)),
        lambda a: [r.arrow_schema.CopyFrom(read(a).responses[0].arrow_schema) for r in read(a).responses],
    ],
    ids=["any order", "deprecated count", "no progress", "throttled", "schema in every response"],
)
def test_what_the_contract_leaves_open_is_no_finding(spoil: Spoil) -> None:
    """Rows may come in any order, counters that clients ignore may be set or not, schemas may be repeated."""
    found = verdicts(PLAIN, spoil)

    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_a_restriction_may_leave_a_gap_in_progress() -> None:
    """The rows that a restriction drops are not in any response."""
    restricted = case_of(CreateSession(row_restriction="id >= 0"), ReadRows())

    found = verdicts(restricted, response(progress(0.6, 0.8), 1))

    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_a_changed_value_is_no_lost_and_no_foreign_row() -> None:
    """A row with one other value is the affair of the chapters on values."""
    found = verdicts(PLAIN, rows_changed(lambda t: with_row(t, 0, "city", "elsewhere").slice(1)))

    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_a_stream_with_several_divisions_is_the_table_still() -> None:
    """Responses of one row, of several and of all rows are equally right, in one stream or in several."""
    for streams in (1, 2):
        for response_rows in (1, 3, 10):
            found = verdicts(PLAIN, streams=streams, response_rows=response_rows)

            assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_of_several_shared_rows_the_first_is_shown() -> None:
    """The finding has the number of the rows that come in several streams, and the first of them."""

    def shared(answers: list[Answer]) -> None:
        first, second = read(answers, 0), read(answers, 1)
        assert first.table is not None
        second.send(pa.concat_tables([second.table, first.table.slice(1, 3)]))

    found = verdicts(PLAIN, shared, streams=2)

    (finding,) = next(one.findings for one in found if one.clause == "rows.streams-are-disjoint")
    assert finding.observed.startswith("3 rows in several streams, such as {'id': 1,")
