"""Calls of a client library, answered inside its process with the recorded bytes.

The library serializes its requests, and deserializes and decodes the answers, as over a connection. Only gRPC's
transport is left out: no byte of a target depends on it, and it took more time than all else on small answers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final, Self

import grpc

from conformance.contract import proto
from conformance.readers.oneread import OneRead
from conformance.readers.tape import NotRecordedError

__all__ = ["RecordedChannel"]

UNDECODABLE: Final = "Exception deserializing response!"
"""What gRPC's own channel says."""


class RecordedChannel(grpc.Channel):
    """Gives each call to ``reads``; a call that is not recorded ends in FAILED_PRECONDITION.

    Only calls with one request are supported, and deadlines and metadata are not looked at.
    """

    def __init__(self, reads: OneRead) -> None:
        self._reads = reads

    def unary_unary(
        self, method: str, request_serializer: Any = None, response_deserializer: Any = None, *_: Any
    ) -> grpc.UnaryUnaryMultiCallable[Any, Any]:
        """The callable of a method with one response."""
        return _Unary(functools.partial(self._call, method, request_serializer, response_deserializer))

    def unary_stream(
        self, method: str, request_serializer: Any = None, response_deserializer: Any = None, *_: Any
    ) -> grpc.UnaryStreamMultiCallable[Any, Any]:
        """The callable of a method with a stream of responses."""
        return _Streaming(functools.partial(self._call, method, request_serializer, response_deserializer))

    def stream_unary(self, method: str, *_: Any) -> Any:
        """Storage Read has no such method."""
        raise NotImplementedError(method)

    def stream_stream(self, method: str, *_: Any) -> Any:
        """Storage Read has no such method for reading."""
        raise NotImplementedError(method)

    def subscribe(self, callback: Callable[[Any], None], try_to_connect: bool = False) -> None:  # noqa: FBT001, FBT002  # as gRPC has it
        """The state of this channel never changes."""

    def unsubscribe(self, callback: Callable[[Any], None]) -> None:
        """As :meth:`subscribe`."""

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(
        self, method: str, serialize: Callable[[Any], bytes] | None, decode: Callable[[bytes], Any] | None, request: Any
    ) -> _Call:
        data = request if serialize is None else serialize(request)
        try:
            responses = self._reads.answer(method.removeprefix(proto.SERVICE), data)
        except NotRecordedError as error:
            return _Call(iter(()), decode, grpc.StatusCode.FAILED_PRECONDITION, f"not recorded: {error}")
        return _Call(iter(responses), decode)


class _Call(grpc.RpcError, grpc.Call):
    """A call: an iterator over its responses, and the error in which it ends unless that is OK."""

    def __init__(
        self,
        left: Iterator[bytes],
        decode: Callable[[bytes], Any] | None,
        code: grpc.StatusCode = grpc.StatusCode.OK,
        details: str = "",
    ) -> None:
        super().__init__()
        self._left, self._decode, self._code, self._details = left, decode, code, details

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        data = next(self._left, None)
        if data is not None:
            try:
                return data if self._decode is None else self._decode(data)
            except Exception:  # noqa: BLE001  # as gRPC does: it is the client's own error
                self._end(grpc.StatusCode.INTERNAL, UNDECODABLE)
        if self._code is grpc.StatusCode.OK:
            raise StopIteration
        raise self

    def _end(self, code: grpc.StatusCode, details: str) -> None:
        self._left, self._code, self._details = iter(()), code, details

    def result(self) -> Any:
        """Raises the call, which its caller takes for a future that has failed."""
        raise self

    def cancel(self) -> bool:
        """End the call before its next response."""
        self._end(grpc.StatusCode.CANCELLED, "Locally cancelled by application!")
        return True

    def add_callback(self, callback: Callable[[], None]) -> bool:  # noqa: ARG002  # as gRPC has it
        """Nothing is called: the call ends while its caller asks for a response."""
        return False

    def is_active(self) -> bool:
        """Whether the call can still end in OK."""
        return self._code is grpc.StatusCode.OK

    def time_remaining(self) -> Any:
        """The call has no deadline."""
        return None

    def code(self) -> grpc.StatusCode:
        """The status."""
        return self._code

    def details(self) -> str:
        """The message of the status."""
        return self._details

    def initial_metadata(self) -> Any:
        """None is recorded."""
        return ()

    def trailing_metadata(self) -> Any:
        """None is recorded."""
        return ()

    def __str__(self) -> str:
        return f"{self._code.name}: {self._details}"


class _Unary(grpc.UnaryUnaryMultiCallable):  # type: ignore[type-arg]  # it is generic in the stubs alone
    def __init__(self, start: Callable[[Any], _Call]) -> None:
        self._start = start

    def __call__(self, request: Any, *_: Any, **__: Any) -> Any:
        return self.with_call(request)[0]

    def with_call(self, request: Any, *_: Any, **__: Any) -> tuple[Any, grpc.Call]:
        call = self._start(request)
        return next(call, None), call

    def future(self, request: Any, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


class _Streaming(grpc.UnaryStreamMultiCallable):  # type: ignore[type-arg]  # as above
    def __init__(self, start: Callable[[Any], _Call]) -> None:
        self._start = start

    def __call__(self, request: Any, *_: Any, **__: Any) -> Any:
        return self._start(request)
