"""The scenarios of Arrow's integration tests: what their clients require of a server of the same name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from conformance.contract.clause import Role, Violation, clause
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.scenarios import Answers, FlightScenario, scenario_of
from conformance.protocols.flight.contract.sources import INTEGRATION_SCENARIOS
from conformance.protocols.flight.contract.subjects import about
from conformance.protocols.flight.contract.view import FlightView


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Played:
    """The calls of a scenario."""

    call: int
    response: None
    scenario: FlightScenario
    view: FlightView


@about
def _played(view: FlightView) -> list[_Played]:
    scenario = scenario_of(view.case.id)
    calls = view.flight_calls
    return [] if scenario is None or not calls else [_Played(calls[-1].index, None, scenario, view)]


@clause(
    "flight-scenario.answers-as-expected",
    over=_played,
    source=INTEGRATION_SCENARIOS,
    profiles=FLIGHT,
    role=Role.APPLICATION,
    breaks="the integration tests of Arrow's libraries, which fail against this server",
)
def answers_as_expected(played: _Played) -> Iterator[Violation]:
    """The server of a scenario answers each call of a client of this scenario with the statuses and values that it
    expects.

    It is judged only for a server that is said to be one (``conformance run --scenario NAME``).
    """
    for call in played.view.flight_calls:
        if call.answered and call.raw.status not in call.expected_codes:
            wanted = call.expected_codes[0] if len(call.expected_codes) == 1 else "another status than OK"
            said = f"{call.raw.status} {call.raw.details}".strip()
            yield Violation(wanted, f"{call.raw.method}: {said}", call=call.index)
    if played.view.exchange.stopped:
        return
    for skipped in played.view.exchange.skipped_steps:
        yield Violation("answers on which every step can rest", f"step {skipped} has nothing to ask for")
    for unlike in played.scenario.check(Answers(played.view.exchange.calls)):
        yield Violation(unlike.required, unlike.observed, call=unlike.call)
