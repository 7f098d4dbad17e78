"""The reference of Storage Read as a server in this process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from conformance.protocols.storage_read.reference import rest
from conformance.protocols.storage_read.reference.catalogue import Catalogue, CatalogueContent
from conformance.protocols.storage_read.reference.server import ReferenceServer, handlers_of, service_of
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.reference import clock
from conformance.reference.hosting import Hosted
from conformance.reference.tokens import numbered
from conformance.targets import Target
from conformance.targets.hosted import hosted
from conformance.targets.spec import Clock, TargetKind, TargetSpec
from conformance.targets.ticks import Time

__all__ = ["HostedReference", "storage_target"]


def storage_target(
    mutant: str | None = None,
    *,
    make: Callable[[Catalogue], ReadService] | None = None,
    connected: bool = False,
    still: bool = True,
) -> Target:
    """The reference of Storage Read, or one of its mutants, as a target; ``connected``, it is asked over connections.

    ``make`` makes its service, if given. Its clock is that of the machine unless it stands ``still``.

    Raises:
        KeyError: there is no such mutant.
    """
    spec = TargetSpec("reference", TargetKind.SERVER, clock=Clock(clock.PATH))
    made = make or functools.partial(service_of, mutant)
    return hosted(spec, functools.partial(HostedReference, make=made), connected=connected, still=still)


class HostedReference(Hosted):
    """The reference of Storage Read, or a service with a deviation, by the driver's own clock."""

    def __init__(self, time: Time, make: Callable[[Catalogue], ReadService]) -> None:
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
