"""Connections to a server in this process, without sockets and threads: calls of gRPC and requests over HTTP.

A call goes to the handlers that a listener of gRPC would give it to, and ends as it would over a connection: in the
status of the handler, beyond a limit, given up by the client, or at its deadline. Client and server take turns in one
thread: the server runs where the client waits for a response, and a client that streams sends what it can before it
takes a response. Where both wait for the other, the call's deadline passes. Calls in several threads take turns too,
after each response, unless the clock stands still.

What only a connection shows is not here: bytes of HTTP/2, broken connections, a server that dies.
"""

from __future__ import annotations

import itertools
import json
import threading
import urllib.parse
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Final, NamedTuple, NoReturn, Self, TypeAlias, cast

import grpc
from google.protobuf.message import DecodeError

from conformance.contain.jsonhttp import Answering
from conformance.contain.secrets import masked_bytes
from conformance.targets.ticks import Time
from conformance.targets.transport import UNQUOTED, HttpError, HttpResponse, beyond

__all__ = ["InProcessChannel", "InProcessHttp"]

Metadata: TypeAlias = tuple[tuple[str, str | bytes], ...]


class _Waits(Exception):  # noqa: N818  # it is no error, and nobody but this module sees it
    """A client waits for what only the server can bring, which runs in the same thread."""


class _Turns(threading.Condition):
    """The condition of a client that streams: it does not wait, but gives the server its turn."""

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        """True if nothing has to be waited for; else the server is to go on."""
        del timeout
        if predicate():
            return True
        raise _Waits


_Status: TypeAlias = tuple[grpc.StatusCode, str]
_OK: Final[_Status] = (grpc.StatusCode.OK, "")
_CANCELLED: Final[_Status] = (grpc.StatusCode.CANCELLED, "Locally cancelled by application!")
_LATE: Final[_Status] = (grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded")


class _Aborted(Exception):  # noqa: N818  # gRPC's servers end a handler by an exception
    """A handler ended its call in a status."""


class _Details(NamedTuple):
    """What a handler is found by."""

    method: str
    invocation_metadata: Metadata


def _as_received(metadata: Iterable[tuple[str, str | bytes]] | None) -> Metadata:
    """Metadata as gRPC gives it to the other side: values are bytes where the name ends so, and else text."""
    return tuple((name, _value(value, binary=name.endswith("-bin"))) for name, value in metadata or ())


def _value(value: str | bytes, *, binary: bool) -> str | bytes:
    if binary:
        return value.encode() if isinstance(value, str) else value
    return value if isinstance(value, str) else value.decode("latin-1")


class InProcessChannel:
    """A channel to the handlers of a server in this process; messages are bytes.

    ``peer`` is the address of the client, as the server sees it. A response of more than ``message_limit`` bytes is
    refused. The time that a call takes is that of ``clock``.
    """

    condition = _Turns

    def __init__(
        self, handlers: grpc.GenericRpcHandler[Any, Any], *, peer: str, message_limit: int, clock: Time
    ) -> None:
        self._handlers = handlers
        self._peer = peer
        self._limit = message_limit
        self._clock = clock

    def unary_unary(self, method: str, *_codec: Any, **_options: Any) -> _UnaryUnary:
        """A stub for a method with one request and one response."""
        return _UnaryUnary(self.stream_stream(method))

    def unary_stream(self, method: str, *_codec: Any, **_options: Any) -> Callable[..., _InProcessCall]:
        """A stub for a method with one request."""
        stub = self.stream_stream(method)
        return lambda request, **how: stub([request], **how)

    def stream_stream(self, method: str, *_codec: Any, **_options: Any) -> Callable[..., _InProcessCall]:
        """A stub for a method with any number of requests and responses."""

        def call(requests: Iterable[bytes], *, timeout: float, metadata: Metadata = ()) -> _InProcessCall:
            received = _as_received(metadata)
            context = _Context(received, self._peer, self._clock, self._clock.monotonic() + timeout)
            handler = self._handlers.service(cast("grpc.HandlerCallDetails", _Details(method, received)))
            return _InProcessCall(handler, iter(requests), context, self._limit, self._clock)

        return call

    def close(self) -> None:
        """Do nothing: no call is left."""


class _UnaryUnary:
    """A stub for a method with one request and one response."""

    def __init__(self, stub: Callable[..., _InProcessCall]) -> None:
        self._stub = stub

    def __call__(self, request: bytes, **how: Any) -> bytes:
        """The response; raises :class:`grpc.RpcError` with the status of a call that fails."""
        return self.with_call(request, **how)[0]

    def with_call(self, request: bytes, **how: Any) -> tuple[bytes, _InProcessCall]:
        """The response and its call; raises as a plain call does."""
        running = self._stub([request], **how)
        answer = next(running)
        next(running, None)
        return answer, running


class _Context:
    """What a handler is told about its call, and what it says beside its responses."""

    def __init__(self, metadata: Metadata, peer: str, clock: Time, until: float) -> None:
        self.initial: Metadata = ()
        self.trailing: Metadata = ()
        self.refused: _Status | None = None
        self.gone = False
        self._metadata = metadata
        self._peer = peer
        self._clock = clock
        self._until = until

    def invocation_metadata(self) -> Metadata:
        """The metadata that the client sent."""
        return self._metadata

    def peer(self) -> str:
        """The address of the client."""
        return self._peer

    def is_active(self) -> bool:
        """True unless the client has given up the call."""
        return not self.gone

    def time_remaining(self) -> float:
        """The seconds until the deadline."""
        return self._until - self._clock.monotonic()

    def expire(self) -> None:
        """Let the deadline pass; the client is gone then."""
        self._clock.wait(max(0.0, self.time_remaining()))
        self.gone = True

    def send_initial_metadata(self, metadata: Iterable[tuple[str, str | bytes]]) -> None:
        """Send metadata before the first response."""
        self.initial = _as_received(metadata)

    def set_trailing_metadata(self, metadata: Iterable[tuple[str, str | bytes]]) -> None:
        """Send metadata with the status."""
        self.trailing = _as_received(metadata)

    def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        """End the call in a status."""
        self.refused = (code, details)
        raise _Aborted


class _Requests:
    """What a client sends: an iterator for the server, which raises :class:`grpc.RpcError` once the client is gone."""

    def __init__(self, messages: Iterator[bytes], context: _Context, decode: Callable[[bytes], Any] | None) -> None:
        self._messages = messages
        self._context = context
        self._decode = decode
        self._sent: deque[bytes] = deque()
        self._closed = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        """The next request. Where the client waits for a response, nobody ever goes on, and the deadline passes."""
        if not self._sent and not self._send():
            if self._closed:
                raise StopIteration
            if not self._context.gone:
                self._context.expire()
            raise grpc.RpcError
        message = self._sent.popleft()
        return message if self._decode is None else self._decode(message)

    @property
    def left(self) -> int:
        """The turns of a server until it has seen everything that the client did."""
        return len(self._sent) + (not self._closed)

    def send_all(self) -> None:
        """Let the client send what it can without waiting for a response."""
        while self._send():
            pass

    def _send(self) -> bool:
        """Take a message from the client; False if it has none now."""
        if self._closed or self._context.gone:
            return False
        try:
            self._sent.append(next(self._messages))
        except StopIteration:
            self._closed = True
            return False
        except _Waits:
            return False
        return True


class _InProcessCall(grpc.RpcError):
    """A call: an iterator of its responses, and its status once it has ended. It is raised if that is not OK."""

    def __init__(self, handler: Any, messages: Iterator[bytes], context: _Context, limit: int, clock: Time) -> None:
        super().__init__()
        self._context = context
        self._limit = limit
        self._status: _Status | None = None
        self._callbacks: list[Callable[[], object]] = []
        self._take_turns = clock.take_turns
        self._requests = _Requests(messages, context, None if handler is None else handler.request_deserializer)
        self._answers: Any = _answers(handler, self._requests, context)  # the type has no gi_running

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        """The next response; raises the call itself if it ended in another status than OK."""
        if self._status is None:
            self._take_turns()
            answer = next(self._answers, None)
            if not self._context.gone:
                self._requests.send_all()
            if answer is not None and not self._context.gone and len(answer) <= self._limit:
                return cast("bytes", answer)
            self._end(self._ended(answer))
        if self._status == _OK:
            raise StopIteration
        raise self

    def _ended(self, answer: bytes | None) -> _Status:
        """The status in which the call ends, where there is no response to take."""
        if self._context.time_remaining() <= 0:
            return _LATE
        if self._context.gone:
            return _CANCELLED
        if answer is not None:
            said = f"CLIENT: Received message larger than max ({len(answer)} vs. {self._limit})"
            return grpc.StatusCode.RESOURCE_EXHAUSTED, said
        return self._context.refused or _OK

    def _end(self, status: _Status) -> None:
        """End the call. The server handles what was sent before the client went, and sees that it is gone."""
        self._status = status
        self._context.gone = True
        for _ in itertools.islice(self._answers, self._requests.left):
            pass
        self._answers.close()
        for callback in self._callbacks:
            callback()

    def cancel(self) -> bool:
        """Give up the call; False if it has ended."""
        if self._status is not None:
            return False
        self._context.gone = True
        if not self._answers.gi_running:  # else the server is at its next request, where it sees it
            self._end(_CANCELLED)
        return True

    def add_callback(self, callback: Callable[[], object]) -> bool:
        """Call it at the end of the call; False if that was."""
        if self._status is None:
            self._callbacks.append(callback)
        return self._status is None

    def code(self) -> grpc.StatusCode:
        """The status of a call that has ended."""
        assert self._status is not None, "the call goes on"
        return self._status[0]

    def details(self) -> str:
        """The text of the status of a call that has ended."""
        assert self._status is not None, "the call goes on"
        return self._status[1]

    def initial_metadata(self) -> Metadata:
        """What came before the first response."""
        return self._context.initial

    def trailing_metadata(self) -> Any:
        """What came with the status."""
        return self._context.trailing


def _answers(handler: Any, requests: _Requests, context: _Context) -> Generator[bytes, None, None]:
    """The responses of a handler; how it ended otherwise is in the context, in the words of gRPC's Python server."""
    if handler is None:
        context.refused = (grpc.StatusCode.UNIMPLEMENTED, "Method not found!")
        return
    doing = "iterating responses" if handler.response_streaming else "calling application"
    try:
        for answer in _handled(handler, requests, context):
            yield _encoded(handler, answer, context)
    except (_Aborted, grpc.RpcError):
        return
    except Exception as error:  # noqa: BLE001  # a server answers, whatever its handler raises
        context.refused = (grpc.StatusCode.UNKNOWN, f"Exception {doing}: {error}")


def _handled(handler: Any, requests: _Requests, context: _Context) -> Iterable[Any]:
    asked = requests if handler.request_streaming else _decoded(requests, context)
    if handler.response_streaming:
        behave = handler.stream_stream if handler.request_streaming else handler.unary_stream
        return cast("Iterable[Any]", behave(asked, context))
    behave = handler.stream_unary if handler.request_streaming else handler.unary_unary
    return [behave(asked, context)]


def _decoded(requests: _Requests, context: _Context) -> Any:
    """The one request of a call; bytes that are no such message end it."""
    try:
        return next(requests)
    except DecodeError:
        context.abort(grpc.StatusCode.INTERNAL, "Exception deserializing request!")


def _encoded(handler: Any, answer: Any, context: _Context) -> bytes:
    """A response in bytes; one that cannot be written ends the call."""
    if handler.response_serializer is None:
        return cast("bytes", answer)
    try:
        return cast("bytes", handler.response_serializer(answer))
    except Exception:  # noqa: BLE001  # as gRPC does
        context.abort(grpc.StatusCode.INTERNAL, "Failed to serialize response!")


class InProcessHttp:
    """As :class:`~conformance.targets.transport.HttpClient`, to a function that answers in this process."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering

    def exchange(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        content_type: str = "application/json",
        until: float,
        limit: int | None,
    ) -> HttpResponse:
        """Give one request to the function; raises :class:`HttpError` if the answer is beyond the limit."""
        del until
        headers = {"content-type": content_type}
        status, answer = self._answering(method, urllib.parse.quote(path, safe=UNQUOTED), headers, body or b"")
        data = json.dumps(answer).encode()
        if limit is not None and len(data) > limit:
            raise HttpError(f"the answer announces {len(data)} bytes, {beyond(limit)}")
        return HttpResponse(status, "", b"" if limit is None else masked_bytes(data))

    def close(self) -> None:
        """Do nothing: there is no connection."""
