"""Cases from their indices to their rows, several of them side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from conformance.campaign import guidance, phases
from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.done import Done
from conformance.campaign.guidance import Weights
from conformance.campaign.phases import SIDE_BY_SIDE, Stepper
from conformance.contract.offers import asked, optional
from conformance.engine.casestep import Driver
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import Case, Exchange, Outcome
from conformance.targets import TargetError, open_target
from tests.campaign.jobs import TIMES, job


class Recording:
    """A target that is asked through it; it notes the cases, and breaks on those of one index."""

    def __init__(self, target: Driver, breaks: str = "") -> None:
        self._target = target
        self._breaks = breaks
        self.remarks: tuple[str, ...] = ()
        self.driven: list[str] = []

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """As the target does."""
        self.driven.append(case.id)
        if case.id == self._breaks:
            raise TargetError("broken")
        return self._target.drive(case, table)


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Driver]:
    """A serializer with findings."""
    with open_target(job(tmp_path).spec, alone=True) as opened:
        yield opened


def stepper(directory: Path, driver: Driver) -> Stepper:
    """A stepper of the serializer's job."""
    return Stepper(job(directory, family=8), driver, weights=None, mark=lambda index, what: None)


def reported(done: Done) -> tuple[object, ...]:
    """Everything but times."""
    judged: dict[str, Any] = {name: value for name, value in done.judge.items() if name not in TIMES}
    return done.plan, judged, done.verdicts, done.readings


def test_cases_side_by_side_come_to_what_they_come_to_alone(tmp_path: Path, target: Driver) -> None:
    """In the same order, failing ones among them."""
    together = list(stepper(tmp_path, target).steps(range(SIDE_BY_SIDE), ended={}))
    alone = [stepper(tmp_path, target).step(index, ended={}) for index in range(SIDE_BY_SIDE)]

    assert [reported(done) for done in together] == [reported(done) for done in alone]
    assert {done.judge["outcome"] for done in together} >= {"pass", "fail"}


@pytest.mark.parametrize(("limit", "value"), [("BRISK", -1.0), ("LARGE", -1)])
def test_slow_or_large_cases_are_finished_one_by_one(
    tmp_path: Path, target: Driver, monkeypatch: pytest.MonkeyPatch, limit: str, value: float
) -> None:
    """No case waits for those behind it."""
    monkeypatch.setattr(phases, limit, value)
    driver = Recording(target)
    rows = stepper(tmp_path, driver).steps(range(4), ended={})

    first = next(rows)

    assert driver.driven == [first.judge["case_id"]]
    assert [done.judge["index"] for done in rows] == [1, 2, 3]


def test_a_target_that_breaks_costs_one_case(tmp_path: Path, target: Driver) -> None:
    """The other cases are judged."""
    undisturbed = [done.judge for done in stepper(tmp_path, target).steps(range(6), ended={})]
    driver = Recording(target, breaks=undisturbed[2]["case_id"])

    rows = [done.judge for done in stepper(tmp_path, driver).steps(range(6), ended={})]

    assert rows[2]["outcome"] == Outcome.CRASH
    assert [row["outcome"] for row in rows[:2] + rows[3:]] == [
        row["outcome"] for row in undisturbed[:2] + undisturbed[3:]
    ]


def test_a_case_of_a_profile_that_is_not_offered_is_not_driven(tmp_path: Path, target: Driver) -> None:
    """It is unsupported, as in a run."""
    served = job(tmp_path, profile="server")
    lacking = dataclasses.replace(served.spec, not_offered=tuple(optional(DEFAULT_PROTOCOL)))
    partial = dataclasses.replace(served, spec=lacking)
    cases = [guidance.draw(partial, index, None) for index in range(SIDE_BY_SIDE)]
    plain = [case.id for case in cases if not asked(case)]
    driver = Recording(target)

    rows = list(Stepper(partial, driver, weights=None, mark=lambda *_: None).steps(range(SIDE_BY_SIDE), ended={}))

    kept_back = [row.judge["case_id"] for row in rows if row.judge["outcome"] == Outcome.UNSUPPORTED]
    assert driver.driven == plain
    assert kept_back == [case.id for case in cases if case.id not in plain] != []


def test_a_case_that_cannot_be_drawn_costs_itself(
    tmp_path: Path, target: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with an error of the suite and is not put to the target; the others are judged."""
    draw = guidance.draw

    def broken(job: CampaignJob, index: int, weights: Weights | None) -> Case:
        if index == 1:
            raise IndexError("pop from empty list")
        return draw(job, index, weights)

    monkeypatch.setattr(guidance, "draw", broken)
    driver = Recording(target)

    rows = list(stepper(tmp_path, driver).steps(range(3), ended={}))

    assert [row.judge["outcome"] == Outcome.ERROR for row in rows] == [False, True, False]
    assert [row.judge["case_id"] for row in rows if row.judge["index"] != 1] == driver.driven
    assert "IndexError: pop from empty list" in rows[1].verdicts[0]["reason"]


def test_a_case_that_was_stopped_covers_nothing(
    tmp_path: Path, target: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row says so, so that a comparison leaves it out."""
    drive = Recording.drive

    def stopping(driver: Recording, case: Case, table: pa.Table) -> Exchange:
        made = drive(driver, case, table)
        return dataclasses.replace(made, stopped="no time") if len(driver.driven) == 1 else made

    monkeypatch.setattr(Recording, "drive", stopping)
    first, second = stepper(tmp_path, Recording(target)).steps(range(2), ended={})

    assert (first.judge["stopped"], first.plan["covers"]) == (True, [])
    assert not second.judge["stopped"]
    assert second.plan["covers"]
