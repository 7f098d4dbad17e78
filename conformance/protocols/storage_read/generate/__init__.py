"""Generation of cases of the Storage Read API: which steps fit each other, and scenarios of its servers."""

from typing import Final

from conformance.generate.choices import Choices
from conformance.generate.plugin import GeneratePlugin
from conformance.generate.requests import draw_steps
from conformance.generate.scenarios import CHAPTER, SCENARIO, draw_scenario
from conformance.protocols.storage_read.generate.simpler import simpler
from conformance.protocols.storage_read.generate.steps import check_steps
from conformance.records import Case, Table


def _draw(choices: Choices, table: Table, case_id: str) -> Case:
    return Case(case_id, "A drawn table comes back with its own schema and values", table, draw_steps(choices, table))


PLUGIN: Final = GeneratePlugin(
    run_profile="server",
    check=check_steps,
    scenario_word=SCENARIO,
    scenario_chapter=CHAPTER,
    draw_scenario=draw_scenario,
    draw=_draw,
    simpler=simpler,
    proven_scenarios=50,  # those of a default run
)
