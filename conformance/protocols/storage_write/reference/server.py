"""The reference as a server: in this process, or on ports that the system chooses.

This module decides transport only: what is answered is :mod:`.service`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import ExitStack
from typing import Any, Final

import grpc

from conformance.contain.jsonhttp import JsonServer
from conformance.contract import proto
from conformance.protocols.storage_write.contract import classes
from conformance.protocols.storage_write.reference import rest
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.store import Store
from conformance.protocols.storage_write.wire import messages
from conformance.reference.hosting import Hosted
from conformance.reference.listening import GRACE_SECONDS, OPTIONS, abort, bind
from conformance.reference.statuses import Refusal
from conformance.reference.tokens import numbered
from conformance.targets.ticks import Time

__all__ = ["HostedWrites", "handlers_of", "listen"]

WORKERS: Final = 64
"""Each open connection of AppendRows holds a thread."""


def listen(service: WriteService, stack: ExitStack, host: str = "127.0.0.1") -> tuple[str, str]:
    """Serve until the stack is closed; the addresses of gRPC and of REST.

    Raises:
        OSError: ``host`` cannot be bound.
    """
    server = grpc.server(futures.ThreadPoolExecutor(WORKERS, "reference"), options=OPTIONS)
    server.add_generic_rpc_handlers(handlers_of(service))
    port = bind(server, host, None)
    http = JsonServer(rest.answering(service.store), host=host, pages=False)
    server.start()
    http.start()
    stack.callback(http.stop)
    stack.callback(lambda: server.stop(GRACE_SECONDS).wait())
    return f"{host}:{port}", f"http://{host}:{http.port}"


class HostedWrites(Hosted):
    """A service by the driver's own clock, which listens only if it has to."""

    def __init__(self, time: Time, make: Callable[[Store], WriteService]) -> None:
        self._service: Final = make(Store(time.now, numbered()))
        super().__init__(_Both(handlers_of(self._service)), rest.answering(self._service.store))

    def kept(self) -> object:
        """The tables of the server, for :meth:`restore`."""
        return self._service.store.kept()

    def restore(self, kept: Any) -> None:
        """Have the tables of another server."""
        self._service.store.restore(kept)

    def _listen(self, stack: ExitStack) -> tuple[str, str]:
        return listen(self._service, stack)


def handlers_of(service: WriteService) -> tuple[grpc.GenericRpcHandler[Any, Any], ...]:
    """The methods of both services, as a listener of gRPC calls them."""
    writing = {
        "CreateWriteStream": _unary(service.create_write_stream, classes.REQUESTS["CreateWriteStream"]),
        "AppendRows": _conversing(service.append_rows, classes.REQUESTS["AppendRows"]),
        "GetWriteStream": _unary(service.get_write_stream, classes.REQUESTS["GetWriteStream"]),
        "FinalizeWriteStream": _unary(service.finalize_write_stream, classes.REQUESTS["FinalizeWriteStream"]),
        "BatchCommitWriteStreams": _unary(
            service.batch_commit_write_streams, classes.REQUESTS["BatchCommitWriteStreams"]
        ),
        "FlushRows": _unary(service.flush_rows, classes.REQUESTS["FlushRows"]),
    }
    reading = {
        "CreateReadSession": _unary(service.create_read_session, proto.CreateReadSessionRequest),
        "ReadRows": _streaming(service.read_rows, proto.ReadRowsRequest),
    }
    services = ((messages.SERVICE, writing), (proto.SERVICE, reading))
    return tuple(grpc.method_handlers_generic_handler(name.strip("/"), methods) for name, methods in services)


class _Both(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # it is generic in the stubs alone
    """Finds a method in several services."""

    def __init__(self, handlers: tuple[grpc.GenericRpcHandler[Any, Any], ...]) -> None:
        self._handlers = handlers

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        """The handler of a call."""
        found = (handler.service(details) for handler in self._handlers)
        return next((one for one in found if one is not None), None)


def _unary(answer: Callable[[Any], Any], request: Any) -> grpc.RpcMethodHandler[Any, Any]:
    def call(asked: Any, context: grpc.ServicerContext) -> Any:
        try:
            return answer(asked)
        except Refusal as refusal:
            abort(context, refusal)

    return grpc.unary_unary_rpc_method_handler(call, request.FromString, _serialized)


def _streaming(answer: Callable[[Any], Iterator[Any]], request: Any) -> grpc.RpcMethodHandler[Any, Any]:
    def call(asked: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        try:
            yield from answer(asked)
        except Refusal as refusal:
            abort(context, refusal)

    return grpc.unary_stream_rpc_method_handler(call, request.FromString, _serialized)


def _conversing(answer: Callable[[Any], Iterator[Any]], request: Any) -> grpc.RpcMethodHandler[Any, Any]:
    def call(asked: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        try:
            yield from answer(asked)
        except Refusal as refusal:
            abort(context, refusal)

    return grpc.stream_stream_rpc_method_handler(call, request.FromString, _serialized)


def _serialized(answer: Any) -> bytes:
    """The bytes of an answer; bytes go as they are, since what a mutant sends need be no message."""
    return answer if isinstance(answer, bytes) else answer.SerializeToString()
