"""The loop of readers, writers and clients: shards, attempts, expected failures, and an early end."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.disk.files import data_file
from conformance.engine import reading, writing
from conformance.engine.answerers import Chosen, Putting, answerer_events
from conformance.engine.corpus import load_corpus
from conformance.engine.events import CaseJudged, Event, RunEnded, RunStarted
from conformance.engine.merge import merge
from conformance.engine.result import Result, fold
from conformance.engine.selection import NO_ROW, OTHER_SHARD
from conformance.engine.shards import Shard
from conformance.engine.smoke import SMOKE
from conformance.generate.vectors import VectorSet
from conformance.records import Finding, Outcome, Verdict
from conformance.targets.spec import ExpectedFailure
from tests.engine.samples import started

load_chapters()
CLAUSE = next(iter(CLAUSES))
NAMES = tuple(f"input.{number:02}" for number in range(40))


class Fake:
    """A subject that fails some inputs, and gives rows for those that it does not ``lose``."""

    def __init__(self, *, failing: tuple[str, ...] = (), lost: tuple[str, ...] = (), whole: bool = True) -> None:
        self.whole = whole
        self.failing = failing
        self.lost = lost
        self.asked: list[str] = []

    def started(self) -> RunStarted:
        """Of all inputs."""
        return dataclasses.replace(
            started(), cases=NAMES, clauses=(CLAUSE,), all_cases=len(NAMES), expectations=(), left_out=(), generated=0
        )

    def plain(self) -> Iterable[str]:
        """The last four."""
        return NAMES[-4:]

    def judged(self, chosen: Chosen) -> Iterator[CaseJudged]:
        """Each chosen input, in order."""
        for name in filter(chosen, NAMES):
            self.asked.append(name)
            verdict = Verdict(name, CLAUSE, Outcome.PASS)
            if name in self.failing:
                finding = Finding(CLAUSE, "a row", "none")
                verdict = Verdict(name, CLAUSE, Outcome.FAIL, (finding,))
            yield CaseJudged(name, name, name, (verdict,), received=0 if name in self.lost else 1)

    def remarks(self) -> Iterable[str]:
        """How often it was asked."""
        return [f"{len(self.asked)} asked"]


def result(subject: Fake, **how: object) -> Result:
    """What a run of the subject comes to."""
    return fold(answerer_events(subject, Putting(**how)))  # type: ignore[arg-type]


def test_each_input_is_put_once_after_three_plain_ones() -> None:
    """The plain inputs are put before the others, and judged in their place."""
    subject = Fake()
    events = list(answerer_events(subject, Putting()))

    assert subject.asked == [*NAMES[-4:-1], *NAMES]
    assert [event.case_id for event in events if isinstance(event, CaseJudged)] == [*NAMES]
    assert isinstance(events[-1], RunEnded)
    assert events[-1].remarks == ("43 asked",)


def test_a_subject_without_rows_ends_early() -> None:
    """Nothing but the plain inputs is put, the others are left out with the reason, and the run is incomplete."""
    subject = Fake(lost=NAMES)
    found = result(subject)

    assert subject.asked == [*NAMES[-4:-1]]
    assert not found.complete
    left = {one.id: one.reason for one in found.start.left_out}
    assert set(left) == {*NAMES} - {*NAMES[-4:-1]}
    assert all(reason.startswith(NO_ROW) for reason in left.values())


@pytest.mark.parametrize(("lost", "smoke"), [(NAMES[-4:-2], True), (NAMES, False)])
def test_one_row_is_enough_and_the_phase_can_be_left_out(lost: tuple[str, ...], smoke: bool) -> None:  # noqa: FBT001
    """A subject that gives rows for one of the plain inputs is put all others."""
    found = result(Fake(lost=lost), smoke=smoke)

    assert found.complete
    assert len(found.verdicts) == len(NAMES)


def test_shards_are_disjoint_and_merge_to_the_whole() -> None:
    """Each input is put in one of three shards, and the report of all three is that of an unsharded run."""
    failing = NAMES[3:9]
    logs: list[list[Event]] = []
    for index in (1, 2, 3):
        subject = Fake(failing=failing)
        logs.append([*answerer_events(subject, Putting(Shard(index, 3), smoke=False))])
        reasons = {one.reason for one in fold(logs[-1]).start.left_out}
        assert reasons == {OTHER_SHARD}
        assert set(subject.asked) == set(fold(logs[-1]).start.cases)

    merged, whole = fold(merge(logs)), result(Fake(failing=failing), smoke=False)
    assert merged.deviations == whole.deviations
    assert merged.verdicts == whole.verdicts
    assert merged.start.cases == whole.start.cases


def test_the_plain_inputs_of_each_kind_exist() -> None:
    """A name that no input has would end no run early, and nobody would notice."""
    vectors = VectorSet.load(data_file("golden") / "ipc").vectors
    written = {
        f"{kind}.{name}" for name in reading._PLAIN for kind in ("stream", "file")
    }  # the table is what is tested

    assert written <= vectors.keys()
    assert set(writing._PLAIN) <= set(writing.sample_ids())
    assert set(SMOKE) <= load_corpus().keys()


def test_attempts_are_counted() -> None:
    """Each input is put three times, and a failure of all three is not one that occurs sometimes."""
    (found,) = result(Fake(failing=NAMES[:1]), repeat=3, smoke=False).failed

    assert (found.occurred, found.attempts) == (3, 3)


def test_an_expected_failure_is_excused_and_a_pass_is_not() -> None:
    """An entry excuses the failure that it names; one whose failure did not occur is reported."""
    reason = result(Fake(failing=NAMES[:1]), smoke=False).failed[0].reason
    known = (ExpectedFailure(CLAUSE, reason, NAMES[0]), ExpectedFailure(CLAUSE, reason, NAMES[1]))

    found = result(Fake(failing=NAMES[:1]), expectations=known, smoke=False)

    passed = [one.case_id for one in found.verdicts if one.outcome is Outcome.UNEXPECTED_PASS]
    assert passed == [NAMES[1]]
    assert found.failed == []
    assert [one.cases for one in found.listed(Outcome.EXPECTED_FAIL)] == [(NAMES[0],)]


def test_a_part_decides_no_expected_failure() -> None:
    """An entry whose failure did not occur among the selected inputs is neither stale nor an unexpected pass."""
    known = (ExpectedFailure(CLAUSE, "fail: what no input shows"), ExpectedFailure(CLAUSE, "fail: neither", "other.*"))

    found = result(Fake(whole=False), expectations=known, smoke=False)

    assert not found.fails
    assert result(Fake(), expectations=known, smoke=False).fails
