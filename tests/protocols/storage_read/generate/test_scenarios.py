"""Scenarios follow from seed and index alone, fit their parts, and cover every pair of features."""

from __future__ import annotations

import functools
import pickle

import pytest

from conformance.contract.offers import asked, optional
from conformance.generate import draw_scenario, scenario_id, shrink
from conformance.generate.casecheck import check_case
from conformance.generate.factors import block, covered, wanted_of
from conformance.generate.materialise import materialise
from conformance.generate.weight import weight
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.protocols.storage_read.generate.combinations import meetings
from conformance.protocols.storage_read.generate.factors import FACTORS, IMPOSSIBLE
from conformance.protocols.storage_read.generate.scenarios import HEAVIEST, SCENARIO, is_scenario, parse_scenario_id
from conformance.records import (
    AppendRows,
    Case,
    CreateSession,
    FaultKind,
    Meanwhile,
    ReadRows,
    SplitStream,
    from_json,
    to_json,
)


@functools.cache
def some() -> list[Case]:
    """Drawn scenarios, when a test first asks for them."""
    return [draw_scenario(3, index) for index in range(200)]


def test_a_scenario_follows_from_seed_and_index() -> None:
    """The order of draws does not matter, another seed gives others, and a scenario survives pickle and JSON."""
    assert [draw_scenario(3, index) for index in (150, 7)] == [some()[150], some()[7]]
    assert draw_scenario(4, 7) != some()[7]
    assert pickle.loads(pickle.dumps(some()[7])) == some()[7]  # our own bytes
    assert from_json(Case, to_json(some()[7])) == some()[7]


def test_an_id_is_enough_to_draw_a_scenario_again() -> None:
    """The id holds seed and index; other ids are no scenarios."""
    assert parse_scenario_id(some()[7].id) == (3, 7)
    assert some()[7].id == scenario_id(3, 7)
    assert parse_scenario_id("generated.server.s0.i7") is None


def test_the_parts_of_a_scenario_fit_each_other() -> None:
    """Every scenario passes the check of case files, names its clauses, and reads its session."""
    for case in some():
        check_case(case)
        assert is_scenario(case)
        assert isinstance(next(step for step in case.steps if not isinstance(step, AppendRows)), CreateSession)
        assert any(isinstance(step, ReadRows) for step in case.steps)


def test_a_split_names_a_stream_that_its_session_has() -> None:
    """A session that asks for one stream has no second one, and its split would show nothing."""
    asked = set()
    for case in some():
        session, *later = (step for step in case.steps if not isinstance(step, AppendRows | Meanwhile))
        assert isinstance(session, CreateSession)
        of_session = {step.stream for step in later if isinstance(step, SplitStream) and step.session == session.label}
        if session.max_stream_count == 1:
            assert "1" not in of_session
        asked |= of_session
    assert {"0", "1"} <= asked


def test_a_block_of_scenarios_has_every_pair() -> None:
    """A default run has more scenarios than a block; so it covers every pair of values, whatever the seed."""
    assert block(FACTORS) <= 50
    for seed in range(8):
        first = seed * block(FACTORS)
        met = [
            meeting
            for index in range(first, first + block(FACTORS))
            for meeting in meetings(draw_scenario(seed, index))
        ]
        assert covered(met, FACTORS, IMPOSSIBLE, 2).missing == ()


@pytest.mark.parametrize(("seed", "index"), [(0, 55), (1, 18), (1, 58), (2, 79), (5, 10)])
def test_the_main_session_has_the_value_of_each_factor(seed: int, index: int) -> None:
    """Also where an append, or a restriction that is hard to draw, could give it another one."""
    wanted = wanted_of(seed, index, FACTORS, SCENARIO)

    assert {f"{name}={value}" for name, value in wanted.items()} <= set(meetings(draw_scenario(seed, index))[0])


@pytest.mark.slow(env="thorough")
def test_a_thousand_scenarios_have_every_triple() -> None:
    """Blocks differ, so that many of them cover every triple too."""
    met = [meeting for index in range(1000) for meeting in meetings(draw_scenario(0, index))]

    assert covered(met, FACTORS, IMPOSSIBLE, 3).missing == ()


def test_a_skipped_step_covers_nothing() -> None:
    """A split that was not made meets nothing, and the coverage names what is missing."""
    case = next(case for case in some() if any(isinstance(step, SplitStream) for step in case.steps))
    splits = [index for index, step in enumerate(case.steps) if isinstance(step, SplitStream)]

    assert "split=none" not in meetings(case)[0]
    assert "split=none" in meetings(case, splits)[0]
    assert covered([], FACTORS, IMPOSSIBLE, 2).missing[0] == "restriction=none & offset=start"


@pytest.mark.parametrize("profile", optional(DEFAULT_PROTOCOL))
def test_a_target_is_asked_for_nothing_that_it_does_not_offer(profile: str) -> None:
    """A scenario leaves out what a target lacks; it is not left out itself."""
    cases = [draw_scenario(3, index, not_offered=(profile,)) for index in range(60)]

    assert any(profile in asked(case) for case in some()[:60])
    assert not any(profile in asked(case) for case in cases)


def test_a_scenario_shrinks_to_the_steps_that_fail() -> None:
    """What remains is the shortest history with the failing combination, over few rows."""
    case = next(
        case for case in some() if "restriction=some" in meetings(case)[0] and "concurrency=handed" in meetings(case)[0]
    )

    def fails(candidate: Case) -> bool:
        sessions = {step.label for step in candidate.steps if isinstance(step, CreateSession) and step.row_restriction}
        return any(isinstance(step, ReadRows) and step.handed and step.session in sessions for step in candidate.steps)

    small = shrink(case, fails, budget=200)

    assert [type(step) for step in small.steps if not isinstance(step, AppendRows)] == [CreateSession, ReadRows]
    assert len(small.table.rows or ()) <= 1


def test_some_scenarios_have_a_session_that_is_alike_but_for_one_field() -> None:
    """It is made after the main one, is read, and its rows are the same if they are named at all."""
    found = [
        case for case in some() if any(isinstance(step, CreateSession) and step.label == "n" for step in case.steps)
    ]

    assert 30 < len(found) < 70
    for case in found:
        sessions = {step.label: step for step in case.steps if isinstance(step, CreateSession)}
        main, alike = (to_json(sessions[label]) for label in "sn")
        assert len({key for key in main.keys() | alike.keys() if main.get(key) != alike.get(key)} - {"label"}) <= 1
        order = [step.label for step in case.steps if isinstance(step, CreateSession)]
        assert order.index("s") < order.index("n")
        assert ReadRows(session="n") in case.steps


def test_some_scenarios_end_with_a_table_made_again() -> None:
    """A session with an earlier one's options follows, and every read of an earlier session may be refused."""
    again = [case for case in some() if _made_again(case)]
    for case in again:
        for place in _made_again(case):
            before = [step for step in case.steps[:place] if isinstance(step, CreateSession)]
            repeated = case.steps[place + 1]
            assert isinstance(repeated, CreateSession)
            assert any(repeated.row_restriction == step.row_restriction for step in before)
            earlier = {step.label for step in before}
            later = [step for step in case.steps[place:] if isinstance(step, ReadRows) and step.session in earlier]
            assert all("NOT_FOUND" in step.expect.codes for step in later)

    assert len(some()) / 8 < len(again) < len(some()) / 3


def _made_again(case: Case) -> list[int]:
    """The steps that make the table again."""
    return [index for index, step in enumerate(case.steps) if isinstance(step, AppendRows) and step.again]


def test_some_scenarios_end_with_a_restart() -> None:
    """Nothing but the table that is made again follows, so that a server that is not restarted is asked the rest; the
    names of before are handed to another process.
    """
    found = [case for case in some() if any(isinstance(step, Meanwhile) for step in case.steps)]
    for case in found:
        (place,) = (index for index, step in enumerate(case.steps) if isinstance(step, Meanwhile))
        assert place + 1 == _made_again(case)[-1]
        assert any(isinstance(step, ReadRows) and step.handed for step in case.steps[place:])

    assert len(some()) / 32 < len(found) < len(some()) / 8


def test_half_of_the_resumed_reads_are_broken_off_by_a_plan() -> None:
    """Connections break between and inside messages, calls end in a status, and some reads are broken off twice."""
    reads = [step for case in some() for step in case.steps if isinstance(step, ReadRows)]
    plans = [step.faults for step in reads if step.faults]
    faults = [fault for plan in plans for fault in plan]

    assert {fault.kind for fault in faults} == {FaultKind.RESET, FaultKind.STATUS}
    assert {fault.bytes is None for fault in faults} == {True, False}
    assert {len(plan) for plan in plans} == {1, 2}
    assert any(read.offset == "resume" for read in reads)


def test_no_scenario_has_a_heavy_table() -> None:
    """The 256th of seed 0 had 321 MB: 3,000 rows of arrays in arrays, with long values."""
    table = draw_scenario(0, 255).table

    assert table.recipe is not None
    assert weight(table.columns, table.recipe) <= 2 * HEAVIEST
    assert materialise(table).nbytes <= 2 * HEAVIEST
