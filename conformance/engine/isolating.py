"""Draw cases for the purpose of telling which options of a failing case its failure takes.

The cases of a run seldom tell two options apart that always came together. So the smallest case of each of the first
causes is put to the target again with one option less at a time: an option without which nothing fails is needed, any
other is left out from then on. In the end each needed option is left out once more, of the needed ones alone. Where
such a case fails otherwise or shows nothing, another case of the cause is tried. These cases are no part of the
verdicts; what they told is an event of the log, so that every report agrees.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from conformance.contract.view import View
from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.causes import Cause, causes
from conformance.engine.events import CaseJudged, CauseIsolated, RunStarted, SuiteBroke
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.plugin import CaseOptions, EnginePlugin
from conformance.engine.result import fold
from conformance.protocol import plugin
from conformance.records import Case, Outcome

__all__ = ["CAUSES", "KEPT", "TRIES", "Isolator", "isolate"]

CAUSES: Final = 3
"""The causes of a run for which cases are drawn: those that the first screen shows in full."""
CASES: Final = 3
"""The most cases of a cause that are tried in turn, until one tells its options apart."""
TRIES: Final = 12
"""The most cases that are drawn for one case of a cause."""
KEPT: Final = 200
"""The failing cases of a run that are kept for this: causes are known long before a campaign of millions ends."""
LARGEST: Final = 64 << 20
"""The most bytes of a case that is tried: those of any lawful case, and each try costs as much again."""

_ISOLATED: Final = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.REFUSED})
"""The outcomes of causes that are isolated. A hang is not: each try would cost its deadline."""
_CLEAN: Final = frozenset({Outcome.PASS, Outcome.UNTESTABLE, Outcome.UNSUPPORTED, Outcome.UNEXPECTED_PASS})


Fails = Callable[[Case], bool | None]
"""True if a case fails as the cause does, False if nothing fails on it, None if neither can be said."""


class _Unclear(Exception):  # noqa: N818  # it ends a search, and nobody reports it
    """A drawn case failed otherwise, or there are no tries left: nothing is said."""


def isolate(case: Case, fails: Fails, *, most: int = TRIES) -> tuple[tuple[str, ...], tuple[str, ...], int] | None:
    """The options that the failure takes, other options without which it fails too, and the number of cases drawn.

    Every option that is named was tried both ways: with the needed ones alone the case fails, and without any one of
    them it does not. If there are two, neither alone fails. An option that the failing case still has, because it is
    part of a request that has to be refused or comes with another option, is not named as left out.

    None if there is nothing to name, or if one of the cases decides nothing.
    """
    options = _options(case)
    present = [] if options is None else options.present(case)
    if options is None or len(present) < 2:
        return None
    tried: dict[frozenset[str], bool] = {}

    def still(kept: Sequence[str]) -> bool:
        names = frozenset(kept)
        if names not in tried:
            drawn = options.without(case, [one for one in present if one not in names])
            found = fails(drawn) if drawn is not None and len(tried) < most else None
            if found is None:
                raise _Unclear
            tried[names] = found
        return tried[names]

    try:
        needed = list(present)
        if not still(needed):
            return None
        for option in present:
            rest = [one for one in needed if one != option]
            if still(rest):
                needed = rest
        if any(still([one for one in needed if one != option]) for option in needed):
            return None
    except _Unclear:
        return None
    smallest = options.without(case, [one for one in present if one not in needed])
    assert smallest is not None, "the search ended on a case that fails"
    others = tuple(one for one in present if one not in options.left(smallest))
    return (tuple(needed), others, len(tried)) if needed or others else None


def _options(case: Case) -> CaseOptions | None:
    return plugin(EnginePlugin, case.protocol).options


def _clauses_of(cause: Cause) -> frozenset[str]:
    """The clauses that fail because of a cause."""
    return frozenset({WHOLE_CASE, *(clause for part in (*cause.own, *cause.echoes) for clause in part.clauses)})


class Isolator:
    """Remembers the failing cases of a run, and isolates its first causes at the end."""

    def __init__(self, start: RunStarted, step: CaseStep) -> None:
        self._start = start
        self._step = step
        self._cases: dict[str, Case] = {}
        self._judged: list[CaseJudged] = []

    def note(self, case: Case, judged: CaseJudged) -> None:
        """Remember a case on which something failed."""
        failed = judged.attempt == 1 and any(one.outcome.fails_run for one in judged.verdicts)
        if failed and judged.received <= LARGEST and len(self._judged) < KEPT and _options(case) is not None:
            self._cases[case.id] = case
            self._judged.append(judged)

    def events(self) -> Iterator[CauseIsolated | SuiteBroke]:
        """Draw cases for the first causes, and say what they told."""
        if not self._judged:
            return
        found = causes(fold([self._start, *self._judged]))[:CAUSES]
        for cause in (one for one in found if one.outcome in _ISOLATED):
            for case_id in self._candidates(cause):
                try:
                    told = isolate(self._cases[case_id], _Trials(self._step, _clauses_of(cause)).fails)
                except Exception as error:  # noqa: BLE001  # isolating is a convenience; the verdicts are valid without it
                    yield SuiteBroke(case_id, "".join(traceback.format_exception(error)))
                    break
                if told is not None:
                    needed, others, tries = told
                    yield CauseIsolated(case_id, cause.clause, needed, others, tries)
                    break

    def _candidates(self, cause: Cause) -> list[str]:
        """The cases of a cause to try in turn: the smallest, then those with the fewest options to tell apart."""
        showing = {case_id for part in cause.own if cause.clause in part.clauses for case_id in part.cases}
        counted = {one: self._count(self._cases[one]) for one in cause.cases if one in showing}
        told_apart = sorted((one for one, count in counted.items() if count >= 2), key=counted.__getitem__)
        return sorted(told_apart, key=lambda one: one != cause.smallest)[:CASES]

    def _count(self, case: Case) -> int:
        options = _options(case)
        return 0 if options is None else len(options.present(case))


class _Asked(NamedTuple):
    """What a case asked of a target: the steps that it did not make, and the streams of each session by its step."""

    skipped: frozenset[object]
    streams: Mapping[object, int]

    def is_as_much_as(self, other: _Asked) -> bool:
        """True if a case made every step that the other made, and none of its sessions has more streams, because the
        rows of these would be fewer.
        """
        return self.skipped <= other.skipped and all(
            step in self.streams and self.streams[step] <= count for step, count in other.streams.items()
        )


class _Trials:
    """Puts cases to a target, each with fewer options than the last one that failed, and tells whether they fail as a
    cause does.
    """

    def __init__(self, step: CaseStep, clauses: frozenset[str]) -> None:
        self._step = step
        self._clauses = clauses
        self._failed: _Asked | None = None

    def fails(self, case: Case) -> bool | None:
        """As :data:`Fails` says. A case on which nothing fails tells something only if it asked as much of the target
        as the last one that failed.
        """
        work = self._step.take(CaseWork(case))
        if work.error is not None or work.view is None or work.view.exchange.untestable:
            return None
        verdicts, asked = self._step.verdicts(work), _asked(work.view)
        stopped = bool(work.view.exchange.stopped)
        work.release()
        if any(one.outcome in _ISOLATED for one in verdicts if one.clause in self._clauses):
            self._failed = asked
            return True
        clean = not stopped and all(one.outcome in _CLEAN for one in verdicts)
        return False if clean and (self._failed is None or asked.is_as_much_as(self._failed)) else None


def _asked(view: View) -> _Asked:
    options = _options(view.case)
    # What tells each step of a case from the others, in the cases with fewer options too.
    places = range(len(view.case.steps)) if options is None else options.places(view.case)
    return _Asked(
        frozenset(places[step] for step in view.exchange.skipped_steps),
        {places[step]: count for step, count in view.stream_counts().items()},
    )
