"""Two runs of a target are compared before its report is published."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from conformance.engine.result import fold
from conformance.records import Verdict
from conformance.report.document import write_json
from publish.emulators import GIVEN_UP, unequal, without_cases
from tests.engine.samples import failing, passing
from tests.report.samples import result_of

STEADY = "rows.complete"
CLAUSES = (*GIVEN_UP, STEADY)


def differences(folder: Path, before: list[Verdict], after: list[Verdict], *, but: tuple[str, ...] = ()) -> list[str]:
    """The differences between two small runs; both pass :data:`STEADY` on one case."""
    files = folder / "before.json", folder / "after.json"
    for file, verdicts in zip(files, (before, after), strict=True):
        write_json(result_of(passing("a", STEADY), *verdicts, clauses=CLAUSES), file)
    return unequal(*files, but=but)


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    """Failures are no difference if both runs have them."""
    same = [failing("b", STEADY, "3 messages"), *(passing("b", clause) for clause in GIVEN_UP)]

    assert differences(tmp_path, same, same) == []


def test_a_clause_is_compared_by_its_number_of_verdicts(tmp_path: Path) -> None:
    """A clause that was judged on one case less is unequal, although it holds in both runs."""
    found = differences(tmp_path, [passing("b", STEADY)], [])

    assert found == [f"{STEADY} had the verdicts {{'pass': 2}} and has {{'pass': 1}}"]


@pytest.mark.parametrize("clause", GIVEN_UP)
@pytest.mark.parametrize("judged", [0, 1])
def test_on_how_many_calls_a_clause_on_those_given_up_is_judged_is_chance(
    clause: str, judged: int, tmp_path: Path
) -> None:
    """Neither the number of its verdicts counts, nor whether it has one."""
    verdicts = [passing("b", clause), passing("c", clause)]

    assert differences(tmp_path, verdicts, verdicts[:judged]) == []


@pytest.mark.parametrize("clause", GIVEN_UP)
def test_a_failure_of_a_clause_on_calls_given_up_counts(clause: str, tmp_path: Path) -> None:
    """A clause that fails in one of two runs is unequal, and so is its deviation."""
    found = differences(tmp_path, [passing("b", clause)], [failing("b", clause, "3 messages")])

    assert found == [
        f"{clause} was held and is failed",
        f"{clause} began to deviate by 'fail: # messages (required: one message)' on b",
    ]


def test_the_clauses_of_an_unsteady_target_are_left_out(tmp_path: Path) -> None:
    """They are named by the start of their ids."""
    failed = [failing("b", STEADY, "3 messages")]

    assert differences(tmp_path, [], failed) != []
    assert differences(tmp_path, [], failed, but=("rows.",)) == []


def test_a_case_of_chance_is_left_out_of_a_run() -> None:
    """It is neither selected nor judged."""
    result = result_of(passing("a", STEADY), failing("b", STEADY, "3 messages"), clauses=CLAUSES)
    start = dataclasses.replace(result.start, cases=("a", "b"))

    kept = fold(without_cases([start, *result.cases], ["b"]))

    assert (kept.start.cases, [case.case_id for case in kept.cases], kept.failed) == (("a",), ["a"], [])
