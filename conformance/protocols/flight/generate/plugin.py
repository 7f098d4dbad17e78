"""Generation of cases of Arrow Flight: which steps fit each other, and histories of several clients."""

from typing import Final

from conformance.generate.choices import Choices
from conformance.generate.plugin import GeneratePlugin
from conformance.generate.profile import BLOCKS, FLEXIBLE_NAMES, KEYWORD_NAMES, PLAIN_NAMES, Profile
from conformance.protocols.flight.generate.drawing import draw_flight_steps
from conformance.protocols.flight.generate.histories import HISTORY, draw_history
from conformance.protocols.flight.generate.simpler import simpler
from conformance.protocols.flight.generate.steps import check_steps
from conformance.protocols.flight.records import FlightSqlStep
from conformance.records import BqType, Case, Table


def _draw(choices: Choices, table: Table, case_id: str) -> Case:
    title = "A drawn table that a Flight server accepts comes back"
    return Case(case_id, title, table, draw_flight_steps(choices), protocol="flight")


_NOT_IN_ARROW: Final = (BqType.RECORD, BqType.BIGNUMERIC)
"""Not drawn as leaves: some values of a BIGNUMERIC have more digits than a decimal of Arrow may have."""

_PROFILE: Final = Profile(
    # Flight servers take every table as Arrow. Texts are dictionary-encoded in some ways of writing.
    types=(*(kind for kind in BqType if kind not in _NOT_IN_ARROW), *(BqType.STRING, BqType.INT64) * 4),
    names=PLAIN_NAMES * 2 + KEYWORD_NAMES + FLEXIBLE_NAMES,
    rows=(0, 1, 2, 3, 7, 8, 9, 10, 31, *BLOCKS, 1000),
    depth=4,
    leaves=12,
    requests=True,
    protocol="flight",
)

PLUGIN: Final = GeneratePlugin(
    run_profile="flight",
    profile=_PROFILE,
    check=check_steps,
    scenario_word=HISTORY,
    scenario_chapter=HISTORY,
    draw_scenario=draw_history,
    draw=_draw,
    simpler=simpler,
    names_rows=lambda case: any(isinstance(step, FlightSqlStep) for step in case.steps),
    proven_scenarios=23,  # so many have every pair of features
)
