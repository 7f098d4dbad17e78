"""Draw cases for the purpose of telling which options of a failing case its failure takes.

The cases of a run seldom tell two options apart that always came together. So the smallest case of each of the first
causes is put to the target again with one option less at a time: an option without which nothing fails is needed, any
other is left out from then on. If two options are needed, each is tried alone as well. Where such a case fails
otherwise, another case of the cause is tried. These cases are no part of the verdicts; what they told is an event of
the log, so that every report agrees.
"""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.causes import Cause, causes
from conformance.engine.events import CaseJudged, CauseIsolated, RunStarted, SuiteBroke
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.result import fold
from conformance.records import Case, CreateSession, Expect, Outcome, ProtocolName, ReadRows, Step

__all__ = ["CAUSES", "KEPT", "TRIES", "Isolator", "isolate"]

CAUSES: Final = 3
"""The causes of a run for which cases are drawn: those that the first screen shows in full."""
CASES: Final = 3
"""The most cases of a cause that are tried in turn, until one tells its options apart."""
TRIES: Final = 12
"""The most cases that are drawn for one case of a cause."""
KEPT: Final = 200
"""The failing cases of a run that are kept for this: causes are known long before a campaign of millions ends."""

_ISOLATED: Final = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.REFUSED})
"""The outcomes of causes that are isolated. A hang is not: each try would cost its deadline."""
_CLEAN: Final = frozenset({Outcome.PASS, Outcome.UNTESTABLE, Outcome.UNSUPPORTED, Outcome.UNEXPECTED_PASS})


class _Option(NamedTuple):
    """An option: its name in sentences, the kind of step that has it, and the fields that it is made of."""

    name: str
    step: type
    fields: tuple[str, ...]


_OPTIONS: Final = (
    _Option("snapshot_time", CreateSession, ("snapshot",)),
    _Option("row_restriction", CreateSession, ("row_restriction", "restriction_bytes")),
    _Option("selected_fields", CreateSession, ("selected_fields",)),
    _Option("buffer_compression", CreateSession, ("buffer_compression",)),
    _Option("response_compression", CreateSession, ("response_compression",)),
    _Option("sample_percentage", CreateSession, ("sample_percentage",)),
    _Option("max_stream_count", CreateSession, ("max_stream_count",)),
    _Option("preferred_min_stream_count", CreateSession, ("preferred_min_stream_count",)),
    _Option("trace_id", CreateSession, ("trace_id",)),
    _Option("the parent of another project", CreateSession, ("parent",)),
    _Option("an offset", ReadRows, ("offset",)),
    _Option("an abandoned read", ReadRows, ("take",)),
    _Option("a fault on the way", ReadRows, ("faults",)),
    _Option("reads at the same time", ReadRows, ("times", "together", "alongside", "handed")),
)

Fails = Callable[[Case], bool | None]
"""True if a case fails as the cause does, False if nothing fails on it, None if neither can be said."""


class _Unclear(Exception):  # noqa: N818  # it ends a search, and nobody reports it
    """A drawn case failed otherwise, or there are no tries left: nothing is said."""


def isolate(case: Case, fails: Fails, *, most: int = TRIES) -> tuple[tuple[str, ...], tuple[str, ...], int] | None:
    """The options that the failure takes, the other options of the case, and the number of cases that were drawn.

    None if the case has fewer than two options, or fails otherwise without one of them.
    """
    present = _present(case)
    if len(present) < 2:
        return None
    tries = 0

    def still(kept: Iterable[_Option]) -> bool:
        nonlocal tries
        tries += 1
        found = fails(_without(case, [one for one in present if one not in kept])) if tries <= most else None
        if found is None:
            raise _Unclear
        return found

    try:
        needed = list(present)
        if not still(needed):
            return None
        for option in present:
            rest = [one for one in needed if one is not option]
            if still(rest):
                needed = rest
        if len(needed) == 2 and any(still([one]) for one in needed):
            return None
    except _Unclear:
        return None
    others = tuple(one.name for one in present if one not in needed)
    return tuple(one.name for one in needed), others, tries


def _present(case: Case) -> list[_Option]:
    return [one for one in _OPTIONS if any(_has(step, one) for step in case.steps)]


def _has(step: Step, option: _Option) -> bool:
    """True if a step has an option, and is no request that has to be refused, perhaps because of its options."""
    if not isinstance(step, CreateSession | ReadRows) or not isinstance(step, option.step):
        return False
    plain = option.step()
    return "OK" in step.expect.codes and any(getattr(step, name) != getattr(plain, name) for name in option.fields)


def _without(case: Case, options: Sequence[_Option]) -> Case:
    """The case with these options as in a plain request; a request without a restriction has no known rows."""
    return dataclasses.replace(case, steps=tuple(_reset(step, options) for step in case.steps))


def _reset(step: Step, options: Sequence[_Option]) -> Step:
    changes: dict[str, Any] = {}
    for option in options:
        if _has(step, option):
            plain = option.step()
            changes |= {name: getattr(plain, name) for name in option.fields}
    if "row_restriction" in changes:
        changes["expect"] = Expect()
    return dataclasses.replace(step, **changes) if changes else step


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
        failed = any(one.outcome.fails_run for one in judged.verdicts)
        if failed and judged.attempt == 1 and len(self._judged) < KEPT and case.protocol is ProtocolName.STORAGE_READ:
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
                    told = isolate(self._cases[case_id], partial(self._fails, _clauses_of(cause)))
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
        counted = {one: len(_present(self._cases[one])) for one in cause.cases if one in showing}
        told_apart = sorted((one for one, count in counted.items() if count >= 2), key=counted.__getitem__)
        return sorted(told_apart, key=lambda one: one != cause.smallest)[:CASES]

    def _fails(self, clauses: frozenset[str], case: Case) -> bool | None:
        work = self._step.take(CaseWork(case))
        if work.error is not None:
            return None
        verdicts = self._step.verdicts(work)
        if any(one.outcome in _ISOLATED for one in verdicts if one.clause in clauses):
            return True
        return False if all(one.outcome in _CLEAN for one in verdicts) else None
