"""Random calls with faults, a server that answers them and a client that makes them, and what each of the two saw."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc

from conformance.contract import proto
from tests.patience import LONG

__all__ = ["Drawn", "Fault", "Seen", "drawn", "make", "serving"]

OPTIONS: Final = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
CODES: Final = [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK]
NUMBER: Final = "x-number"
"""The key of the metadata that says which of the drawn calls this is."""
DETAILS: Final = "grpc-status-details-bin"
RECORDED: Final = (proto.SERVICE + "CreateReadSession", proto.SERVICE + "SplitReadStream", proto.SERVICE + "ReadRows")


class Fault(enum.Enum):
    """What goes wrong in a call."""

    NONE = enum.auto()
    REFUSED = enum.auto()
    """The server sends no response, and a status that is not OK."""
    ABORTED = enum.auto()
    """The server ends the call after some of its responses."""
    CANCELLED = enum.auto()
    """The client cancels after all responses that the server is ready to send."""
    LATE = enum.auto()
    """The client's deadline passes."""


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A call as it is meant: what the client sends, and what the server sends."""

    number: int
    method: str
    streams: bool
    """True if the client sends, and the server answers, any number of messages."""
    requests: tuple[bytes, ...]
    responses: tuple[bytes, ...]
    sent: tuple[tuple[str, str | bytes], ...]
    initial: tuple[tuple[str, str | bytes], ...]
    trailers: tuple[tuple[str, str | bytes], ...]
    code: grpc.StatusCode
    details: str
    fault: Fault


@dataclasses.dataclass
class Seen:
    """What one side received: messages, metadata by key, and on the client's side the status."""

    messages: list[bytes] = dataclasses.field(default_factory=list)
    metadata: dict[str, list[str | bytes]] = dataclasses.field(default_factory=dict)
    trailers: dict[str, list[str | bytes]] = dataclasses.field(default_factory=dict)
    code: grpc.StatusCode | None = None
    details: str = ""
    reached: threading.Event = dataclasses.field(default_factory=threading.Event)
    """Set when the server has read all requests."""
    cancelled: threading.Event = dataclasses.field(default_factory=threading.Event)
    """Set when the call has ended on the server's side, for whatever reason."""


def drawn(count: int, seed: int, *, big: int = 1 << 20) -> list[Drawn]:
    """``count`` calls; ``big`` is the size of the largest messages in bytes."""
    chance = random.Random(seed)  # a seeded choice is the point
    return [_draw(number, chance, big) for number in range(count)]


def _draw(number: int, chance: random.Random, big: int) -> Drawn:
    method = chance.choice([*RECORDED, "/any.Service/Unary", "/any.Service/Upload", "/any.Service/Talk"])
    streams = method.endswith(("ReadRows", "Upload", "Talk"))
    fault = chance.choices(list(Fault), (8, 2, 2, 2, 1))[0]
    if fault in (Fault.CANCELLED, Fault.ABORTED) and not streams:
        fault = Fault.REFUSED
    requests = 1 if not method.endswith(("Upload", "Talk")) else chance.randrange(5)
    responses = 1 if not streams else 0 if fault is Fault.REFUSED else chance.choice([0, 1, 2, 3, 20])
    if not streams and fault is not Fault.NONE:
        responses = 0
    code = grpc.StatusCode.OK if fault is Fault.NONE else chance.choice(CODES)
    details = (
        "" if code is grpc.StatusCode.OK else chance.choice(["", "not so: 100 % \u00e4\u4e2d\U0001f600", "a" * 3000])
    )
    trailers = _metadata(chance)
    if code is not grpc.StatusCode.OK and chance.random() < 0.5:
        trailers = (*trailers, (DETAILS, chance.randbytes(20)))
    return Drawn(
        number=number,
        method=method,
        streams=streams,
        requests=tuple(_request(number, chance, big) for _ in range(requests)),
        responses=tuple(_message(chance, big) for _ in range(responses)),
        sent=_metadata(chance),
        initial=_metadata(chance),
        trailers=trailers,
        code=code,
        details=details,
        fault=fault,
    )


def _message(chance: random.Random, big: int) -> bytes:
    return chance.randbytes(chance.choice([0, 1, 100, 5_000, chance.choice([5_000, 70_000, big])]))


def _request(number: int, chance: random.Random, big: int) -> bytes:
    """A message that begins with the number of its call, so that the call is found in the log."""
    return b"%08d" % number + _message(chance, big)


def _metadata(chance: random.Random) -> tuple[tuple[str, str | bytes], ...]:
    """Some entries, with keys that occur twice, bytes of any value, and empty ones."""
    found: list[tuple[str, str | bytes]] = []
    for _ in range(chance.randrange(4)):
        key = chance.choice(["x-a", "x-b.c_d", "x-goog-request-params", "x-e-bin", "x-f-bin"])
        text = "".join(chance.choices("abc =/%,;&\u007e!", k=chance.randrange(30))).strip()
        found.append((key, chance.randbytes(chance.randrange(40)) if key.endswith("-bin") else text))
    return tuple(found)


def by_key(metadata: Any) -> dict[str, list[str | bytes]]:
    """Metadata by key: HTTP/2 keeps the order of equal keys alone. Without what the libraries add."""
    found: dict[str, list[str | bytes]] = {}
    for key, value in metadata or ():
        if key not in ("user-agent", NUMBER):
            found.setdefault(key, []).append(value)
    return found


@contextlib.contextmanager
def serving(calls: Sequence[Drawn], *, workers: int = 32) -> Iterator[tuple[str, list[Seen]]]:
    """A server that answers ``calls``: its address, and what it saw of each."""
    seen = [Seen() for _ in calls]

    def answer(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        metadata = context.invocation_metadata()
        number = int(next(value for key, value in metadata if key == NUMBER))
        call, mine = calls[number], seen[number]
        context.add_callback(mine.cancelled.set)
        mine.metadata = by_key(metadata)
        mine.messages += requests
        mine.reached.set()
        if call.initial:
            context.send_initial_metadata(call.initial)
        yield from call.responses
        if call.fault in (Fault.CANCELLED, Fault.LATE):
            mine.cancelled.wait(LONG)
            return
        context.set_trailing_metadata(call.trailers)
        context.set_code(call.code)
        context.set_details(call.details)

    class Handler(grpc.GenericRpcHandler):
        def service(self, _details: grpc.HandlerCallDetails) -> Any:
            return grpc.stream_stream_rpc_method_handler(answer)

    server = grpc.server(ThreadPoolExecutor(workers), options=[*OPTIONS, ("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((Handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield address, seen
    finally:
        server.stop(None).wait()


def make(channel: grpc.Channel, call: Drawn, server: Seen, *, late: float = 0.5) -> Seen:
    """Make one call as its kind is usually made, and return what came; ``late`` seconds is a deadline that passes.

    A call that is cancelled is so after it has reached the server.
    """
    sent = [*call.sent, (NUMBER, str(call.number))]
    timeout = late if call.fault is Fault.LATE else None
    one, many = call.requests[:1], iter(call.requests)
    if not call.streams:
        return _unary(channel.unary_unary(call.method), one[0], sent, timeout)
    if call.method.endswith("ReadRows"):
        return _stream(channel.unary_stream(call.method)(one[0], metadata=sent, timeout=timeout), call, server)
    return _stream(channel.stream_stream(call.method)(many, metadata=sent, timeout=timeout), call, server)


def _unary(stub: Any, request: bytes, sent: Any, timeout: float | None) -> Seen:
    try:
        answer, made = stub.with_call(request, metadata=sent, timeout=timeout)
    except grpc.RpcError as error:
        return _ended(error, [])
    return _ended(made, [answer])


def _stream(made: Any, call: Drawn, server: Seen) -> Seen:
    messages: list[bytes] = []
    try:
        while call.fault is not Fault.CANCELLED or len(messages) < len(call.responses):
            data = next(made, None)
            if data is None:
                break
            messages.append(data)
    except grpc.RpcError:
        pass
    if call.fault is Fault.CANCELLED:
        server.reached.wait(LONG)
        if call.initial:
            made.initial_metadata()
        made.cancel()
    return _ended(made, messages)


def _ended(made: Any, messages: list[bytes]) -> Seen:
    return Seen(
        messages, by_key(made.initial_metadata()), by_key(made.trailing_metadata()), made.code(), made.details() or ""
    )
