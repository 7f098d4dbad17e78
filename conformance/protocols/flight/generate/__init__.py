"""Generation of cases of Arrow Flight: which steps fit each other, and histories of several clients."""

from typing import Final

from conformance.generate.flighthistories import HISTORY, draw_history
from conformance.generate.plugin import GeneratePlugin
from conformance.protocols.flight.generate.steps import check_steps

PLUGIN: Final = GeneratePlugin(
    run_profile="flight",
    check=check_steps,
    scenario_word=HISTORY,
    scenario_chapter=HISTORY,
    draw_scenario=draw_history,
    proven_scenarios=23,  # so many have every pair of features
)
