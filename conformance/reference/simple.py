"""The reference of a protocol with one gRPC service whose methods take one request: the service is all that it writes.

``python -P -m conformance.reference.simpleserver PROTOCOL`` serves it in a process of its own.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent import futures
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

import grpc

from conformance.contain.interrupts import stopping
from conformance.reference import clock
from conformance.reference.freedom import ServiceVariation
from conformance.reference.hosting import Hosted
from conformance.reference.listening import GRACE_SECONDS, OPTIONS, abort, bind
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.register import Mutant
from conformance.reference.statuses import Refusal
from conformance.targets import Target
from conformance.targets.hosted import hosted
from conformance.targets.spec import Endpoint, Ready, Start, TargetSpec, kind_of

__all__ = ["SimpleService", "serve", "simple_reference"]

WORKERS: Final = 16


class SimpleService:
    """A service; its mutants and legal variations are subclasses.

    ``SERVICE`` is what the names of its methods begin with, with a slash at both ends, and ``METHODS`` names the method
    of this class for each method on the wire. Such a method takes the bytes of a request and gives those of its
    answers; it may raise :class:`~conformance.reference.statuses.Refusal`.
    """

    SERVICE: ClassVar[str]
    METHODS: ClassVar[Mapping[str, str]]


def simple_reference(
    protocol: str,
    base: type[SimpleService],
    mutants: Mapping[str, Mutant],
    variations: Mapping[str, ServiceVariation[Any]],
) -> ReferencePlugin:
    """The plugin of a protocol whose servers are such services; ``base`` obeys every clause."""

    def service(name: str | None) -> type[SimpleService]:
        if name is None:
            return base
        found = variations[name].service if name in variations else mutants[name].service
        assert found is not None, "its mutants are services"
        return found

    def served(made: Callable[[], SimpleService], *, still: bool = True) -> Target:
        return hosted(TargetSpec("reference", kind_of(protocol)), lambda _time: _HostedService(made()), still=still)

    @contextmanager
    def listening(name: str | None) -> Iterator[TargetSpec]:
        with ExitStack() as stack:
            yield TargetSpec("reference", kind_of(protocol), endpoint=Endpoint(serve(service(name)(), stack)))

    def process(name: str, _folder: Path) -> TargetSpec:
        command = (sys.executable, "-P", "-m", "conformance.reference.simpleserver", protocol, "--mutant", name)
        ready = Ready(grpc_event="grpc.listen")
        return TargetSpec("mutant", kind_of(protocol), start=Start(command, grace=1.0), ready=ready)

    return ReferencePlugin(
        target=lambda name: served(service(name)),
        served=served,
        meeting=lambda name: served(service(name), still=False),
        listening=listening,
        process=process,
        service=service,
        bases=(base,),
        entries=frozenset(base.METHODS.values()),
        mutants=lambda: mutants,
        variations=lambda: tuple(variations),
        serve=functools.partial(_serve_process, service),
        serve_options=frozenset({"mutant", "host"}),
    )


def _serve_process(
    service: Callable[[str | None], type[SimpleService]],
    *,
    mutant: str | None = None,
    host: str = "127.0.0.1",
    say: Callable[[str], object] = print,
) -> None:
    with stopping() as done, ExitStack() as stack:
        address = serve(service(mutant)(), stack, host)
        say(json.dumps({"event": "grpc.listen", "port": int(address.rpartition(":")[2])}))
        done.wait()


class _Handlers(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # it is generic in the stubs alone
    """Finds the method of a service by its name; one that it does not have is UNIMPLEMENTED."""

    def __init__(self, service: SimpleService) -> None:
        self._service = service

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        """The handler of a call."""
        name = str(details.method).removeprefix(self._service.SERVICE)
        if name not in self._service.METHODS or not str(details.method).startswith(self._service.SERVICE):
            return None
        answers: Callable[[bytes], Iterable[bytes]] = getattr(self._service, self._service.METHODS[name])

        def call(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            try:
                yield from answers(request)
            except Refusal as refusal:
                abort(context, refusal)

        return grpc.unary_stream_rpc_method_handler(call)


class _HostedService(Hosted):
    """A service in this process."""

    def __init__(self, service: SimpleService) -> None:
        super().__init__(_Handlers(service), clock.answering(lambda _seconds: None))
        self._service = service

    def _listen(self, stack: ExitStack) -> tuple[str, str]:
        return serve(self._service, stack), ""


def serve(service: SimpleService, stack: ExitStack, host: str = "127.0.0.1") -> str:
    """Serve until the stack is closed; the address."""
    server = grpc.server(futures.ThreadPoolExecutor(WORKERS, "reference"), options=OPTIONS)
    server.add_generic_rpc_handlers((_Handlers(service),))
    address = f"{host}:{bind(server, host, None)}"
    server.start()
    stack.callback(lambda: server.stop(GRACE_SECONDS).wait())
    return address
