"""The reference of Flight as a server in this process, which listens only if it has to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from conformance.protocols.flight.reference import deviations
from conformance.protocols.flight.reference.handshake import LOGIN
from conformance.protocols.flight.reference.resident import settle
from conformance.protocols.flight.reference.server import FlightHandlers, FlightServer
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.sql.service import SqlFlightService
from conformance.protocols.flight.reference.store import Store
from conformance.protocols.flight.table.dialect import SqlSpec
from conformance.protocols.flight.table.spec import HERE as LOCAL
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec, Login
from conformance.reference import clock
from conformance.reference.hosting import Hosted
from conformance.reference.tokens import numbered
from conformance.targets import Target
from conformance.targets.hosted import HERE, hosted
from conformance.targets.spec import Clock, TargetSpec
from conformance.targets.ticks import Time

__all__ = ["HostedFlight", "flight_spec", "flight_target", "service_target"]


def flight_target(
    mutant: str | None = None,
    scenario: str | None = None,
    *,
    service: type[FlightService] | None = None,
    connected: bool = False,
    still: bool = True,
) -> Target:
    """The reference of Flight, which stores what is put into it, or one of its mutants, as a target; ``connected``, it
    is asked over connections. Its clock is that of the machine unless it stands ``still``.

    It may be the server of a ``scenario`` of Arrow's integration tests, a mutant of one, or have another ``service``.
    """
    made = deviations.flight_service(mutant) if scenario is None else deviations.scenario_service(scenario)
    made, scenario = service or made, scenario or made.scenario
    if scenario is not None:
        return service_target(made, FlightSpec(scenario=scenario), connected=connected, still=still)
    spoken = flight_spec(sql=issubclass(made, SqlFlightService))
    return service_target(made, spoken, connected=connected, still=still)


def flight_spec(*, sql: bool = False) -> FlightSpec:
    """How the reference of Flight is asked, which stores what is put; with ``sql``, it speaks Flight SQL."""
    dialect = SqlSpec() if sql else None
    return FlightSpec(FlightSeeding.PUT, echo="echo", login=Login(*LOGIN), sql=dialect, locations=LOCAL)


def service_target(
    make: Callable[[Store], FlightService], flight: FlightSpec, *, connected: bool = False, still: bool = True
) -> Target:
    """A service of Flight as a target, asked as ``flight`` says; each case gets one that ``make`` makes of a store."""
    spec = TargetSpec("reference", "flight", own=flight, clock=Clock(clock.PATH))
    login = None if flight.login is None else (flight.login.user, flight.login.password)
    return hosted(spec, functools.partial(HostedFlight, make=make, login=login), connected=connected, still=still)


class HostedFlight(Hosted):
    """A service of Flight by the driver's own clock; with ``login``, it asks for that name and password."""

    def __init__(
        self, time: Time, make: Callable[[Store], FlightService], login: tuple[str, str] | None = None
    ) -> None:
        store = Store(lambda: time.now() / 1e6, numbered())
        settle(store)
        self._service: Final = make(store)
        self._service.here = f"grpc+tcp://{HERE}"
        self._service.login = login
        super().__init__(FlightHandlers(self._service), clock.answering(self._set_ahead))

    def _set_ahead(self, seconds: int) -> None:
        self._service.store.ahead = seconds

    def _listen(self, stack: ExitStack) -> tuple[str, str]:
        server = stack.enter_context(FlightServer(self._service, clock=True, here=self._service.here))
        return server.endpoint, f"http://127.0.0.1:{server.clock_port}"
