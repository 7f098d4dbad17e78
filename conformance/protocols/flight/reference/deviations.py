"""Finds the service that answers as the Flight reference, as one of its mutants, or as a legal variation."""

from __future__ import annotations

from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.flight.reference.scenarios import SCENARIOS
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.sql.service import SqlFlightService
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS

__all__ = ["FLIGHT_NAMES", "flight_service", "scenario_service", "speaks_sql"]

FLIGHT_NAMES = (*FLIGHT_MUTANTS, *FLIGHT_VARIATIONS)
"""The names of all mutants, then those of the legal variations."""


def scenario_service(name: str) -> type[FlightService]:
    """The service of a scenario of Arrow's integration tests.

    Raises:
        KeyError: there is no such scenario.
    """
    if name not in SCENARIOS:
        raise KeyError(f"no scenario is called {name!r}; there are {', '.join(map(repr, SCENARIOS))}")
    return SCENARIOS[name]


def flight_service(name: str | None = None) -> type[FlightService]:
    """The service with the fault or the legal difference of that name; the reference without one.

    Raises:
        KeyError: nothing has that name.
    """
    if name is None:
        return SqlFlightService
    if name in FLIGHT_VARIATIONS:
        return FLIGHT_VARIATIONS[name].service
    found = FLIGHT_MUTANTS.get(name)
    if found is None:
        raise KeyError(f"no mutant or legal variation of the Flight reference is called {name!r}")
    assert found.service is not None
    assert issubclass(found.service, FlightService)
    return found.service


def speaks_sql(name: str | None = None) -> bool:
    """True for the reference, and for a service with a deviation of Flight SQL; the others do not speak it."""
    return issubclass(flight_service(name), SqlFlightService)
