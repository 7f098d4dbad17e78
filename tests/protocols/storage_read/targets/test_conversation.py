"""Steps become calls exactly as the records describe them."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import grpc
import pytest

from conformance.contract import proto
from conformance.contract.rpcstatus import TRAILER, retry_status
from conformance.protocols.storage_read.targets.conversation import Conversation
from conformance.records import (
    AppendRows,
    CallEnd,
    ChangeColumns,
    Column,
    CreateSession,
    FaultKind,
    Happening,
    Meanwhile,
    PlannedFault,
    ReadRows,
    SplitStream,
)
from conformance.targets.allowance import OUT_OF_BYTES, OUT_OF_TIME
from conformance.targets.names import Names
from conformance.targets.recordedcall import CallBudget, Caller, open_channel
from tests.patience import LONG, patiently
from tests.protocols.storage_read.targets.conversing import PLAN, converse, served
from tests.targets.fake_server import FakeServer, serving


def read(fake: FakeServer) -> list[tuple[str, int]]:
    """The last part of the stream's name and the offset of each ReadRows request."""
    return [(request.read_stream.rsplit("/", 1)[-1], request.offset) for request in fake.seen("ReadRows")]


def test_a_plain_case_is_a_session_and_a_read_of_each_stream(fake: FakeServer) -> None:
    """``*`` reads every stream, one call each, and labels say which."""
    fake.streams = 3

    calls = converse(fake, CreateSession(), ReadRows()).calls

    assert [(call.step, call.label, call.method, call.status) for call in calls] == [
        (0, "s", "CreateReadSession", "OK"),
        (1, "s/0", "ReadRows", "OK"),
        (1, "s/1", "ReadRows", "OK"),
        (1, "s/2", "ReadRows", "OK"),
    ]
    assert read(fake) == [("0", 0), ("1", 0), ("2", 0)]


def test_a_stream_is_chosen_by_its_index(fake: FakeServer) -> None:
    """An index reads one stream; an index that does not exist skips the step."""
    fake.streams = 2

    conversation = converse(fake, CreateSession(), ReadRows(stream="1"), ReadRows(stream="2"))

    assert read(fake) == [("1", 0)]
    assert conversation.skipped == [2]


def test_sessions_are_told_apart_by_their_labels(fake: FakeServer) -> None:
    """A read belongs to the session that it names."""
    conversation = converse(fake, CreateSession(label="a"), CreateSession(label="b"), ReadRows(session="a"))

    assert [call.label for call in conversation.calls] == ["a", "b", "a/0"]
    assert fake.seen("ReadRows")[0].read_stream.split("/")[-3] == "s1"


def test_children_of_a_split_are_streams(fake: FakeServer) -> None:
    """Both children can be read by the split's label, and split again."""
    converse(
        fake,
        CreateSession(),
        SplitStream(label="x", fraction=0.25),
        ReadRows(stream="x.primary"),
        ReadRows(stream="x.remainder"),
        SplitStream(label="y", stream="x.remainder"),
        ReadRows(stream="y.primary"),
    )

    assert fake.seen("SplitReadStream")[0].fraction == 0.25
    assert read(fake) == [("0.a", 0), ("0.b", 0), ("0.b.a", 0)]


def test_a_stream_that_cannot_be_split_skips_its_children(fake: FakeServer) -> None:
    """An empty answer to a split is an answer; reads of its children do not apply."""
    fake.split = lambda request, context: b""

    conversation = converse(fake, CreateSession(), SplitStream(), ReadRows(stream="x.primary"))

    assert [call.method for call in conversation.calls] == ["CreateReadSession", "SplitReadStream"]
    assert conversation.skipped == [2]


def test_places_are_worked_out_from_the_earlier_whole_read(fake: FakeServer) -> None:
    """Symbolic offsets of a stream follow from its own responses."""
    fake.counts = (2, 5)
    places = ("inside", "boundary", "last", "end", "end+1")

    conversation = converse(fake, CreateSession(), ReadRows(), *(ReadRows(offset=place) for place in places))

    assert [offset for _, offset in read(fake)] == [0, 4, 2, 6, 7, 8]
    assert conversation.skipped == []


def test_a_place_that_a_stream_does_not_have_skips_the_step(fake: FakeServer) -> None:
    """A single response has no boundary; and without a full read no place is known."""
    fake.counts = (2,)

    conversation = converse(
        fake, CreateSession(), ReadRows(offset="end"), ReadRows(take=1), ReadRows(), ReadRows(offset="boundary")
    )

    assert conversation.skipped == [1, 4]


def test_numbers_are_sent_as_they_are(fake: FakeServer) -> None:
    """A numeric offset needs no earlier read, and may be negative."""
    converse(fake, CreateSession(), ReadRows(offset="3"), ReadRows(offset="-1"))

    assert [offset for _, offset in read(fake)] == [3, -1]


def test_a_session_without_streams_is_read_without_calls(fake: FakeServer) -> None:
    """Zero streams is an answer: nothing is skipped."""
    fake.streams = 0

    conversation = converse(fake, CreateSession(), ReadRows())

    assert len(conversation.calls) == 1
    assert conversation.skipped == []


def test_what_depends_on_a_refused_session_is_skipped(fake: FakeServer) -> None:
    """Steps on a session that was not created do not apply."""

    def refuse(_request: bytes, context: grpc.ServicerContext) -> bytes:
        context.abort(grpc.StatusCode.NOT_FOUND, "no table")

    fake.session = refuse

    conversation = converse(fake, CreateSession(), ReadRows(), SplitStream())

    assert [call.status for call in conversation.calls] == ["NOT_FOUND"]
    assert conversation.skipped == [1, 2]


def test_junk_in_place_of_a_session_skips_what_depends_on_it(fake: FakeServer) -> None:
    """Bytes that are no ReadSession are recorded, and nothing is read."""
    fake.session = lambda request, context: b"\xff\xff\xff"

    conversation = converse(fake, CreateSession(), ReadRows())

    assert conversation.calls[0].responses == (b"\xff\xff\xff",)
    assert conversation.skipped == [1]


def test_a_literal_name_is_a_template(fake: FakeServer) -> None:
    """A read of a name that no session gave is made, with the session's name filled in where there is one."""
    converse(fake, ReadRows(name="projects/{project}/nope"), CreateSession(), ReadRows(name="{session}/streams/nope"))

    names = [request.read_stream for request in fake.seen("ReadRows")]
    assert names == ["projects/p/nope", "projects/p/locations/us/sessions/s1/streams/nope"]


def test_repeats_are_calls_of_their_own(fake: FakeServer) -> None:
    """``times`` repeats each call under the same label."""
    calls = converse(fake, CreateSession(), ReadRows(times=3)).calls

    assert [call.label for call in calls[1:]] == ["s/0", "s/0", "s/0"]


def test_together_means_at_the_same_time(fake: FakeServer) -> None:
    """Concurrent repeats are all under way before any of them ends."""
    everyone = threading.Barrier(4)

    def rows(_request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
        everyone.wait(timeout=LONG)
        yield b""

    fake.rows = rows
    fake.streams = 2

    calls = converse(fake, CreateSession(), ReadRows(times=2, together=True)).calls

    assert [(call.label, call.status) for call in calls[1:]] == [("s/0", "OK")] * 2 + [("s/1", "OK")] * 2


def test_rows_are_appended_in_their_turn(fake: FakeServer) -> None:
    """AppendRows happens between the calls before it and those after it."""
    events: list[str] = []
    plan = dataclasses.replace(PLAN, append=lambda count: events.append(f"append {count}"))
    well_behaved = fake.session

    def session(request: bytes, context: grpc.ServicerContext) -> bytes:
        events.append("session")
        return well_behaved(request, context)

    fake.session = session

    converse(fake, CreateSession(), AppendRows(2), CreateSession(label="t"), AppendRows(1), plan=plan)

    assert events == ["session", "append 2", "session", "append 1"]


@pytest.mark.parametrize(("dropped", "asked"), [(True, 2), (False, 1)])
def test_a_table_is_made_again_in_its_turn_or_the_rest_is_skipped(
    fake: FakeServer, *, dropped: bool, asked: int
) -> None:
    """Without deletion, the calls before it are kept, and it is skipped with all later steps."""
    counts: list[int] = []

    def remake(count: int) -> bool:
        counts.append(count)
        return dropped

    plan = dataclasses.replace(PLAN, remake=remake)

    made = converse(fake, CreateSession(), AppendRows(2, again=True), CreateSession(label="t"), plan=plan)

    assert counts == [2]
    assert len(made.calls) == asked
    assert made.skipped == ([] if dropped else [1, 2])


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("done", [True, False])
def test_columns_change_between_two_calls(fake: FakeServer, *, done: bool, again: bool) -> None:
    """The server gets the columns of then; one that does not change them is not asked for the rest of the case."""
    given: list[list[str]] = []

    def change(columns: Sequence[Column]) -> bool:
        given.append([column.name for column in columns])
        return done

    plan = dataclasses.replace(PLAN, renew=change) if again else dataclasses.replace(PLAN, change=change)
    step = ChangeColumns(drop=("a",), again=again)
    made = converse(fake, CreateSession(), step, CreateSession(label="t"), plan=plan)

    assert given == [[]]
    assert made.skipped == ([] if done else [1, 2])


def test_what_the_target_does_not_offer_is_skipped_with_all_that_follows(fake: FakeServer) -> None:
    """A server that is not restarted, and one whose clock is not set, is asked what comes before."""
    for what in (Happening.RESTART, Happening.EXPIRY):
        made = converse(fake, CreateSession(), Meanwhile(what), ReadRows())

        assert ([call.method for call in made.calls], made.skipped) == (["CreateReadSession"], [1, 2])


def test_calls_after_a_restart_go_to_the_server_that_was_started(fake: FakeServer) -> None:
    """The names of before are asked of the new server."""
    with serving(FakeServer()) as (_, port), open_channel(f"127.0.0.1:{port}", message_limit=100_000) as channel:
        second = Caller(channel, began=0, message_limit=100_000, last_words=lambda seconds: "restarted")
        plan = dataclasses.replace(PLAN, restart=lambda: second)

        made = converse(fake, CreateSession(), Meanwhile(Happening.RESTART), ReadRows(), plan=plan)

    assert (fake.seen("ReadRows"), len(made.calls), made.skipped) == ([], 2, [])


def test_the_clock_passes_the_last_expiry_of_all_sessions(fake: FakeServer) -> None:
    """It is set ahead by the seconds from now to a second after that instant."""
    asked: list[int] = []

    def pass_time(ahead: int) -> bool:
        asked.append(ahead)
        return True

    def session(_request: bytes, _context: grpc.ServicerContext) -> bytes:
        answer = proto.ReadSession(name="s", streams=[proto.ReadStream(name="s/streams/0")])
        answer.expire_time.seconds = 5000
        data: bytes = answer.SerializeToString()
        return data

    fake.session = session
    plan = dataclasses.replace(PLAN, now=1000 * 1_000_000, pass_time=pass_time)

    converse(fake, CreateSession(), Meanwhile(Happening.EXPIRY), ReadRows(), plan=plan)

    assert asked == [4001]
    assert len(fake.seen("ReadRows")) == 1


def test_sessions_after_a_query_are_on_its_result(fake: FakeServer) -> None:
    """Rows that are inserted into the source later do not belong to the result."""
    plan = dataclasses.replace(PLAN, derive=lambda what: Names("p", "d", what.value))

    converse(
        fake,
        *(CreateSession(), Meanwhile(Happening.QUERY), CreateSession(), Meanwhile(Happening.QUERY_INTO)),
        *(AppendRows(2), CreateSession(), ReadRows(), ReadRows(offset="end")),
        plan=plan,
    )

    tables = [request.read_session.table.rsplit("/", 1)[-1] for request in fake.seen("CreateReadSession")]
    assert tables == ["t", "query", "query-into"]
    assert read(fake)[-1] == ("0", 5)


def test_without_a_table_of_a_kind_the_rest_is_left_out(fake: FakeServer) -> None:
    """A server that makes no views is not judged on them."""
    plan = dataclasses.replace(PLAN, derive=lambda _what: None)

    conversation = converse(fake, Meanwhile(Happening.VIEW), CreateSession(), ReadRows(), plan=plan)

    assert conversation.skipped == [0, 1, 2]
    assert not fake.seen("CreateReadSession")


def test_nothing_is_asked_after_a_hang(fake: FakeServer) -> None:
    """A hang costs one deadline: the conversation ends there and says that the target is broken."""

    def rows(_request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        ended = threading.Event()
        context.add_callback(ended.set)
        ended.wait()
        yield b""

    fake.rows = rows
    fake.streams = 3

    def within(seconds: float) -> Conversation:
        plan = dataclasses.replace(PLAN, budget=CallBudget(seconds, 50, 50_000))
        return converse(fake, CreateSession(), ReadRows(), ReadRows(), plan=plan)

    conversation = patiently(within, lambda made: len(made.calls) == 2)

    assert [call.end for call in conversation.calls] == [CallEnd.COMPLETE, CallEnd.DEADLINE]
    assert conversation.broken


def test_a_case_as_a_whole_has_a_deadline(fake: FakeServer) -> None:
    """A call that begins after it is not made, and no call of the server's."""
    plan = dataclasses.replace(PLAN, until=time.monotonic())

    conversation = converse(fake, CreateSession(), ReadRows(), plan=plan)

    assert (conversation.calls, conversation.skipped, conversation.stopped) == ([], [0, 1], OUT_OF_TIME)
    assert fake.requests == []


@pytest.mark.parametrize("together", [False, True])
def test_a_slow_server_is_not_said_to_hang(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch, *, together: bool
) -> None:
    """The calls that were made are kept, and the steps behind them were not reached."""
    now = [0.0]
    monkeypatch.setattr("conformance.targets.allowance.time", SimpleNamespace(monotonic=lambda: now[0]))

    def rows(_request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
        now[0] = 1e9
        yield proto.ReadRowsResponse(row_count=1).SerializeToString()

    fake.rows = rows
    fake.streams = 200

    conversation = converse(
        fake,
        *(CreateSession(), ReadRows(together=together), CreateSession("b")),
        plan=dataclasses.replace(PLAN, until=1e8),
    )

    assert {call.end for call in conversation.calls} == {CallEnd.COMPLETE}
    assert 2 <= len(conversation.calls) < 200
    assert (conversation.skipped, conversation.stopped) == ([2], OUT_OF_TIME)
    assert not conversation.broken


def test_a_case_as_a_whole_has_a_byte_budget(fake: FakeServer) -> None:
    """No call begins after the bytes of the calls before were as many; none of them sent too much."""
    fake.rows = lambda request, context: iter(
        [proto.ReadRowsResponse(row_count=1).SerializeToString() + b"\x7a\x64" + b"x" * 100]
    )
    plan = dataclasses.replace(PLAN, case_bytes=500)

    conversation = converse(fake, CreateSession(), ReadRows(times=9), plan=plan)

    assert {call.end for call in conversation.calls} == {CallEnd.COMPLETE}
    assert len(conversation.calls) < 9
    assert conversation.stopped == OUT_OF_BYTES


def test_more_streams_than_the_service_permits_are_not_all_read(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session of a million streams costs the permitted number of calls, and the rest is recorded as one."""
    monkeypatch.setattr("conformance.protocols.storage_read.targets.conversation.MAX_STREAMS", 2)
    fake.streams = 5

    calls = converse(fake, CreateSession(), ReadRows()).calls

    assert [call.end for call in calls[1:]] == [CallEnd.COMPLETE, CallEnd.COMPLETE, CallEnd.OVER_BUDGET]
    assert calls[-1].details == "the session names 5 streams; the service permits 2, which were read"


def test_a_read_resumes_after_the_rows_that_came(fake: FakeServer) -> None:
    """``resume`` is the row after the last one that the latest read of the stream delivered, in part or to its end."""
    conversation = converse(
        fake, CreateSession(), ReadRows(offset="resume"), ReadRows(take=1), *[ReadRows(offset="resume")] * 2
    )

    assert read(fake) == [("0", 0), ("0", 2), ("0", 7)]
    assert conversation.skipped == [1]


def test_alongside_means_at_the_same_time_as_the_step_before(fake: FakeServer) -> None:
    """The reads of both steps are under way before any of them ends."""
    everyone = threading.Barrier(3)

    def rows(_request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
        everyone.wait(timeout=LONG)
        yield b""

    fake.rows = rows
    steps = (CreateSession(), CreateSession(label="t"), ReadRows(times=2), ReadRows(session="t", alongside=True))

    calls = converse(fake, *steps).calls

    assert [(call.step, call.label, call.status) for call in calls[2:]] == [
        (2, "s/0", "OK"),
        (2, "s/0", "OK"),
        (3, "t/0", "OK"),
    ]


def test_a_handed_read_comes_over_another_connection(fake: FakeServer) -> None:
    """The server sees another peer, and the same stream."""
    peers: list[str] = []

    def rows(_request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        peers.append(context.peer())
        yield b""

    fake.rows = rows

    converse(fake, CreateSession(), ReadRows(), ReadRows(handed=True), ReadRows(handed=True))

    assert len(set(peers)) == 2
    assert peers[1] == peers[2]


# --- fault plans --------------------------------------------------------------------------------------


def reset(call: int = 0, **changes: int) -> PlannedFault:
    """The connection of a call breaks."""
    return PlannedFault(FaultKind.RESET, call=call, **changes)


def test_a_read_whose_connection_breaks_is_resumed_after_the_rows_that_came(fake: FakeServer) -> None:
    """The driver reads on, as clients do, until a read ends without a fault; each break is a call of its own."""
    fake.rows = lambda request, context: served(request, (2, 3, 4, 5))
    plan = (reset(responses=1), reset(call=1, responses=2))

    conversation = converse(fake, CreateSession(), ReadRows(faults=plan), ReadRows(offset="resume"))

    assert read(fake) == [("0", 0), ("0", 2), ("0", 9), ("0", 14)]
    assert [(call.end, len(call.responses)) for call in conversation.calls[1:4]] == [
        (CallEnd.CANCELLED, 1),
        (CallEnd.CANCELLED, 2),
        (CallEnd.COMPLETE, 1),
    ]
    assert not conversation.broken


def test_a_read_with_a_fault_waits_as_long_as_the_server_asks(fake: FakeServer) -> None:
    """A refusal that names a delay comes before the fault: the call is made again, and then meets its fault."""
    refusals = [retry_status(8, "busy", retry=0.001)] * 2

    def rows(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        if refusals:
            context.set_trailing_metadata(((TRAILER, refusals.pop()),))
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "busy")
        yield from served(request, (2, 3))

    fake.rows = rows
    calls = converse(fake, CreateSession(), ReadRows(faults=(reset(responses=1),))).calls

    assert read(fake) == [("0", 0), ("0", 0), ("0", 0), ("0", 2)]
    assert [call.end for call in calls[1:]] == [CallEnd.CANCELLED, CallEnd.COMPLETE]


def test_a_connection_breaks_in_the_middle_of_a_message(fake: FakeServer) -> None:
    """Bytes are those of messages with their prefixes: of two messages of seven bytes the second is cut.

    gRPC may drop the first one if the connection breaks before it was taken; the read that resumes gets it again.
    """
    fake.rows = lambda request, context: served(request, (2, 3))

    calls = converse(fake, CreateSession(), ReadRows(faults=(reset(bytes=10),))).calls

    assert [len(call.responses) for call in calls[1:]] in ([1, 1], [0, 2])
    assert calls[1].details == "the fault plan broke the call off: reset after 10 bytes"


def test_a_deadline_of_the_client_ends_a_read_and_not_the_conversation(fake: FakeServer) -> None:
    """The driver takes nothing more until the deadline, and reads on after the rows that it took."""
    fake.rows = lambda request, context: served(request, (2, 3))
    late = threading.Event()

    def rows(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        answer = served(request, (2, 3))
        yield next(answer)
        if not proto.ReadRowsRequest.FromString(request).offset:
            late.wait()
            return
        yield from answer

    fake.rows = rows

    def within(seconds: float) -> Conversation:
        fake.requests.clear()
        fault = PlannedFault(FaultKind.DEADLINE, responses=1, seconds=seconds)
        return converse(fake, CreateSession(), ReadRows(faults=(fault,)))

    conversation = patiently(within, lambda made: len(made.calls[1].responses) == 1, seconds=0.01)
    late.set()

    assert read(fake) == [("0", 0), ("0", 2)]
    assert [call.end for call in conversation.calls[1:]] == [CallEnd.CANCELLED, CallEnd.COMPLETE]
