"""The reference as a server in this process (:mod:`conformance.targets.hosted`), which listens only if it has to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final

import grpc

from conformance.contain.jsonhttp import Answering
from conformance.reference import clock, rest
from conformance.reference.catalogue import Catalogue, CatalogueContent
from conformance.reference.server import ReferenceServer, handlers_of, service_of
from conformance.reference.service import Service
from conformance.reference.tokens import numbered
from conformance.targets import Target
from conformance.targets.hosted import hosted
from conformance.targets.instants import Time
from conformance.targets.spec import Clock, TargetKind, TargetSpec

__all__ = ["Hosted", "HostedReference", "storage_target"]


def storage_target(
    mutant: str | None = None, *, make: Callable[[Catalogue], Service] | None = None, connected: bool = False
) -> Target:
    """The reference of Storage Read, or one of its mutants, as a target; ``connected``, it is asked over connections.

    ``make`` makes its service, if given.

    Raises:
        KeyError: there is no such mutant.
    """
    spec = TargetSpec("reference", TargetKind.SERVER, clock=Clock(clock.PATH))
    made = make or functools.partial(service_of, mutant)
    return hosted(spec, functools.partial(HostedReference, make=made), connected=connected)


class Hosted:
    """A server whose listeners start at the first question for their addresses."""

    def __init__(self, handlers: grpc.GenericRpcHandler[Any, Any], answering: Answering) -> None:
        self.handlers: Final = handlers
        self.answering: Final = answering
        self._stack: Final = ExitStack()
        self._addresses: tuple[str, str] | None = None

    def listen(self) -> tuple[str, str]:
        """Begin to listen, once; the address for gRPC, and the one for HTTP with its scheme."""
        if self._addresses is None:
            self._addresses = self._listen(self._stack)
        return self._addresses

    def stop(self) -> None:
        """Listen no longer."""
        self._stack.close()

    def kept(self) -> object:
        """The tables of the server, for :meth:`restore`."""
        return None

    def restore(self, kept: object) -> None:
        """Have the tables of another server."""

    def _listen(self, stack: ExitStack) -> tuple[str, str]:
        raise NotImplementedError


class HostedReference(Hosted):
    """The reference of Storage Read, or a service with a deviation, by the driver's own clock."""

    def __init__(self, time: Time, make: Callable[[Catalogue], Service]) -> None:
        catalogue = Catalogue(time.now, numbered())
        self._service: Final = make(catalogue)
        super().__init__(handlers_of(self._service), rest.answering(self._service))

    def kept(self) -> object:
        """The tables of the server, for :meth:`restore`."""
        return self._service.catalogue.kept()

    def restore(self, kept: object) -> None:
        """Have the tables of another server."""
        assert isinstance(kept, CatalogueContent), "it comes from another server of this class"
        self._service.catalogue.restore(kept)

    def _listen(self, stack: ExitStack) -> tuple[str, str]:
        server = stack.enter_context(ReferenceServer(service=self._service))
        return server.grpc_endpoint, f"http://{server.rest_endpoint}"
