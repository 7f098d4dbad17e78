"""The reference of Arrow Flight: a server of tables that are put into it, which speaks Flight SQL."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from conformance.protocols.flight.contract.scenarios import FLIGHT_SCENARIOS
from conformance.protocols.flight.reference.deviations import flight_service, speaks_sql
from conformance.protocols.flight.reference.handshake import LOGIN
from conformance.protocols.flight.reference.hosted import flight_spec, flight_target
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.serving import serve_flight
from conformance.protocols.flight.reference.sql.service import SqlFlightService
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.records import Case
from conformance.reference.clock import PATH
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.register import Mutant
from conformance.targets import Target
from conformance.targets.spec import Clock, Endpoint, Ready, Start, TargetSpec


@contextmanager
def _listening(mutant: str | None) -> Iterator[TargetSpec]:
    service = flight_service(mutant)()
    service.login = LOGIN
    with FlightServer(service, clock=True) as server:
        endpoint = Endpoint(grpc=server.endpoint, rest=f"http://127.0.0.1:{server.clock_port}")
        spoken = flight_spec(sql=speaks_sql(mutant))
        yield TargetSpec("reference", "flight", endpoint=endpoint, own=spoken, clock=Clock(PATH))


def _process(mutant: str, _folder: Path) -> TargetSpec:
    command = (sys.executable, "-m", "conformance.protocols.flight.reference", "--login", "--mutant", mutant)
    return TargetSpec(
        "mutant",
        "flight",
        start=Start(command, grace=1.0),
        ready=Ready(grpc_event="grpc.listen"),
        own=flight_spec(),
    )


def _played(scenario: str) -> Target:
    return flight_target(scenario=scenario)


def _mutants() -> Mapping[str, Mutant]:
    return FLIGHT_MUTANTS


def _variations() -> tuple[str, ...]:
    return tuple(FLIGHT_VARIATIONS)


def _scenarios() -> Mapping[str, Case]:
    return {name: scenario.case for name, scenario in FLIGHT_SCENARIOS.items()}


PLUGIN: Final = ReferencePlugin(
    target=flight_target,
    served=lambda service: flight_target(service=service),
    meeting=lambda mutant: flight_target(mutant, still=False),
    listening=_listening,
    process=_process,
    service=flight_service,
    bases=(SqlFlightService, FlightService),
    entries=frozenset(
        {
            *("handshake", "list_flights", "get_flight_info", "poll_flight_info", "get_schema"),
            *("do_get", "do_put", "do_exchange", "do_action", "list_actions"),
        }
    ),
    mutants=_mutants,
    variations=_variations,
    played=_played,
    scenarios=_scenarios,
    refusals_fail=False,
    serve=serve_flight,
    serve_options=frozenset({"mutant", "scenario", "host", "tls", "path"}),
)
