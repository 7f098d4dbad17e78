"""Input beyond a budget is one finding and ends the judging at once; input within it is judged fully."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pyarrow as pa
import pytest

from conformance.contract import proto
from conformance.contract.budget import EXCESS_CLAUSE, STANDARD, Budget, Excess
from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.files import judge_bytes
from conformance.contract.ipc.ipcview import IpcView
from conformance.contract.ipc.judging import ipc_clauses
from conformance.contract.judge import Judge, judge, judge_view
from conformance.contract.view import View
from conformance.contract.viewing import view_of
from conformance.engine.outcomes import WHOLE_CASE, refine
from conformance.generate import materialise
from conformance.protocols.storage_read.engine.substituted import _serialized, _served
from conformance.records import BqType, Case, Column, Exchange, Outcome, Recipe, Table, Verdict
from conformance.reference.message import batch_message, schema_message
from conformance.wire import Kind

load_chapters()
CASE = Case("c", "", Table((Column("n", BqType.INT64),), recipe=Recipe(3)), clauses=("rows.none-is-missing",))
ROWS = materialise(CASE.table)
(BATCH,) = ROWS.to_batches()
SCHEMA = schema_message(ROWS.schema).encode()
SERVED = _served(CASE, SCHEMA, [BATCH])


def _zeros(rows: int) -> pa.RecordBatch:
    """Rows of the table's one column."""
    return pa.RecordBatch.from_arrays([pa.array([0] * rows, pa.int64())], schema=BATCH.schema)


def _compressed(rows: int) -> bytes:
    """A batch message of zeros in LZ4."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, BATCH.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(_zeros(rows))
    reader = pa.ipc.MessageReader.open_stream(sink.getvalue())
    reader.read_next_message()
    data: bytes = reader.read_next_message().serialize().to_pybytes()
    return data


def flood(responses: int) -> Exchange:
    """A server that sends so many more responses, none of which is any message."""
    created, read = SERVED.calls
    read = dataclasses.replace(read, responses=(*read.responses, *[b"\xff"] * responses))
    return dataclasses.replace(SERVED, calls=(created, read))


def judged(exchange: Exchange, budget: Budget, clauses: Sequence[str] = ()) -> list[Verdict]:
    """The verdicts under a budget."""
    view = view_of(CASE, exchange, ROWS)
    view.budget = budget
    return judge_view(view, [CLAUSES[name] for name in clauses] if clauses else CLAUSES.values())


def test_the_standard_budget_is_the_documented_one() -> None:
    """Nothing that a careful server sends comes near a limit, and no limit takes a machine."""
    documented = Budget(
        responses=10_000,
        spare=1_000,
        schemas=16 << 20,
        messages=10_000,
        rows=1_000,
        inflated=64 << 20,
        received=160 << 20,
        slots=4 << 20,
        work=50_000_000,
    )

    assert documented == STANDARD


def test_bytes_are_permitted_by_the_table_and_the_calls() -> None:
    """Sixteen for each byte of the table in each call that brought rows, on top of what is permitted to all."""
    assert STANDARD.of_bytes(SERVED, 5 << 20) == (64 << 20) + 16 * (5 << 20)


def test_the_bytes_of_reads_are_permitted_by_the_table() -> None:
    """Nothing is parsed to find more of them: of the first view, no answer was decoded."""
    size = sum(map(len, SERVED.calls[1].responses))
    view = view_of(CASE, SERVED, ROWS)
    view.budget = Budget(received=size - 1 - 16 * ROWS.nbytes)

    assert view.excess is not None
    assert (view.excess.call, "bytes for a table of" in view.excess.observed) == (1, True)
    assert STANDARD.of_received(SERVED, ROWS.nbytes) is None


def test_a_clean_exchange_is_within_the_budget() -> None:
    """Nothing is said of what is permitted."""
    assert {verdict.outcome for verdict in judge(CASE, SERVED, ROWS)} == {Outcome.PASS}


def test_as_many_responses_as_are_permitted_are_judged() -> None:
    """Two for each row and some to spare: each of them is looked at."""
    tight = Budget(responses=2, spare=1)

    within = judged(flood(8), tight)
    beyond = judged(flood(9), tight)

    assert "rows.response-is-a-message" in {one.clause for one in within if one.outcome is Outcome.FAIL}
    assert [one.clause for one in beyond if one.outcome is Outcome.FAIL] == [EXCESS_CLAUSE]


def test_a_million_responses_are_one_finding() -> None:
    """None of them is parsed, and what the case is for depends on it."""
    verdicts = judge(CASE, flood(1_000_000), ROWS)

    (reported,) = [one for one in verdicts if one.outcome is Outcome.FAIL]
    (finding,) = reported.findings
    assert (reported.clause, finding.call) == (EXCESS_CLAUSE, 1)
    assert finding.observed == "1000001 responses for 3 rows, of which at most 11006 are judged"
    assert [(one.clause, one.outcome) for one in verdicts if one is not reported] == [
        ("rows.none-is-missing", Outcome.DEPENDENCY_FAILED)
    ]


def test_nothing_beyond_the_budget_passes() -> None:
    """There is one finding and what depends on it."""
    judged = Judge(CLAUSES.values())(view_of(CASE, flood(1_000_000), ROWS))

    assert judged.passed == ()
    assert list(judged.others) == judge(CASE, flood(1_000_000), ROWS)


def test_where_the_telling_clause_is_not_asked_nothing_passes() -> None:
    """Each clause says why it was not judged, and the case as a whole has failed."""
    verdicts = judged(flood(99), Budget(responses=0, spare=0), ["rows.none-is-missing", "types.int64"])

    view = view_of(CASE, flood(99), ROWS)
    view.budget = Budget(responses=0, spare=0)
    refined = refine(CASE, view.exchange, verdicts, view.reason_not_judged)
    assert [(one.clause, one.outcome) for one in refined] == [
        ("rows.none-is-missing", Outcome.UNTESTABLE),
        ("types.int64", Outcome.UNTESTABLE),
        (WHOLE_CASE, Outcome.HANG),
    ]
    assert "100 responses for 3 rows" in refined[0].reason
    assert "100 responses for 3 rows" in refined[2].reason


class TestSchemas:
    """Schema messages are bounded in bytes, each distinct one counted once."""

    def test_equal_ones_count_once(self) -> None:
        """A session's schema may precede every response."""
        exchange = _with_schemas([SCHEMA] * 50)

        assert STANDARD.of_schemas(exchange, []) is None
        assert view_of(CASE, exchange, ROWS).excess is None
        assert _excess(exchange, len(SCHEMA)) is None

    def test_one_that_is_too_large_is_told_of_its_call(self) -> None:
        """A name of many MiB is not read."""
        large = schema_message(pa.schema([("n" * 5000, pa.int64())])).encode()

        excess = _excess(_with_schemas([large]), 5000)

        assert excess is not None
        assert excess.call == 1
        assert "of schemas or more, of which at most 5000 are judged" in excess.observed

    def test_bytes_of_rows_are_none_of_schemas(self) -> None:
        """An exchange may hold far more rows than that."""
        many = _served(CASE, SCHEMA, [BATCH] * 50)

        assert _excess(many, 2 * len(SCHEMA)) is None

    def test_a_serializers_schema_counts_too(self) -> None:
        """Where no call was made, each clause says that it was not judged."""
        view = view_of(CASE, _serialized(CASE, SCHEMA, [BATCH]), ROWS)
        view.budget = Budget(schemas=1)

        verdicts = judge_view(view, [CLAUSES["types.int64"], CLAUSES[EXCESS_CLAUSE]])

        assert [(one.clause, one.outcome) for one in verdicts] == [
            ("types.int64", Outcome.UNTESTABLE),
            (EXCESS_CLAUSE, Outcome.UNTESTABLE),
        ]


def test_only_the_call_that_exceeds_the_budget_is_blamed() -> None:
    """The calls after the excess are not judged, and break nothing."""
    large = _with_schemas([schema_message(pa.schema([pa.field("x" * 10_000, pa.int64())])).encode()])
    view = view_of(CASE, dataclasses.replace(large, calls=(*large.calls, *SERVED.calls[1:])), ROWS)
    view.budget = Budget(schemas=5000)

    (verdict,) = judge_view(view, [CLAUSES[EXCESS_CLAUSE]])

    assert view.excess is not None
    assert [finding.call for finding in verdict.findings] == [view.excess.call] == [1]


def _rows_beyond(exchange: Exchange) -> Excess | None:
    view = view_of(CASE, exchange, ROWS)
    view.budget = Budget(rows=0)
    return view.excess


def _with_payloads(payloads: list[bytes], inflated: int = 0) -> Exchange:
    created, read = SERVED.calls
    message = proto.ReadRowsResponse.FromString(read.responses[0])
    responses = []
    for payload in payloads:
        message.arrow_record_batch.serialized_record_batch = payload
        if inflated:
            message.uncompressed_byte_size = inflated
        responses.append(message.SerializeToString())
    if inflated:
        request = proto.CreateReadSessionRequest.FromString(created.request)
        request.read_session.read_options.response_compression_codec = proto.RESPONSE_COMPRESSION["LZ4"]
        created = dataclasses.replace(created, request=request.SerializeToString())
    return dataclasses.replace(SERVED, calls=(created, dataclasses.replace(read, responses=tuple(responses))))


def _excess(exchange: Exchange, schemas: int) -> Excess | None:
    view = view_of(CASE, exchange, ROWS)
    view.budget = Budget(schemas=schemas)
    return view.excess


def _with_schemas(schemas: list[bytes]) -> Exchange:
    created, read = SERVED.calls
    message = proto.ReadRowsResponse.FromString(read.responses[0])
    responses = []
    for schema in schemas:
        message.arrow_schema.serialized_schema = schema
        responses.append(message.SerializeToString())
    return dataclasses.replace(SERVED, calls=(created, dataclasses.replace(read, responses=tuple(responses))))


class TestRows:
    """Each call may bring two rows for each of the table, and some to spare; a few bytes may hold any number."""

    def test_repeated_rows_within_the_budget_are_compared(self) -> None:
        """The clauses on rows find twice the table."""
        verdicts = judged(_served(CASE, SCHEMA, [BATCH] * 2), Budget(rows=0))

        failed = {one.clause for one in verdicts if one.outcome is Outcome.FAIL}
        assert failed
        assert EXCESS_CLAUSE not in failed

    def test_rows_beyond_it_are_one_finding(self) -> None:
        """Values are compared no more, and what the case is for depends on it."""
        verdicts = judged(_served(CASE, SCHEMA, [BATCH] * 3), Budget(rows=0))

        reported, named = sorted(verdicts, key=lambda one: one.clause)
        assert (reported.clause, reported.outcome, reported.findings[0].call) == (EXCESS_CLAUSE, Outcome.FAIL, 1)
        assert reported.findings[0].observed == "9 rows or more of a table of 3, of which at most 6 are judged"
        assert (named.clause, named.outcome) == ("rows.none-is-missing", Outcome.DEPENDENCY_FAILED)

    def test_rows_multiply_as_calls_do(self) -> None:
        """Two reads of a stream bring its rows twice."""
        created, read = _served(CASE, SCHEMA, [BATCH] * 2).calls
        twice = dataclasses.replace(SERVED, calls=(created, read, read))

        assert _rows_beyond(twice) is None

    def test_each_batch_of_a_serializer_is_a_call(self) -> None:
        """The finding on a serializer that makes many rows of few names the call."""
        assert _rows_beyond(_serialized(CASE, SCHEMA, [BATCH] * 9)) is None

        excess = _rows_beyond(_serialized(CASE, SCHEMA, [_zeros(7)]))

        assert excess is not None
        assert excess.call == 1

    def test_rows_without_bytes_count(self) -> None:
        """A batch without columns may have any number of rows; nothing is made of them."""
        nothing = pa.RecordBatch.from_struct_array(pa.array([{}] * 1008, pa.struct([])))
        exchange = _served(CASE, schema_message(nothing.schema).encode(), [nothing])

        excess = view_of(CASE, exchange, ROWS).excess

        assert excess is not None
        assert "1008 rows or more" in excess.observed

    def test_bare_messages_have_no_such_bound(self) -> None:
        """There is no table that says how many rows are too many."""
        verdicts = judge_bytes(SCHEMA, [batch_message(_zeros(5000)).encode()])

        assert {one.outcome for one in verdicts} == {Outcome.PASS}


class TestDecompressedBytes:
    """The decompressed size of an exchange is bounded by its table, for all of its batches together."""

    BOMB = _compressed(100_000)

    def test_batches_share_the_bound(self) -> None:
        """The first takes most of it, and the second is not decompressed."""
        view = view_of(CASE, _with_payloads([self.BOMB, self.BOMB]), ROWS)
        view.budget = Budget(rows=1_000_000, inflated=1_000_000)

        verdicts = judge_view(view, CLAUSES.values())

        assert [batch.rows for batch in view.batches] == [100_000, 0]
        assert "buffers.expansion" in {one.clause for one in verdicts if one.outcome is Outcome.FAIL}

    def test_a_response_as_a_whole_is_not_inflated_beyond_it(self) -> None:
        """The declared size is enough to refuse it."""
        plain = batch_message(_zeros(100_000)).encode()
        payload = pa.Codec("lz4_raw").compress(plain, asbytes=True)
        view = view_of(CASE, _with_payloads([payload], len(plain)), ROWS)
        view.budget = Budget(inflated=1000)

        assert view.excess is not None
        assert f"{len(plain)} decompressed bytes or more" in view.excess.observed

    def test_more_than_lz4_can_express_is_no_such_excess(self) -> None:
        """The number is wrong, and its own clause reports it."""
        view = view_of(CASE, _with_payloads([batch_message(BATCH).encode()], 1 << 50), ROWS)

        assert view.excess is None


class TestStreams:
    """A stream may be long, as long as its messages hold something."""

    STREAM = SCHEMA + batch_message(BATCH.slice(0, 0)).encode() * 99

    def _view(self, messages: int) -> IpcView:
        view = IpcView(self.STREAM, Kind.STREAM)
        view.budget = Budget(messages=messages)
        return view

    def test_what_is_read_whole_is_judged(self) -> None:
        """The hundredth message is the last."""
        spare = 100 - (len(self.STREAM) >> 10)

        verdicts = judge_view(self._view(spare), ipc_clauses("ipc-stream"))

        assert Outcome.PASS in {one.outcome for one in verdicts}
        assert self._view(spare).excess is None

    def test_what_is_not_read_whole_is_not_judged(self) -> None:
        """No clause passes on a part of it, and none fails: a stream may be as long as it likes."""
        clauses = ipc_clauses("ipc-stream")

        verdicts = judge_view(self._view(99 - (len(self.STREAM) >> 10)), clauses)

        assert len(verdicts) == len(clauses)
        assert {one.outcome for one in verdicts} == {Outcome.UNTESTABLE}
        assert "more than 99 messages" in verdicts[0].reason

    def test_messages_of_a_kib_have_no_limit(self) -> None:
        """The permitted amount grows with the bytes."""
        assert STANDARD.of_messages(bytes(1 << 20)) == STANDARD.messages + 1024


class TestWork:
    """Work is counted in subjects, and no clock is read."""

    NAMES = ("rows.every-batch-has-rows", "rows.row-count-is-true", "types.int64")

    def test_what_is_left_when_it_is_used_up_says_so(self) -> None:
        """The clause under way is finished; those after it that would have to be asked are not."""
        exchange = _served(CASE, SCHEMA, [BATCH.slice(0, 1), BATCH.slice(1)])

        verdicts = judged(exchange, Budget(work=1), self.NAMES)

        assert [(one.clause, one.outcome) for one in verdicts] == [
            ("rows.every-batch-has-rows", Outcome.PASS),
            ("rows.row-count-is-true", Outcome.UNTESTABLE),
            ("types.int64", Outcome.PASS),  # judged by its aspects alone
        ]
        assert "budget of work" in verdicts[1].reason

    def test_the_same_exchange_costs_the_same_work(self) -> None:
        """The outcome is the same for every judge and every time."""
        costs = []
        for _ in range(2):
            view = view_of(CASE, flood(20), ROWS)
            judge_view(view, CLAUSES.values())
            costs.append(view.work)

        assert costs[0] == costs[1] > 20


@pytest.mark.parametrize("profile", ["bq-arrow", "ipc-message"])
def test_bare_messages_beyond_the_budget_are_not_judged(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no call for a verdict to name."""
    monkeypatch.setattr(View, "budget", Budget(schemas=1))

    verdicts = judge_bytes(SCHEMA, [], profile=profile)

    assert {one.outcome for one in verdicts} == {Outcome.UNTESTABLE}
    assert all(one.reason.startswith("not judged: ") for one in verdicts)
