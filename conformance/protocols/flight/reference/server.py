"""The Flight reference as a running server on raw gRPC handlers: each method takes and gives bytes.

This module decides transport only: what is answered is :mod:`conformance.protocols.flight.reference.service`'s.
"""

from __future__ import annotations

import socket
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import grpc

from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.wire.messages import SERVICE
from conformance.reference.clock import ClockServer
from conformance.reference.guard import ServerTls
from conformance.reference.listening import GRACE_SECONDS, OPTIONS, abort, bind
from conformance.reference.statuses import Refusal

__all__ = ["FlightHandlers", "FlightServer"]

WORKERS: Final = 64
"""Each open call holds a thread."""


class FlightServer:
    """A Flight server that runs from construction to :meth:`stop`; a context manager stops it by itself.

    ``service`` is a mutant or a legal variation of the reference; with ``tls`` the listener speaks TLS only. With
    ``path``, it listens there in the file system, and not on a port of ``host``. ``uri`` is where it is, as the
    specification writes it; ``here`` is what it tells clients instead. With ``clock``, its clock is set over HTTP, on
    ``clock_port``.

    Raises:
        OSError: ``host`` or ``path`` cannot be bound, or a file of ``tls`` cannot be used.
    """

    def __init__(
        self,
        service: FlightService | None = None,
        *,
        host: str = "127.0.0.1",
        tls: ServerTls | None = None,
        path: Path | None = None,
        clock: bool = False,
        here: str = "",
    ) -> None:
        self.service = service or FlightService()
        self._stopped = threading.Event()
        self._grpc = grpc.server(futures.ThreadPoolExecutor(WORKERS, "reference-flight"), options=OPTIONS)
        self._grpc.add_generic_rpc_handlers((FlightHandlers(self.service),))
        if path is None:
            self.port = bind(self._grpc, host, tls)
            self.endpoint = f"{host}:{self.port}"
            self.uri = f"grpc+{'tcp' if tls is None else 'tls'}://{self.endpoint}"
        else:
            self.port = _listen(self._grpc, path)
            self.endpoint = f"unix:{path}"
            self.uri = f"grpc+unix://{urllib.parse.quote(str(path))}"
        self.service.here = here or self.uri
        self._clock = ClockServer(self._set_ahead, host=host) if clock else None
        self.clock_port = 0 if self._clock is None else self._clock.port
        self._grpc.start()
        if self._clock is not None:
            self._clock.start()

    def _set_ahead(self, seconds: int) -> None:
        self.service.store.ahead = seconds

    def stop(self) -> None:
        """End the listener and every call; further calls do nothing."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._grpc.stop(GRACE_SECONDS).wait()
            if self._clock is not None:
                self._clock.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def _listen(server: grpc.Server, path: Path) -> int:
    """Let a server listen at a path; raises :class:`OSError` if that cannot be. There is no port."""
    if _is_served(path):
        raise OSError(f"cannot listen at {path}: another server listens there")
    try:
        server.add_insecure_port(f"unix:{path}")
    except RuntimeError as error:
        raise OSError(f"cannot listen at {path}: {error}") from error
    return 0


def _is_served(path: Path) -> bool:
    """True if a server listens at a path; gRPC would take its place, and nobody could reach it any more."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        try:
            asked.connect(str(path))
        except OSError:
            return False
    return True


class FlightHandlers(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # it is generic in the stubs alone
    """Finds the method of the service by its name; one that it does not have is UNIMPLEMENTED."""

    def __init__(self, service: FlightService) -> None:
        self._service = service

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        """The handler of a call."""
        method = str(details.method)
        name = method.removeprefix(SERVICE)
        if not method.startswith(SERVICE) or name not in self._service.methods:
            return None
        return grpc.stream_stream_rpc_method_handler(_handler(self._service, name))


def _until_gone(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    """The requests; raises :class:`grpc.RpcError` where the client has gone without a half-close.

    gRPC reports the end of the requests and the end of the call one after the other: between the two, a call that was
    given up looks like one that was half-closed. A second read ends behind both reports, and costs no message.
    """
    yield from requests
    next(requests, None)
    if not context.is_active():
        raise grpc.RpcError


def _handler(shared: FlightService, method: str) -> Callable[[Any, grpc.ServicerContext], Iterator[bytes]]:
    def call(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        pairs = context.invocation_metadata()
        headers = {key: value if isinstance(value, bytes) else value.encode() for key, value in pairs}
        service = shared
        begun = False
        try:
            service = shared.for_call(method, headers, context.peer())
            for answer in service.methods[method](_until_gone(requests, context)):
                if not begun:
                    context.send_initial_metadata(tuple(service.reply))
                    begun = True
                yield answer
            context.set_trailing_metadata(tuple(service.trailers if begun else (*service.reply, *service.trailers)))
        except grpc.RpcError:
            return  # the client is gone
        except Refusal as refusal:
            if service.reply and not begun:
                context.send_initial_metadata(tuple(service.reply))
            abort(context, refusal)

    return call
