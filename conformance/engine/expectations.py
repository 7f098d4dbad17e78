"""Expected failures: what a target's owner knows to be wrong, pinned to its reason, and never silently.

An entry excuses one class of failure of the clauses (and cases) that it names. A different failure of the same
clause is not excused. An entry that excuses nothing is a surprise of its own: what it covers now passes
(*unexpected pass*), or nothing that ran is covered by it (*stale*). Entries that cover more than they excuse, and two
entries that excuse the same failure, are reported.

In the globs of an entry only ``*`` is special.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Collection, Sequence
from functools import cache

from conformance.contain.text import keep_safe
from conformance.engine.outcomes import reason_classes
from conformance.records import Outcome, Verdict
from conformance.targets.spec import ExpectedFailure

__all__ = ["Problem", "ProblemKind", "Resolution", "excuses", "glob_match", "resolve"]


class ProblemKind(enum.StrEnum):
    """What is wrong with an entry."""

    STALE = "stale"
    """Nothing that was judged is covered by it: the run fails."""
    OVER_BROAD = "over-broad"
    """It covers clauses that never failed so: it would hide their next failure."""
    OVERLAPPING = "overlapping"
    """Another entry excuses the same failure."""


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with the entry at ``index``: its kind and one sentence; only a stale entry fails the run."""

    kind: ProblemKind
    index: int
    text: str

    def __post_init__(self) -> None:
        keep_safe(self, "text")

    @property
    def fails_run(self) -> bool:
        """Whether the run exits with status 1 for it."""
        return self.kind is ProblemKind.STALE


@dataclasses.dataclass(frozen=True, slots=True)
class Resolution:
    """Verdicts after expected failures are taken into account, in the same order, and what is wrong with entries."""

    verdicts: tuple[Verdict, ...]
    problems: tuple[Problem, ...]


_COVERED = frozenset({Outcome.PASS, Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED})
"""Outcomes of a clause that was judged; the suite's own errors are nobody's expected failure."""
_FAILED = _COVERED - {Outcome.PASS}


@cache
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, glob.split("*"))), re.DOTALL)


def glob_match(text: str, glob: str) -> bool:
    """Whether ``glob`` describes the whole of ``text``; only ``*`` is special, for reasons are full of brackets."""
    return _compiled(glob).fullmatch(text) is not None


def resolve(
    verdicts: Sequence[Verdict], expectations: Sequence[ExpectedFailure], *, skipped_cases: Collection[str] = ()
) -> Resolution:
    """Apply ``expectations`` to ``verdicts``.

    ``skipped_cases`` are ids that exist and were not chosen: an entry that covers one of them is called neither stale
    nor an unexpected pass nor over-broad, since the whole run might need it as it is.
    """
    excused: list[set[int]] = [set() for _ in expectations]
    covered: list[list[int]] = [[] for _ in expectations]
    after = list(verdicts)
    overlaps: dict[tuple[int, int], Verdict] = {}
    for at, verdict in enumerate(verdicts):
        if verdict.outcome not in _COVERED:
            continue
        entries = [index for index, entry in enumerate(expectations) if _covers(entry, verdict)]
        for index in entries:
            covered[index].append(at)
        if verdict.outcome in _FAILED:
            after[at] = _excuse(verdict, at, [(index, expectations[index]) for index in entries], excused, overlaps)
    problems = [
        Problem(
            ProblemKind.OVERLAPPING,
            second,
            f"{_name(expectations[second])} excuses {verdict.clause} on {verdict.case_id}, and so does entry {first}",
        )
        for (first, second), verdict in overlaps.items()
    ]
    for index, entry in enumerate(expectations):
        if any(glob_match(case_id, entry.case) for case_id in skipped_cases):
            continue
        if excused[index]:
            problems += _over_broad(
                index, entry, [verdicts[at] for at in covered[index]], [verdicts[at] for at in excused[index]]
            )
        elif covered[index]:
            _unexpected(entry, covered[index], after)
        else:
            problems.append(
                Problem(
                    ProblemKind.STALE,
                    index,
                    f"{_name(entry)} covers nothing that was judged in this run; remove it or correct its globs",
                )
            )
    return Resolution(tuple(after), tuple(sorted(problems, key=lambda problem: (problem.index, problem.kind))))


def _name(entry: ExpectedFailure) -> str:
    where = "" if entry.case == "*" else f" on {entry.case!r}"
    return f"the expected failure of {entry.clause!r}{where}"


def _covers(entry: ExpectedFailure, verdict: Verdict) -> bool:
    return glob_match(verdict.clause, entry.clause) and glob_match(verdict.case_id, entry.case)


def _excuse(
    verdict: Verdict,
    at: int,
    entries: Sequence[tuple[int, ExpectedFailure]],
    excused: Sequence[set[int]],
    overlaps: dict[tuple[int, int], Verdict],
) -> Verdict:
    """``verdict`` as an expected failure where each of its reason classes is excused; else with one that is not."""
    unexcused = []
    for reason in reason_classes(verdict):
        hits = [index for index, entry in entries if glob_match(reason, entry.reason)]
        for index in hits:
            excused[index].add(at)
        if not hits:
            unexcused.append(reason)
        elif len(hits) > 1:
            overlaps.setdefault((hits[0], hits[1]), verdict)
    if not unexcused:
        return dataclasses.replace(verdict, outcome=Outcome.EXPECTED_FAIL)
    if entries and not verdict.reason:
        return dataclasses.replace(verdict, reason=f"another failure than the expected one: {unexcused[0]}")
    return verdict


def _over_broad(
    index: int, entry: ExpectedFailure, covered: Sequence[Verdict], excused: Sequence[Verdict]
) -> list[Problem]:
    failing = {verdict.clause for verdict in excused}
    healthy = sorted({verdict.clause for verdict in covered} - failing)
    if not healthy:
        return []
    shown = ", ".join(healthy[:3]) + (f" and {len(healthy) - 3} more" if len(healthy) > 3 else "")
    cure = ", ".join(sorted(failing))
    return [
        Problem(
            ProblemKind.OVER_BROAD, index, f"{_name(entry)} covers {shown}, which did not fail so; name {cure} instead"
        )
    ]


def _unexpected(entry: ExpectedFailure, covered: Sequence[int], after: list[Verdict]) -> None:
    """Mark the passes that an entry without any failure of its class covers; other failures speak for themselves."""
    reason = f"listed as an expected failure ({entry.reason}), and it passes; remove the entry"
    for at in covered:
        if after[at].outcome is Outcome.PASS:
            after[at] = dataclasses.replace(after[at], outcome=Outcome.UNEXPECTED_PASS, reason=reason)


def excuses(expectations: Sequence[ExpectedFailure], verdict: Verdict, reason: str) -> bool:
    """Whether an entry covers ``verdict`` and excuses the reason class ``reason``."""
    return any(_covers(entry, verdict) and glob_match(reason, entry.reason) for entry in expectations)
