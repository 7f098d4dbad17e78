"""Generation of cases of the Storage Read API: which steps fit each other, and scenarios of its servers."""

from typing import Final

from conformance.generate.plugin import GeneratePlugin
from conformance.generate.scenarios import CHAPTER, SCENARIO, draw_scenario
from conformance.protocols.storage_read.generate.steps import check_steps

PLUGIN: Final = GeneratePlugin(
    run_profile="server",
    check=check_steps,
    scenario_word=SCENARIO,
    scenario_chapter=CHAPTER,
    draw_scenario=draw_scenario,
    proven_scenarios=50,  # those of a default run
)
