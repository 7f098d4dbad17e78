"""Calls to a server in this process end as they do over a connection."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, cast

import grpc
import pytest

from conformance.records import Call, CallEnd, GivingUp
from conformance.targets.inprocess import InProcessChannel, InProcessHttp
from conformance.targets.recordedcall import CallBudget, Caller, Leaving, open_channel
from conformance.targets.ticks import StillTime, Time
from conformance.targets.transport import HttpError

LIMIT = 1 << 16
BUDGET = CallBudget(5.0, 10, 1 << 20)
"""No call of these waits for its deadline."""


def echo(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    """Send each message back, with metadata on both ends."""
    context.send_initial_metadata((("first", "a"), ("first-bin", b"\xff")))
    context.set_trailing_metadata((("last", "b"),))
    yield from requests


def refuses(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    """Refuse after one response."""
    yield next(requests)
    context.abort(grpc.StatusCode.NOT_FOUND, "there is none")


def raises(_requests: Iterator[bytes], _context: Any) -> Iterator[bytes]:
    """Break."""
    yield b"one"
    raise ValueError("a defect")


def too_large(_requests: Iterator[bytes], _context: Any) -> Iterator[bytes]:
    """Send more than a client takes."""
    yield bytes(LIMIT + 1)


def told(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    """Say what came with the call."""
    yield str(sorted((name, value) for name, value in context.invocation_metadata() if name in ("k", "k-bin"))).encode()
    yield from requests


def waits(requests: Iterator[bytes], _context: Any) -> Iterator[bytes]:
    """Answer after the second message."""
    yield b"".join(itertools.islice(requests, 2))


HANDLERS: dict[str, Callable[[Iterator[bytes], Any], Iterator[bytes]]] = {
    one.__name__: one for one in (echo, refuses, raises, too_large, told, waits)
}


def callers(name: str, stack: ExitStack) -> tuple[Caller, Caller]:
    """A caller of a handler in this process, and one over a connection."""
    methods = {"Method": grpc.stream_stream_rpc_method_handler(HANDLERS[name])}
    handlers = grpc.method_handlers_generic_handler("a.B", methods)
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((handlers,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    stack.callback(server.stop, 0)
    clock = StillTime()
    inside = InProcessChannel(handlers, peer="client", message_limit=LIMIT, clock=clock)
    outside = open_channel(f"127.0.0.1:{port}", message_limit=LIMIT)
    stack.callback(outside.close)
    headers = {"k": "text", "k-bin": b"\x00\x01"}
    how: dict[str, Any] = {
        "began": 0.0,
        "message_limit": LIMIT,
        "last_words": lambda _seconds: None,
        "credentials": lambda: headers,
        "service": "/a.B/",
        "clock": clock,
    }
    return Caller(cast("grpc.Channel", inside), **how), Caller(outside, **how)


@pytest.mark.parametrize("name", ["echo", "refuses", "raises", "told"])
def test_a_call_ends_as_over_a_connection(name: str) -> None:
    """Responses, status, text, both kinds of metadata."""
    with ExitStack() as stack:
        inside, outside = callers(name, stack)
        call = Call(0, "", "Method", b"asked")

        assert inside.stream(call, budget=BUDGET) == outside.stream(call, budget=BUDGET)


def test_a_message_beyond_the_limit_is_refused() -> None:
    """The client library of gRPC says so in either of two ways."""
    with ExitStack() as stack:
        one, other = (
            caller.stream(Call(0, "", "Method", b""), budget=BUDGET) for caller in callers("too_large", stack)
        )

        assert one.end is other.end is CallEnd.OVER_BUDGET
        assert one.details.partition(": ")[2] in other.details


def test_a_method_that_is_not_there_is_unimplemented() -> None:
    """In gRPC's own words."""
    with ExitStack() as stack:
        inside, outside = callers("echo", stack)
        call = Call(0, "", "Another", b"")

        assert inside.stream(call, budget=BUDGET) == outside.stream(call, budget=BUDGET)


@pytest.mark.parametrize("take", [0, 1])
def test_a_call_is_cancelled_after_so_many_responses(take: int) -> None:
    """The rest is not taken."""
    with ExitStack() as stack:
        inside, _ = callers("told", stack)
        made = inside.stream(Call(0, "", "Method", b""), budget=BUDGET, take=take)

        assert (len(made.responses), made.end) == (take, CallEnd.CANCELLED)


def test_a_client_that_waits_for_each_response_takes_turns() -> None:
    """As over a connection."""
    with ExitStack() as stack:
        one, other = (
            caller.converse(Call(0, "", "Method", b""), [b"1", b"2", b"3"], budget=BUDGET, awaits={0, 1, 2})
            for caller in callers("echo", stack)
        )

        assert one == other
        assert one.order == "><><><|"


def test_where_both_sides_wait_the_deadline_passes() -> None:
    """The client's, and nobody waits for it."""
    with ExitStack() as stack:
        inside, _ = callers("waits", stack)
        made = inside.converse(Call(0, "", "Method", b""), [b"1", b"2"], budget=BUDGET, awaits={0})

        assert (made.end, made.responses, made.seconds) == (CallEnd.DEADLINE, (), BUDGET.seconds)


@pytest.mark.parametrize("how", [GivingUp.CANCEL, GivingUp.DEADLINE])
def test_a_server_sees_that_its_client_has_gone(how: GivingUp) -> None:
    """Its next request is an error of gRPC."""
    seen: list[str] = []

    def keeps(requests: Iterator[bytes], _context: Any) -> Iterator[bytes]:
        try:
            yield from requests
        except grpc.RpcError:
            seen.append("gone")

    HANDLERS["keeps"] = keeps
    with ExitStack() as stack:
        inside, _ = callers("keeps", stack)
        made = inside.converse(Call(0, "", "Method", b""), [b"1", b"2"], budget=BUDGET, leaving=Leaving(1, how))

        assert (made.end, made.requests, seen) == (CallEnd.CANCELLED, (b"1",), ["gone"])


def test_an_answer_over_http_is_limited() -> None:
    """As one that came over a connection is."""
    http = InProcessHttp(lambda method, target, _headers, body: (200, {"said": f"{method} {target} {body!r}"}))

    answer = http.exchange("POST", "/a b", body=b"x", until=0.0, limit=100)

    assert (answer.status, answer.body) == (200, b'{"said": "POST /a%20b b\'x\'"}')
    with pytest.raises(HttpError, match="the answer announces"):
        http.exchange("GET", "/", until=0.0, limit=1)


class _Counting(Time):
    """Counts the turns that other calls get."""

    turns = 0

    def take_turns(self) -> None:
        """Count one."""
        self.turns += 1


def test_other_calls_get_their_turn_before_each_response() -> None:
    """And before the end of the call: else a call that is made at the same time would find this one over."""
    clock = _Counting()
    handlers = grpc.method_handlers_generic_handler("a.B", {"Method": grpc.stream_stream_rpc_method_handler(echo)})
    channel = InProcessChannel(handlers, peer="client", message_limit=LIMIT, clock=clock)

    assert list(channel.stream_stream("/a.B/Method")([b"1", b"2", b"3"], timeout=5.0)) == [b"1", b"2", b"3"]
    assert clock.turns == 4
