"""Generation of cases of the Storage Read API: which steps fit each other, and scenarios of its servers."""

from collections.abc import Collection
from typing import Final

from conformance.generate.choices import Choices
from conformance.generate.factors import Meeting
from conformance.generate.plugin import GeneratePlugin
from conformance.generate.profile import BLOCKS, KEYWORD_NAMES, PLAIN_NAMES, Profile
from conformance.protocols.storage_read.generate.avroform import in_avro
from conformance.protocols.storage_read.generate.combinations import meetings
from conformance.protocols.storage_read.generate.dialects import draw_restricted_case
from conformance.protocols.storage_read.generate.factors import FACTORS, IMPOSSIBLE
from conformance.protocols.storage_read.generate.queries import draw_query_case
from conformance.protocols.storage_read.generate.requests import draw_steps
from conformance.protocols.storage_read.generate.scenarios import CHAPTER, SCENARIO, draw_scenario, is_scenario
from conformance.protocols.storage_read.generate.simpler import simpler
from conformance.protocols.storage_read.generate.steps import check_steps
from conformance.records import BqType, Case, ChangeColumns, Table


def _draw(choices: Choices, table: Table, case_id: str) -> Case:
    return Case(case_id, "A drawn table comes back with its own schema and values", table, draw_steps(choices, table))


_RESTRICTED: Final = 4
"""One in this many cases of a server has restrictions that tell dialects of SQL apart, so that 50 cases tell all."""
_QUERIED: Final = 8
"""One in this many is a query, on a server that declares query results."""


def _special(seed: int, index: int, case_id: str) -> Case | None:
    if index % _QUERIED == _QUERIED - 3:
        return draw_query_case(seed, index, case_id=case_id)
    if index % _RESTRICTED != _RESTRICTED - 1:
        return None
    return draw_restricted_case(seed, index // _RESTRICTED, case_id=case_id)


def _meetings(case: Case, skipped: Collection[int]) -> tuple[Meeting, ...]:
    return meetings(case, skipped) if is_scenario(case) else ()


_PROFILE: Final = Profile(
    # Mostly common types: a case with a type that a target cannot be seeded with shows nothing else.
    types=(BqType.INT64, BqType.STRING, BqType.FLOAT64, BqType.BOOL, BqType.DATE, BqType.TIMESTAMP) * 3
    + (BqType.NUMERIC, BqType.BYTES, BqType.DATETIME, BqType.TIME) * 2
    + (BqType.BIGNUMERIC, BqType.JSON, BqType.GEOGRAPHY, BqType.INTERVAL, BqType.RANGE),
    names=PLAIN_NAMES * 3 + KEYWORD_NAMES,
    rows=(0, 1, 2, 3, 7, 8, 9, 10, 31, *BLOCKS, 1000),
    depth=4,
    leaves=12,
    requests=True,
)

PLUGIN: Final = GeneratePlugin(
    run_profile="server",
    profile=_PROFILE,
    check=check_steps,
    scenario_word=SCENARIO,
    scenario_chapter=CHAPTER,
    draw_scenario=draw_scenario,
    draw=_draw,
    simpler=simpler,
    names_rows=lambda case: any(isinstance(step, ChangeColumns) for step in case.steps),
    draw_special=_special,
    factors=FACTORS,
    impossible=IMPOSSIBLE,
    meetings=_meetings,
    forms={"avro": in_avro},
    proven_scenarios=50,  # those of a default run
)
