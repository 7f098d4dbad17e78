"""One loop for readers, writers and clients: an implementation is asked, its answers are judged, and events come of it.

A server has a loop of its own (:mod:`conformance.engine.run`), because a case is put to it in many calls. What the user
may ask for is the same: a shard, several attempts, expected failures, and an early end if nothing comes at all.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol, TypeAlias

from conformance.engine.events import CaseJudged, Event, RunEnded, RunStarted
from conformance.engine.selection import NO_ROW, OTHER_SHARD, LeftOut
from conformance.engine.shards import Shard
from conformance.targets.spec import ExpectedFailure

__all__ = ["ONCE", "PLAIN", "Answerer", "Chosen", "Putting", "answerer_events"]

PLAIN: Final = 3
"""How many plain inputs come first. If no row comes for any of them, none would come for the others."""

NOT_SELECTED: Final = "not all inputs were selected"

Chosen: TypeAlias = Callable[[str], bool]
"""Tells by its id whether an input is put to the implementation."""


@dataclasses.dataclass(frozen=True, slots=True)
class Putting:
    """How inputs are put to an implementation; the default puts each once, and plain ones first.

    ``repeat`` is the number of attempts at each input. ``expectations`` are the failures that the owner of the
    implementation knows. With ``smoke``, the run ends early if no row comes for the first plain inputs.
    """

    shard: Shard | None = None
    repeat: int = 1
    expectations: tuple[ExpectedFailure, ...] = ()
    smoke: bool = True

    def holds(self, case_id: str) -> bool:
        """True if the shard has this input."""
        return self.shard is None or self.shard.holds(case_id)

    def started(self, start: RunStarted, *, whole: bool) -> RunStarted:
        """``start``, of all inputs, as the first event of a run that puts them in this way.

        A run of a part of what there is decides none of the expected failures: what it left out may show any of them.
        """
        elsewhere = (LeftOut("case", one, OTHER_SHARD) for one in start.cases if not self.holds(one))
        unseen = () if whole else dict.fromkeys(entry.case for entry in self.expectations)
        return dataclasses.replace(
            start,
            cases=tuple(filter(self.holds, start.cases)),
            left_out=(*start.left_out, *elsewhere, *(LeftOut("case", one, NOT_SELECTED) for one in unseen)),
            shard=str(self.shard or ""),
            repeat=self.repeat,
            expectations=self.expectations,
        )


ONCE: Final = Putting()


class Answerer(Protocol):
    """A reader, a writer or a client with what is put to it; ``whole`` if that is all that there is."""

    @property
    def whole(self) -> bool: ...  # noqa: D102  # see the class

    def started(self) -> RunStarted:
        """The first event of a run of all inputs."""

    def plain(self) -> Iterable[str]:
        """The ids of inputs for which anything that works gives rows; none if the user chose the inputs."""

    def judged(self, chosen: Chosen) -> Iterator[CaseJudged]:
        """Ask for each chosen input, in their order, and judge the answers; ``received`` counts what came."""

    def remarks(self) -> Iterable[str]:
        """What the report says in addition, known when all inputs were put."""


def answerer_events(answerer: Answerer, putting: Putting) -> Iterator[Event]:
    """Put the inputs to an implementation, judge its answers, and yield the events.

    An early end, because no row came for any plain input, leaves out all others and has no last event, so that the run
    counts as incomplete.
    """
    began = time.monotonic()
    start = putting.started(answerer.started(), whole=answerer.whole)
    plain = [one for one in start.cases if one in set(answerer.plain())][:PLAIN] if putting.smoke else []
    first = list(answerer.judged(set(plain).__contains__)) if plain else []
    if first and not any(one.received for one in first):
        names = dict.fromkeys(one.case_id for one in first)
        reason = f"{NO_ROW} {' or '.join(names)}, so they were not asked; fix this first, or go on with --no-smoke"
        left = (LeftOut("case", one, reason) for one in start.cases if one not in names)
        yield dataclasses.replace(start, cases=tuple(names), left_out=(*start.left_out, *left))
        yield from first
        return
    yield start
    for attempt in range(1, putting.repeat + 1):
        for one in answerer.judged(putting.holds):
            yield dataclasses.replace(one, attempt=attempt)
    yield RunEnded(time.monotonic() - began, tuple(answerer.remarks()))
