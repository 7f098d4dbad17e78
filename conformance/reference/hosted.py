"""The references as servers in this process (:mod:`conformance.targets.hosted`), which listen only if they have to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final

import grpc

from conformance.contain.jsonhttp import Answering
from conformance.reference import clock, rest
from conformance.reference.catalogue import Catalogue, CatalogueContent
from conformance.reference.flight import deviations
from conformance.reference.flight.handshake import LOGIN
from conformance.reference.flight.server import FlightHandlers, FlightServer
from conformance.reference.flight.service import FlightService
from conformance.reference.flight.sql.service import SqlFlightService
from conformance.reference.flight.store import Store
from conformance.reference.server import ReferenceServer, handlers_of, service_of
from conformance.reference.service import Service
from conformance.reference.tokens import numbered
from conformance.targets import Target
from conformance.targets.dialect import SqlSpec
from conformance.targets.flightspec import HERE as LOCAL
from conformance.targets.flightspec import FlightSeeding, FlightSpec, Login
from conformance.targets.hosted import HERE, hosted
from conformance.targets.instants import Time
from conformance.targets.spec import Clock, TargetKind, TargetSpec

__all__ = ["HostedFlight", "HostedReference", "flight_spec", "flight_target", "service_target", "storage_target"]


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


def flight_target(
    mutant: str | None = None,
    scenario: str | None = None,
    *,
    service: type[FlightService] | None = None,
    connected: bool = False,
) -> Target:
    """As :func:`storage_target` for the reference of Flight, which stores what is put into it.

    It may be the server of a ``scenario`` of Arrow's integration tests, a mutant of one, or have another ``service``.
    """
    made = deviations.flight_service(mutant) if scenario is None else deviations.scenario_service(scenario)
    made, scenario = service or made, scenario or made.scenario
    if scenario is not None:
        return service_target(made, FlightSpec(scenario=scenario), connected=connected)
    return service_target(made, flight_spec(sql=issubclass(made, SqlFlightService)), connected=connected)


def flight_spec(*, sql: bool = False) -> FlightSpec:
    """How the reference of Flight is asked, which stores what is put; with ``sql``, it speaks Flight SQL."""
    dialect = SqlSpec() if sql else None
    return FlightSpec(FlightSeeding.PUT, echo="echo", login=Login(*LOGIN), sql=dialect, locations=LOCAL)


def service_target(make: Callable[[Store], FlightService], flight: FlightSpec, *, connected: bool = False) -> Target:
    """A service of Flight as a target, asked as ``flight`` says; each case gets one that ``make`` makes of a store."""
    spec = TargetSpec("reference", TargetKind.FLIGHT, flight=flight, clock=Clock(clock.PATH))
    login = None if flight.login is None else (flight.login.user, flight.login.password)
    return hosted(spec, functools.partial(HostedFlight, make=make, login=login), connected=connected)


class _Hosted:
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


class HostedReference(_Hosted):
    """The reference of Storage Read, or a service with a deviation, by the driver's own clock."""

    def __init__(self, time: Time, make: Callable[[Catalogue], Service]) -> None:
        catalogue = Catalogue(time.now, numbered())
        self._service: Final = make(catalogue)
        super().__init__(handlers_of(self._service), rest.answering(catalogue))

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


class HostedFlight(_Hosted):
    """A service of Flight by the driver's own clock; with ``login``, it asks for that name and password."""

    def __init__(
        self, time: Time, make: Callable[[Store], FlightService], login: tuple[str, str] | None = None
    ) -> None:
        self._service: Final = make(Store(lambda: time.now() / 1e6, numbered()))
        self._service.here = f"grpc+tcp://{HERE}"
        self._service.login = login
        super().__init__(FlightHandlers(self._service), clock.answering(self._set_ahead))

    def _set_ahead(self, seconds: int) -> None:
        self._service.store.ahead = seconds

    def _listen(self, stack: ExitStack) -> tuple[str, str]:
        server = stack.enter_context(FlightServer(self._service, clock=True, here=self._service.here))
        return server.endpoint, f"http://127.0.0.1:{server.clock_port}"
