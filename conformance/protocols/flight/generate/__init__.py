"""Generation of cases of Arrow Flight: which steps fit each other, and histories of several clients."""

from typing import Final

from conformance.generate.choices import Choices
from conformance.generate.plugin import GeneratePlugin
from conformance.protocols.flight.generate.drawing import draw_flight_steps
from conformance.protocols.flight.generate.histories import HISTORY, draw_history
from conformance.protocols.flight.generate.simpler import simpler
from conformance.protocols.flight.generate.steps import check_steps
from conformance.records import Case, Table


def _draw(choices: Choices, table: Table, case_id: str) -> Case:
    title = "A drawn table that a Flight server accepts comes back"
    return Case(case_id, title, table, draw_flight_steps(choices), protocol="flight")


PLUGIN: Final = GeneratePlugin(
    run_profile="flight",
    check=check_steps,
    scenario_word=HISTORY,
    scenario_chapter=HISTORY,
    draw_scenario=draw_history,
    draw=_draw,
    simpler=simpler,
    proven_scenarios=23,  # so many have every pair of features
)
