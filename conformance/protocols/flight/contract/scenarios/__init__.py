"""The scenarios of Arrow's integration tests, from the side of the client: what it asks, and what it expects."""

from conformance.protocols.flight.contract.scenarios.form import (
    FLIGHT_SCENARIOS,
    Answers,
    FlightScenario,
    Unlike,
    scenario_of,
)

__all__ = ["FLIGHT_SCENARIOS", "Answers", "FlightScenario", "Unlike", "scenario_of"]
