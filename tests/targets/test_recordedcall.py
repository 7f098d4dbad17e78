"""Every way in which a call can end is distinguished, and all bytes are kept."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import cast

import grpc
import pytest

from conformance.contract import proto
from conformance.records import Call, CallEnd, MetadataEntry
from conformance.targets.cutting import leads_to
from conformance.targets.recordedcall import CallBudget, Caller, close_channel, open_channel
from conformance.targets.ticks import WALL
from conformance.targets.tls import http2_refusal
from tests.patience import LONG, patiently
from tests.targets.fake_server import FakeServer, serving
from tests.targets.watching import Hands

BUDGET = CallBudget(seconds=LONG, responses=50, bytes=50_000)
MESSAGE_LIMIT = 100_000

READ = Call(1, "s/0", "ReadRows", proto.ReadRowsRequest(read_stream="x").SerializeToString())
CREATE = Call(0, "s", "CreateReadSession", b"")


@pytest.fixture
def caller(fake: FakeServer) -> Iterator[Caller]:
    """A caller connected to the fake server."""
    with serving(fake) as (port, _), open_channel(f"127.0.0.1:{port}", message_limit=MESSAGE_LIMIT) as channel:
        yield _caller(channel)


def _caller(channel: grpc.Channel, last_words: Callable[[float], str | None] = lambda seconds: None) -> Caller:
    return Caller(channel, began=time.monotonic(), message_limit=MESSAGE_LIMIT, last_words=last_words)


def test_bytes_are_kept_as_they_are(fake: FakeServer, caller: Caller) -> None:
    """Requests arrive and responses come back byte for byte, unknown fields and junk included."""
    junk = [b"\xff\x00junk", b"", b"\x08\x01"]
    fake.rows = lambda request, context: iter(junk)

    call = caller.stream(READ, routing="read_stream=x", budget=BUDGET)

    assert call.responses == tuple(junk)
    assert (call.status, call.end) == ("OK", CallEnd.COMPLETE)
    assert fake.requests[0][:2] == ("ReadRows", READ.request)


def test_the_routing_header_is_sent(fake: FakeServer, caller: Caller) -> None:
    """A call carries the routing header of the generated clients."""
    caller.unary(CREATE, routing="read_session.table=projects/p", budget=BUDGET)

    assert fake.requests[0][2]["x-goog-request-params"] == "read_session.table=projects/p"


def test_a_refusal_is_complete_with_its_status_details_and_trailers(fake: FakeServer, caller: Caller) -> None:
    """The target's details of a refusal are kept, binary trailers too."""

    def refuse(_request: bytes, context: grpc.ServicerContext) -> bytes:
        context.set_trailing_metadata((("reason", "no"), ("extra-bin", b"\x00\xff")))
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "request failed: data format unspecified")

    fake.session = refuse

    call = caller.unary(CREATE, routing="", budget=BUDGET)

    assert (call.status, call.end) == ("INVALID_ARGUMENT", CallEnd.COMPLETE)
    assert call.details == "request failed: data format unspecified"
    assert {MetadataEntry("reason", b"no"), MetadataEntry("extra-bin", b"\x00\xff")} <= set(call.trailers)


def _greeted(_request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
    context.send_initial_metadata((("server", "fake"), ("trace-bin", b"\x00\xff")))
    yield from (b"one", b"two")
    context.abort(grpc.StatusCode.INTERNAL, "out of range")


GREETING = {MetadataEntry("server", b"fake"), MetadataEntry("trace-bin", b"\x00\xff")}


@pytest.mark.parametrize(
    ("take", "budget", "end"),
    [
        (None, BUDGET, CallEnd.COMPLETE),
        (1, BUDGET, CallEnd.CANCELLED),
        (None, dataclasses.replace(BUDGET, responses=1), CallEnd.OVER_BUDGET),
    ],
)
def test_initial_metadata_is_kept_however_a_read_ends(
    fake: FakeServer, caller: Caller, take: int | None, budget: CallBudget, end: CallEnd
) -> None:
    """The initial metadata is kept, binary entries too."""
    fake.rows = _greeted

    call = caller.stream(READ, routing="", budget=budget, take=take)

    assert call.end is end
    assert set(call.initial_metadata) >= GREETING


@pytest.mark.parametrize("refuses", [False, True])
def test_initial_metadata_of_a_unary_call_is_kept(fake: FakeServer, caller: Caller, *, refuses: bool) -> None:
    """With an answer and with a refusal."""

    def greet(_request: bytes, context: grpc.ServicerContext) -> bytes:
        context.send_initial_metadata((("server", "fake"),))
        if refuses:
            context.abort(grpc.StatusCode.NOT_FOUND, "no such table")
        return b""

    fake.session = greet

    call = caller.unary(CREATE, routing="", budget=BUDGET)

    assert MetadataEntry("server", b"fake") in call.initial_metadata


def test_a_read_of_nothing_waits_for_no_metadata(caller: Caller) -> None:
    """It is cancelled before any message."""
    call = caller.stream(READ, routing="", budget=BUDGET, take=0)

    assert (call.end, call.responses) == (CallEnd.CANCELLED, ())


def test_a_refusal_in_the_middle_keeps_what_came_before(fake: FakeServer, caller: Caller) -> None:
    """Responses before a late status are recorded."""

    def rows(_request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        yield b"one"
        context.abort(grpc.StatusCode.INTERNAL, "out of range")

    fake.rows = rows

    call = caller.stream(READ, routing="", budget=BUDGET)

    assert (call.status, call.responses) == ("INTERNAL", (b"one",))


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED])
def test_a_status_that_the_target_sends_is_its_answer(fake: FakeServer, caller: Caller, code: grpc.StatusCode) -> None:
    """UNAVAILABLE or DEADLINE_EXCEEDED from the target is neither a crash nor a hang."""

    def refuse(_request: bytes, context: grpc.ServicerContext) -> bytes:
        context.abort(code, "try later")

    fake.session = refuse

    call = caller.unary(CREATE, routing="", budget=BUDGET)

    assert (call.status, call.end) == (code.name, CallEnd.COMPLETE)


def test_an_unknown_method_is_unimplemented(caller: Caller) -> None:
    """A server without the service answers UNIMPLEMENTED, and that is recorded."""
    call = caller.unary(Call(0, "", "NoSuchMethod", b""), routing="", budget=BUDGET)

    assert call.end is CallEnd.COMPLETE
    assert call.status != "OK"


@pytest.mark.parametrize(("method", "longest"), [("CreateReadSession", 0.0), ("ReadRows", 0.0), ("ReadRows", LONG)])
def test_a_hang_costs_its_deadline(fake: FakeServer, caller: Caller, method: str, longest: float) -> None:
    """A call without an end is recorded as one, with what came before, after its deadline; one that is silent does not
    get the time that it would have if it went on sending.
    """
    ended = threading.Event()

    def session(_request: bytes, context: grpc.ServicerContext) -> bytes:
        context.add_callback(ended.set)
        ended.wait()
        return b""

    def rows(_request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        yield b"one"
        context.add_callback(ended.set)
        ended.wait()

    fake.session, fake.rows = session, rows
    expected = (b"one",) if method == "ReadRows" else ()

    def within(seconds: float) -> Call:
        budget = CallBudget(seconds, 50, 50_000, longest)
        if method == "ReadRows":
            return caller.stream(READ, routing="", budget=budget)
        return caller.unary(CREATE, routing="", budget=budget)

    call = patiently(within, lambda made: made.responses == expected)

    assert (call.end, call.status, call.responses) == (CallEnd.DEADLINE, "", expected)


class Steady(grpc.RpcError):
    """A call whose responses come 15 seconds apart, ``count`` of them, until the watch or its deadline ends it."""

    def __init__(self, hands: Hands, count: int, timeout: float) -> None:
        super().__init__()
        self._hands, self._left, self._until = hands, count, hands.now + timeout
        self._status = grpc.StatusCode.OK

    def __next__(self) -> bytes:
        """The next response, 15 seconds later."""
        self._left -= 1
        if self._left >= 0:
            self._hands.pass_time(15.0)
        if self._hands.now >= self._until:
            self._status = grpc.StatusCode.DEADLINE_EXCEEDED
            raise self
        if self._left < 0:
            raise StopIteration
        return b"row"

    def __iter__(self) -> Steady:
        return self

    def cancel(self) -> None:
        """Do nothing: a test that needs it to end would wait for ever."""

    def code(self) -> grpc.StatusCode:
        """The status."""
        return self._status

    def details(self) -> str:
        """No text comes with it."""
        return ""

    def initial_metadata(self) -> tuple[()]:
        """No metadata comes."""
        return ()

    trailing_metadata = initial_metadata


class SteadyChannel:
    """A channel of such calls."""

    def __init__(self, hands: Hands, count: int) -> None:
        self._hands, self._count = hands, count

    def unary_stream(self, *_method: object) -> Callable[..., Steady]:
        """Make a call that ends by itself, after so many responses."""
        return lambda _request, *, timeout, metadata: Steady(self._hands, self._count, timeout)  # as gRPC

    stream_stream = unary_stream


@pytest.mark.parametrize("method", ["ReadRows", "DoExchange"])
@pytest.mark.parametrize(
    ("count", "expected"),
    [(5, (CallEnd.COMPLETE, 5, "")), (1000, (CallEnd.DEADLINE, 7, "no end within 120 s, 7 responses came"))],
)
def test_a_slow_call_that_goes_on_sending_has_the_time_of_its_case(
    monkeypatch: pytest.MonkeyPatch, method: str, count: int, expected: tuple[CallEnd, int, str]
) -> None:
    """It takes longer than the time of one response, and does not hang; one without an end is ended with the case."""
    hands = Hands(monkeypatch)
    channel = cast("grpc.Channel", leads_to(cast("grpc.Channel", SteadyChannel(hands, count)), "host:1"))
    monkeypatch.setattr(WALL, "monotonic", lambda: hands.now)
    caller = Caller(channel, began=0.0, message_limit=MESSAGE_LIMIT, last_words=lambda _seconds: None)
    budget = CallBudget(20.0, 2000, 50_000, longest=120.0)

    asked = Call(0, "", method, b"")
    call = caller.stream(asked, budget=budget) if method == "ReadRows" else caller.converse(asked, [], budget=budget)

    assert (call.end, len(call.responses), call.details) == expected
    assert hands.cut == []


def test_an_endless_stream_is_cut_at_its_budget(fake: FakeServer, caller: Caller) -> None:
    """A stream of empty responses without an end stops at the permitted count."""

    def rows(_request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
        while True:
            yield b""

    fake.rows = rows

    call = caller.stream(READ, routing="", budget=BUDGET)

    assert (call.end, call.status, len(call.responses)) == (CallEnd.OVER_BUDGET, "", 50)
    assert call.details == "the target sent too much: 51 responses of 0 bytes so far, permitted 50 and 50000"


def test_large_responses_are_cut_at_their_budget(fake: FakeServer, caller: Caller) -> None:
    """Responses that add up to more than a correct answer can hold stop the reading."""
    fake.rows = lambda request, context: iter([b"x" * 30_000] * 10)

    call = caller.stream(READ, routing="", budget=BUDGET)

    assert (call.end, len(call.responses)) == (CallEnd.OVER_BUDGET, 1)


def test_a_message_beyond_the_limit_is_never_received(fake: FakeServer, caller: Caller) -> None:
    """One enormous message is over budget too, though the library calls it RESOURCE_EXHAUSTED."""
    fake.rows = lambda request, context: iter([b"x" * (MESSAGE_LIMIT + 1)])

    call = caller.stream(READ, routing="", budget=BUDGET)

    assert (call.end, call.status, call.responses) == (CallEnd.OVER_BUDGET, "", ())


def test_a_large_answer_of_a_unary_call_is_over_budget(fake: FakeServer, caller: Caller) -> None:
    """The byte budget holds for unary calls as well."""
    fake.session = lambda request, context: b"x" * 60_000

    call = caller.unary(CREATE, routing="", budget=BUDGET)

    assert (call.end, call.responses) == (CallEnd.OVER_BUDGET, ())


def test_a_read_is_abandoned_after_the_responses_asked_for(fake: FakeServer, caller: Caller) -> None:
    """``take`` cancels on purpose: that is neither a status of the target nor a hang."""
    fake.counts = (1, 1, 1)

    call = caller.stream(READ, routing="", budget=BUDGET, take=2)

    assert (call.end, call.status, len(call.responses)) == (CallEnd.CANCELLED, "", 2)


def test_a_read_that_ends_before_it_is_abandoned_is_complete(fake: FakeServer, caller: Caller) -> None:
    """``take`` beyond the end of the stream changes nothing."""
    fake.counts = (1,)

    call = caller.stream(READ, routing="", budget=BUDGET, take=2)

    assert (call.end, call.status, len(call.responses)) == (CallEnd.COMPLETE, "OK", 1)


def test_a_dead_endpoint_is_a_crash() -> None:
    """Where nothing listens, the connection is what broke."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with open_channel(f"127.0.0.1:{port}", message_limit=MESSAGE_LIMIT) as channel:
        call = _caller(channel).unary(CREATE, routing="", budget=BUDGET)

    assert (call.end, call.status) == (CallEnd.CRASH, "")
    assert call.details.startswith("the connection broke: ")


@contextlib.contextmanager
def _speaking(words: bytes) -> Iterator[int]:
    """A TCP server that sends ``words`` on each connection, and closes it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(1000)
                        connection.sendall(words)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_a_peer_that_does_not_speak_http2_is_a_crash() -> None:
    """Another kind of server behind the port breaks the connection, and the words say so."""
    with (
        _speaking(b"HTTP/1.1 200 OK\r\n\r\nhello") as port,
        open_channel(f"127.0.0.1:{port}", message_limit=MESSAGE_LIMIT) as channel,
    ):
        call = _caller(channel).unary(CREATE, routing="", budget=BUDGET)

    assert call.end is CallEnd.CRASH
    assert "HTTP/2" in call.details


@pytest.mark.parametrize("after", [b"\xee" * 4096, b"HTTP/1.1 502 Bad Gateway\r\n\r\n<html></html>"])
def test_garbage_where_an_answer_should_come_is_a_crash(after: bytes) -> None:
    """The library makes up a status of its own where a peer that spoke HTTP/2 no longer does."""
    settings = bytes(3) + b"\x04\x00" + bytes(4)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(settings)
                heard = b""
                while b"CreateReadSession" not in heard and len(heard) < 4096:
                    heard += connection.recv(4096)
                connection.sendall(after)
                connection.recv(1)

        threading.Thread(target=answer, daemon=True).start()
        with open_channel(f"127.0.0.1:{port}", message_limit=MESSAGE_LIMIT) as channel:
            call = _caller(channel).unary(CREATE, routing="", budget=BUDGET)

    assert (call.status, call.end) == ("", CallEnd.CRASH)
    assert call.details.startswith("the connection broke: ")


def test_the_process_explains_its_own_death(fake: FakeServer) -> None:
    """If the suite started the process, its last output is in the record in place of the library's text."""

    def refuse(_request: bytes, context: grpc.ServicerContext) -> bytes:
        context.abort(grpc.StatusCode.UNAVAILABLE, "going down")

    fake.session = refuse
    with serving(fake) as (port, _), open_channel(f"127.0.0.1:{port}", message_limit=MESSAGE_LIMIT) as channel:
        call = _caller(channel, lambda seconds: "the process exited with status 41").unary(
            CREATE, routing="", budget=BUDGET
        )

    assert (call.end, call.details) == (CallEnd.CRASH, "the process exited with status 41")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (bytes([0, 0, 6, 4, 0, 0, 0, 0, 0]) + bytes(6), True),
        (bytes([0, 0, 0, 7, 0, 0, 0, 0, 0]), False),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", False),
        (b"\0\0", False),
        (b"", False),
    ],
)
def test_a_server_is_ready_when_it_sends_its_settings(answer: bytes, expected: bool) -> None:  # noqa: FBT001  # a table
    """Anything else that listens does not speak gRPC."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(24)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        found = http2_refusal(f"127.0.0.1:{port}", 5)
        thread.join()

    assert (found == ("", False)) is expected
    assert http2_refusal(f"127.0.0.1:{port}", 5) == ("nothing listens there (Connection refused)", True)


def test_a_channel_that_never_closes_is_left() -> None:
    """An interrupt can leave one; the run still ends."""
    begun, never = threading.Event(), threading.Event()

    class Stuck:
        def close(self) -> None:
            """Wait for ever."""
            begun.set()
            never.wait()

    close_channel(cast(grpc.Channel, Stuck()))

    assert begun.is_set()
    never.set()
