"""A case without some of its options is right for a correct server, or there is none."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.owed import reference_target
from conformance.engine.selection import all_clauses
from conformance.generate.scenariokinds import draw_scenario
from conformance.protocols.storage_read.engine.leftout import left, options_of, places, without
from conformance.records import AppendRows, Case, CreateSession, Expect, ReadRows, SplitStream, Table

JUDGED = ("rows", "restriction", "snapshot", "split", "offsets", "combination", "history")
TIMED = CreateSession(row_restriction="x > 1", snapshot="before-append", expect=Expect(rows=(1,)))
CASE = Case("a.b", "A restriction at an instant", Table((), rows=()), steps=(AppendRows(1), TIMED, ReadRows()))


def test_the_rows_of_a_restriction_are_known_at_its_snapshot_time_alone() -> None:
    """The rows that came later may be among those that it keeps."""
    restriction, time = options_of(CASE)

    assert without(CASE, [time]) is None
    for options in ([restriction], [restriction, time]):
        found = without(CASE, options)
        assert found is not None
        assert found.steps[1].expect == Expect()


def test_a_request_that_has_to_be_refused_keeps_its_options() -> None:
    """They may be why."""
    read = ReadRows(offset="end+1", expect=Expect(codes=("OUT_OF_RANGE",)))
    case = Case("a.b", "Beyond the end", Table((), rows=()), steps=(CreateSession(trace_id="t"), read))

    assert options_of(case) == ["trace_id"]
    assert left(case) == {"trace_id", "an offset"}


def test_without_a_split_there_are_no_children_to_read() -> None:
    """A read at the same time as a child's has nothing to be at the same time as, so there is no such case."""
    steps = (CreateSession(), SplitStream(), ReadRows(stream="x.primary"), ReadRows(stream="0"))
    case = Case("a.b", "A split", Table((), rows=()), steps=steps)
    (split,) = options_of(case)
    found = without(case, [split])
    beside = dataclasses.replace(case, steps=(*steps[:3], ReadRows(stream="0", alongside=True)))

    assert split == "a split"
    assert found is not None
    assert found.steps == (CreateSession(), ReadRows(stream="0"))
    assert without(beside, [split]) is None
    assert [places(case)[0], places(case)[3]] == places(found)


@pytest.mark.parametrize("index", [0, 2, 9, 23, 36])
def test_cases_with_one_option_less_are_right_for_the_reference(index: int) -> None:
    """A failure of a drawn case is the server's: nothing fails on the correct one."""
    case = draw_scenario(0, index)
    clauses = [one for one in all_clauses().values() if one.chapter in JUDGED]

    with reference_target() as target:
        step = CaseStep(clauses, target)
        for option in options_of(case):
            drawn = without(case, [option])
            verdicts = () if drawn is None else step.verdicts(step.take(CaseWork(drawn)))
            assert [one for one in verdicts if one.outcome.fails_run] == [], option
