"""The reference as a running server: gRPC for reading, HTTP for seeding, on ports that the system chooses.

This module decides transport only: what is answered is :mod:`conformance.protocols.storage_read.reference.service`'s.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from types import TracebackType
from typing import Any, Final, NoReturn, Self

import grpc

from conformance.contract import proto
from conformance.protocols.storage_read.reference.catalogue import Catalogue
from conformance.protocols.storage_read.reference.rest import RestServer
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.reference.delays import Delays
from conformance.reference.guard import Guard, ServerTls
from conformance.reference.listening import GRACE_SECONDS, OPTIONS, abort, bind
from conformance.reference.statuses import Refusal

__all__ = ["ReferenceServer", "handlers_of", "service_of"]

WORKERS: Final = 256
"""Each open ReadRows holds a thread until its client has taken everything; abandoned reads must not starve others."""


class ReferenceServer:
    """A reference server that runs from construction to :meth:`stop`; a context manager stops it by itself.

    ``mutant`` names a deviation out of :data:`.mutants.MUTANTS`; without one the server obeys
    every clause. ``catalogue`` replaces the empty one (and with it the clock); ``service`` is one that answers already,
    with its catalogue. With ``tls``, both listeners speak TLS
    only; ``guard`` checks the credentials of each request, and ``delays`` make load jobs slow.

    Example::

        with ReferenceServer() as server:
            print(server.grpc_endpoint, server.rest_endpoint)

    Raises:
        KeyError: there is no such mutant; the text lists those that there are.
        OSError: ``host`` cannot be bound, or a file of ``tls`` cannot be used.
    """

    def __init__(
        self,
        *,
        mutant: str | None = None,
        service: ReadService | None = None,
        host: str = "127.0.0.1",
        catalogue: Catalogue | None = None,
        tls: ServerTls | None = None,
        guard: Guard | None = None,
        delays: Delays = Delays(),  # noqa: B008  # it is immutable
    ) -> None:
        self.service = service or service_of(mutant, catalogue or Catalogue())
        self.catalogue = self.service.catalogue
        self.guard = guard
        self._stopped = threading.Event()
        self._rest = RestServer(self.service, host=host, tls=tls, guard=guard, delays=delays)
        pool = futures.ThreadPoolExecutor(WORKERS, "reference-grpc")
        self._grpc = grpc.server(pool, options=OPTIONS, interceptors=[] if guard is None else [_Guarding(guard)])
        self._grpc.add_generic_rpc_handlers((handlers_of(self.service),))
        try:
            self.grpc_port = bind(self._grpc, host, tls)
        except OSError:
            self._rest.stop()
            raise
        self.rest_port = self._rest.port
        self.grpc_endpoint = f"{host}:{self.grpc_port}"
        self.rest_endpoint = f"{host}:{self.rest_port}"
        self._grpc.start()
        self._rest.start()

    def stop(self) -> None:
        """End both listeners and every call; further calls do nothing."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        self._grpc.stop(GRACE_SECONDS).wait()
        self._rest.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def service_of(mutant: str | None, catalogue: Catalogue) -> ReadService:
    """The service with a mutant's deviation, or the one that obeys every clause if None.

    Raises:
        KeyError: there is no such mutant; the text lists those that there are.
    """
    if mutant is None:
        return ReadService(catalogue)
    # A server that obeys starts without the mutants, which take as long to import as all else.
    from conformance.protocols.storage_read.reference.mutants import service_class  # noqa: PLC0415  # see above

    return service_class(mutant)(catalogue)


def handlers_of(service: ReadService) -> grpc.GenericRpcHandler[Any, Any]:
    """The methods of the service, as a listener of gRPC calls them."""
    methods = {
        "CreateReadSession": _unary("CreateReadSession", service.create_read_session),
        "ReadRows": _streaming("ReadRows", service.read_rows),
        "SplitReadStream": _unary("SplitReadStream", service.split_read_stream),
    }
    handler: grpc.GenericRpcHandler[Any, Any] = grpc.method_handlers_generic_handler(proto.SERVICE.strip("/"), methods)
    return handler


def _unary(method: str, answer: Callable[[Any], Any]) -> grpc.RpcMethodHandler[Any, Any]:
    def call(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return answer(request)
        except Refusal as refusal:
            abort(context, refusal)

    return grpc.unary_unary_rpc_method_handler(call, *_codec(method))


def _streaming(method: str, answer: Callable[[Any], Iterator[Any]]) -> grpc.RpcMethodHandler[Any, Any]:
    def call(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        try:
            yield from answer(request)
        except Refusal as refusal:
            abort(context, refusal)

    return grpc.unary_stream_rpc_method_handler(call, *_codec(method))


def _codec(method: str) -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    return proto.REQUESTS[method].FromString, _serialized


def _serialized(answer: Any) -> bytes:
    """The bytes of an answer; bytes go as they are, since what a mutant sends need be no message."""
    return answer if isinstance(answer, bytes) else answer.SerializeToString()


class _Guarding(grpc.ServerInterceptor):  # type: ignore[type-arg]  # it is generic in the stubs alone
    """Asks a guard about each call, before anything else looks at it."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def intercept_service(self, continuation: Callable[[Any], Any], details: Any) -> Any:
        """Go on, or end the call in the guard's refusal."""
        given = dict(details.invocation_metadata)
        refusal = self._guard.check(str(given.get("authorization", "")), rpc=True)
        if refusal is None:
            return continuation(details)

        def refuse(_request: Any, context: grpc.ServicerContext) -> NoReturn:
            if self._guard.echo:
                context.send_initial_metadata(refusal.trailers[-1:])
            abort(context, refusal)

        handler = continuation(details)
        if handler is not None and handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(refuse)
        return grpc.unary_unary_rpc_method_handler(refuse)
