"""Shards' logs put together say what the whole run says, and nothing that is not the whole run is put together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import pytest

from conformance.engine.events import CaseJudged, CounterexampleSaved, Event, RunEnded, RunStarted, SuiteBroke
from conformance.engine.merge import MergeError, merge
from conformance.engine.result import cases_of, fold
from conformance.engine.selection import OTHER_SHARD, LeftOut
from conformance.engine.shards import Shard
from conformance.generate import generated_id
from conformance.generate.forms import BASE, EVERY, form_id
from conformance.records import to_json
from conformance.report.document import document
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started

CASES = [f"case-{index}" for index in range(8)]
DRAWN = [generated_id(7, index, profile="server") for index in range(12)]
NARROWED = LeftOut("case", "other", "no --select pattern matches it")
EXCLUDED = LeftOut("case", "another", "a case that is not chosen")
ENTRY = ExpectedFailure("framing.x", "fail: # messages*", case="case-*")


def whole_run() -> list[Event]:
    """A run over corpus and generated cases, some of which fail, one of which broke the suite."""
    start = started("framing.x", "rows.x", cases=CASES, expectations=[ENTRY])
    events: list[Event] = [dataclasses.replace(start, generated=len(DRAWN), left_out=(NARROWED, EXCLUDED))]
    for at, case_id in enumerate((*CASES, *DRAWN)):
        verdict = failing(case_id, "framing.x", f"{at} messages") if at % 3 else passing(case_id, "framing.x")
        events += [SuiteBroke(case_id, "Traceback")] if at == 4 else []
        events.append(judged(case_id, verdict, passing(case_id, "rows.x")))
    reason = "fail: # messages (required: one message)"
    return [*events, CounterexampleSaved(DRAWN[11], "framing.x", reason, "small.json", 3), RunEnded(4.0, ("a remark",))]


def parts_of(events: list[Event], count: int) -> list[list[Event]]:
    """The logs that ``count`` shards of the same run would have left."""
    return [list(_part(events, Shard(index + 1, count))) for index in range(count)]


def _part(events: list[Event], shard: Shard) -> Iterable[Event]:
    start = events[0]
    assert isinstance(start, RunStarted)
    others = tuple(LeftOut("case", case_id, OTHER_SHARD) for case_id in CASES if not shard.holds(case_id))
    mine = tuple(case_id for case_id in CASES if shard.holds(case_id))
    yield dataclasses.replace(start, shard=str(shard), cases=mine, left_out=(NARROWED, EXCLUDED, *others))
    yield from (
        event for event in events if not isinstance(event, RunStarted | RunEnded) and shard.holds(event.case_id)
    )
    yield RunEnded(4.0 / shard.count, ("a remark",))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_report_on_all_shards_is_the_report_on_the_whole_run(count: int) -> None:
    """Every list and count is the same, in the same order, whichever log comes first."""
    events = whole_run()

    merged = merge(parts_of(events, count)[::-1])

    assert to_json(document(fold(merged))) == to_json(document(fold(events)))


def test_the_log_of_a_whole_run_is_itself() -> None:
    """There is nothing to put together."""
    assert merge([whole_run()]) == whole_run()


def test_a_log_that_breaks_off_makes_the_whole_incomplete() -> None:
    """Three quarters of a run are no run."""
    first, second = parts_of(whole_run(), 2)

    assert not fold(merge([first, second[:-1]])).complete


def test_forms_of_a_case_are_put_together() -> None:
    """The order is that of the run: written and drawn cases, each followed by its other form."""
    cases = [form_id(name, form) for name in ("case-1", "case-1-b") for form in (BASE, "avro")]
    every = [*cases, *(form_id(name, form) for name in DRAWN for form in (BASE, "avro"))]
    start = dataclasses.replace(started("rows.x", cases=cases), generated=len(DRAWN), form=EVERY)
    parts: list[list[Event]] = []
    for shard in (Shard(1, 2), Shard(2, 2)):
        mine = tuple(name for name in cases if shard.holds(name))
        events = [judged(name, passing(name, "rows.x")) for name in every if shard.holds(name)]
        parts.append([dataclasses.replace(start, shard=str(shard), cases=mine), *events, RunEnded(1.0)])

    whole = merge(parts)

    assert cases_of(start) == every
    assert isinstance(whole[0], RunStarted)
    assert list(whole[0].cases) == cases
    assert [event.case_id for event in whole if isinstance(event, CaseJudged)] == every


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ([0, 2], "expected the logs of all 3 shards, but 2/3 is missing"),
        ([0, 0, 1], "expected each shard once, but got 1/3 2 times"),
    ],
)
def test_what_is_not_every_shard_once_is_refused(choice: list[int], message: str) -> None:
    """A report on a part would look like one on the whole."""
    parts = parts_of(whole_run(), 3)

    with pytest.raises(MergeError) as error:
        merge([parts[index] for index in choice])

    assert str(error.value) == message


def test_shards_of_different_runs_are_refused() -> None:
    """Another seed is another run."""
    first, second = parts_of(whole_run(), 2)
    start = second[0]
    assert isinstance(start, RunStarted)
    second[0] = dataclasses.replace(start, seed=8)

    with pytest.raises(MergeError) as error:
        merge([first, second])

    assert str(error.value) == "expected the shards of one run, but seed is 7 in shard 1/2 and 8 in shard 2/2"


def test_whole_runs_are_not_put_together() -> None:
    """Two runs are two reports."""
    with pytest.raises(MergeError, match="one is of a run that was not sharded"):
        merge([whole_run(), whole_run()])


def test_a_log_without_events_is_refused() -> None:
    """It says nothing of which shard it is."""
    with pytest.raises(MergeError, match="log 2 contains no event"):
        merge([whole_run(), []])


@pytest.mark.parametrize(
    ("began", "seconds"),
    [
        (("2026-11-28T20:00:00Z", "2026-11-28T20:00:01Z"), 3.0),
        (("2026-11-28T20:00:09Z", "2026-11-28T20:00:00Z"), 4.0),
        (("", ""), 4.0),
        (("yesterday", "2026-11-28T20:00:00Z"), 4.0),
    ],
)
def test_shards_at_the_same_time_take_it_once(began: tuple[str, str], seconds: float) -> None:
    """Of two that ran one after the other, or at times that nobody knows, the seconds add up."""
    logs = parts_of(whole_run(), 2)
    for log, begin in zip(logs, began, strict=True):
        assert isinstance(log[0], RunStarted)
        log[0] = dataclasses.replace(log[0], provenance=dataclasses.replace(log[0].provenance, began=begin))

    *_, end = merge(logs)

    assert isinstance(end, RunEnded)
    assert end.seconds == seconds
