"""Merge the logs of a run's shards into the events that the unsharded run would have written, in its order."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from conformance.engine.events import (
    CaseJudged,
    CauseIsolated,
    CounterexampleSaved,
    Event,
    RunEnded,
    RunStarted,
    SuiteBroke,
)
from conformance.engine.provenance import Provenance
from conformance.engine.selection import OTHER_SHARD
from conformance.engine.shards import Shard
from conformance.generate import generated_id, scenario_id
from conformance.generate.forms import parted, place_of, wanted

__all__ = ["MergeError", "merge"]

_PER_SHARD: Final = frozenset({"cases", "left_out", "shard", "platform", "provenance"})
"""Fields in which the shards of one run may differ."""
_PER_PROCESS: Final = frozenset({"began", "command"})
"""Fields of their provenance in which they may differ."""


class MergeError(ValueError):
    """The logs are not those of all shards of one run; the message names the wrong one."""


def merge(logs: Sequence[Sequence[Event]]) -> list[Event]:
    """The events of the run whose shards wrote ``logs``, in any order; the log of an unsharded run is returned
    unchanged. Inputs of a reader, a writer or a client come in the order of their ids.

    The seconds of shards that ran at the same time count once. If one log is cut short, the result is incomplete too.

    Raises:
        MergeError: a log contains no event, a shard is missing or occurs twice, or the logs are of different runs.
    """
    starts = [_start(log, number) for number, log in enumerate(logs, 1)]
    if len(logs) == 1 and not starts[0].shard:
        return list(logs[0])
    _check_shards(starts)
    for start in starts[1:]:
        _check_same(starts[0], start)
    whole = _whole(starts)
    place = _order(whole)
    events = [
        event
        for log in logs
        for event in log
        if isinstance(event, CaseJudged | SuiteBroke | CounterexampleSaved | CauseIsolated)
    ]
    ends = [event for log in logs for event in log if isinstance(event, RunEnded)]
    return [whole, *sorted(events, key=lambda event: place(event.case_id)), *_end(starts, ends)]


def _start(log: Sequence[Event], number: int) -> RunStarted:
    if not log or not isinstance(log[0], RunStarted):
        raise MergeError(f"log {number} contains no event: that run was cut short before it began")
    return log[0]


def _check_shards(starts: Sequence[RunStarted]) -> None:
    for start in starts:
        if not start.shard:
            raise MergeError(
                "expected the logs of shards, but one is of a run that was not sharded; report on it alone"
            )
    shards = [Shard.parse(start.shard) for start in starts]
    count = shards[0].count
    for shard in shards:
        if shard.count != count:
            raise MergeError(f"expected the shards of one run, but got {shards[0]} and {shard}")
        if shards.count(shard) > 1:
            raise MergeError(f"expected each shard once, but got {shard} {shards.count(shard)} times")
    missing = [str(shard) for index in range(count) if (shard := Shard(index + 1, count)) not in shards]
    if missing:
        raise MergeError(f"expected the logs of all {count} shards, but {', '.join(missing)} is missing")


def _check_same(first: RunStarted, other: RunStarted) -> None:
    for field in dataclasses.fields(RunStarted):
        mine, theirs = getattr(first, field.name), getattr(other, field.name)
        if field.name not in _PER_SHARD and mine != theirs:
            raise MergeError(
                f"expected the shards of one run, but {field.name} is {mine!r} in shard {first.shard}"
                f" and {theirs!r} in shard {other.shard}"
            )
    for item in dataclasses.fields(Provenance):
        if item.name not in _PER_PROCESS and getattr(first.provenance, item.name) != getattr(
            other.provenance, item.name
        ):
            raise MergeError(
                f"expected the shards of one run, but provenance.{item.name} of shard {first.shard} is not that of"
                f" shard {other.shard}: judge both with one suite, one target and the same readers"
            )


def _whole(starts: Sequence[RunStarted]) -> RunStarted:
    """The first event of the merged run: the cases of every shard; only what no shard chose is left out."""
    return dataclasses.replace(
        starts[0],
        shard="",
        cases=tuple(sorted((case_id for start in starts for case_id in start.cases), key=place_of)),
        left_out=tuple(
            dict.fromkeys(left for start in starts for left in start.left_out if left.reason != OTHER_SHARD)
        ),
        platform=", ".join(sorted({start.platform for start in starts})),
        provenance=dataclasses.replace(
            starts[0].provenance,
            began=min(start.provenance.began for start in starts),
            command="; ".join(sorted({start.provenance.command for start in starts})),
        ),
    )


def _order(whole: RunStarted) -> Callable[[str], int]:
    """A function that gives a case's position in the run: corpus cases by id, then generated ones and scenarios by
    index.
    """
    places = {case_id: place for place, case_id in enumerate(whole.cases)}
    forms = wanted(whole.protocol, whole.form)
    first = len(places)
    drawn = []
    for zero, count in (
        (generated_id(whole.seed, 0, profile=whole.profile), whole.generated),
        (scenario_id(whole.seed, 0, profile=whole.profile), whole.scenarios),
    ):
        drawn.append((zero.removesuffix("0"), first, count))
        first += count * len(forms)

    def place(case_id: str) -> int:
        base, form = parted(case_id)
        for prefix, start, count in drawn:
            index = base.removeprefix(prefix)
            if index != base and index.isdecimal() and len(index) <= len(str(count)) and form in forms:
                return start + int(index) * len(forms) + forms.index(form)
        return places.get(case_id, first)

    return place


def _end(starts: Sequence[RunStarted], ends: Sequence[RunEnded]) -> Iterator[RunEnded]:
    if len(ends) == len(starts):
        remarks = dict.fromkeys(remark for end in ends for remark in end.remarks)
        yield RunEnded(_seconds(starts, ends), tuple(remarks))


def _seconds(starts: Sequence[RunStarted], ends: Sequence[RunEnded]) -> float:
    """The seconds in which at least one shard ran, as exact as the logs, which say the second in which each began; the
    sum, if a log does not say it.
    """
    try:
        began = [dt.datetime.fromisoformat(start.provenance.began).timestamp() for start in starts]
    except (ValueError, OverflowError):
        return sum(end.seconds for end in ends)
    total, until = 0.0, -math.inf
    for begin, end in sorted((begin, begin + end.seconds) for begin, end in zip(began, ends, strict=True)):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total
