"""Expected failures: known defects that the target's owner lists, each tied to one class of failure.

An entry excuses one class of failure of the clauses (and cases) that it names. It does not excuse a different failure
of the same clause. An entry that excuses nothing is reported: either what it covers now passes (*unexpected pass*), or
it covers nothing that ran (*stale*). Entries that cover more than they excuse are reported too, and so are two entries
that excuse the same failure. An entry with ``sometimes`` may excuse nothing.

A narrowed run counts the entries that it did not look at, and decides the others only if their failure could not have
shown on a case that was left out (:mod:`conformance.engine.shown`).

In the globs of an entry only ``*`` is special.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from conformance.contain.text import keep_safe
from conformance.engine.outcomes import reason_classes
from conformance.generate.forms import BASE, EVERY, parted
from conformance.records import Outcome, Verdict
from conformance.targets.spec import ExpectedFailure

__all__ = [
    "Problem",
    "ProblemKind",
    "Resolution",
    "covers_any",
    "excuses",
    "glob_match",
    "is_for_another",
    "resolve",
]


class ProblemKind(enum.StrEnum):
    """The kinds of problem with an entry."""

    STALE = "stale"
    """It covers nothing that was judged; the run fails."""
    OVER_BROAD = "over-broad"
    """It covers clauses that never had this failure, so it would hide their next failure."""
    OVERLAPPING = "overlapping"
    """Another entry excuses the same failure."""
    OTHER_REASON = "other-reason"
    """What it covers fails, and never for its reason: an older suite may have given the same failure other words."""


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """A problem with the entry at ``index``: its kind and one sentence; only a stale entry fails the run."""

    kind: ProblemKind
    index: int
    text: str

    def __post_init__(self) -> None:
        keep_safe(self, "text")

    @property
    def fails_run(self) -> bool:
        """True if the run exits with status 1 because of it."""
        return self.kind is ProblemKind.STALE


@dataclasses.dataclass(frozen=True, slots=True)
class Resolution:
    """The verdicts after expected failures are applied, in the same order, and the problems with entries.

    ``unseen`` counts the entries that cover nothing that was judged and something that was left out; ``undecided``
    counts those whose failure did not occur, but could have occurred on something that was left out.
    """

    verdicts: tuple[Verdict, ...]
    problems: tuple[Problem, ...]
    unseen: int = 0
    undecided: int = 0


_COVERED = frozenset({Outcome.PASS, Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED})
"""Outcomes of a clause that was judged; an error of the suite cannot be an expected failure."""
_FAILED = _COVERED - {Outcome.PASS}


@cache
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, glob.split("*"))), re.DOTALL)


def glob_match(text: str, glob: str) -> bool:
    """True if ``glob`` matches the whole of ``text``. Only ``*`` is special, because reasons are full of brackets."""
    return _compiled(glob).fullmatch(text) is not None


def resolve(
    verdicts: Sequence[Verdict],
    expectations: Sequence[ExpectedFailure],
    *,
    skipped_cases: Collection[str] = (),
    skipped_clauses: Collection[str] = (),
    decided: Collection[int] = (),
    form: str = EVERY,
) -> Resolution:
    """Apply ``expectations`` to ``verdicts``.

    ``skipped_cases`` and ``skipped_clauses`` are ids that exist and were not judged. An entry that covers one of them
    is never reported as stale or over-broad, because a complete run may need it as it is. It gives an unexpected pass
    only if its index is in ``decided``: all cases that could show its failure ran. ``form`` is that of the cases: an
    entry for another is for another run.
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
    problems = [_overlapping(expectations, *pair, verdict) for pair, verdict in overlaps.items()]
    unseen = undecided = 0
    for index, entry in enumerate(expectations):
        partial = is_for_another(entry, form) or covers_any(entry, skipped_cases, skipped_clauses)
        if excused[index] or (covered[index] and entry.sometimes):
            whole = not (partial or entry.sometimes)
            problems += _over_broad(index, entry, covered[index], excused[index], verdicts) if whole else []
        elif not covered[index]:
            unseen += partial
            problems += [] if partial else [_stale(index, entry)]
        elif partial and index not in decided:
            undecided += 1
        else:
            problems += _without_failure(index, entry, covered[index], after)
    problems.sort(key=lambda problem: (problem.index, problem.kind))
    return Resolution(tuple(after), tuple(problems), unseen, undecided)


def _overlapping(expectations: Sequence[ExpectedFailure], first: int, second: int, verdict: Verdict) -> Problem:
    text = f"{_name(expectations[second])} excuses {verdict.clause} on {verdict.case_id}, and so does entry {first}"
    return Problem(ProblemKind.OVERLAPPING, second, text)


def _stale(index: int, entry: ExpectedFailure) -> Problem:
    text = f"{_name(entry)} covers nothing that was judged in this run; remove it or correct its globs"
    return Problem(ProblemKind.STALE, index, text)


def _without_failure(index: int, entry: ExpectedFailure, covered: Sequence[int], after: list[Verdict]) -> list[Problem]:
    """The problem of an entry whose reason no failure has; if what it covers passes, these are unexpected passes."""
    failing = next((after[at] for at in covered if after[at].outcome in _FAILED), None)
    if failing is None:
        _unexpected(entry, covered, after)
        return []
    text = (
        f"{_name(entry)} has a reason that no failure has: {failing.clause} fails on {failing.case_id} with"
        f" {reason_classes(failing)[0]!r}; if the entry is of an older suite, `conformance expect --write` writes the"
        " new reason"
    )
    return [Problem(ProblemKind.OTHER_REASON, index, text)]


def _name(entry: ExpectedFailure) -> str:
    where = "" if entry.case == "*" else f" on {entry.case!r}"
    return f"the expected failure of {entry.clause!r}{where}"


def covers_any(entry: ExpectedFailure, cases: Iterable[str], clauses: Iterable[str]) -> bool:
    """True if ``entry`` covers one of these cases or one of these clauses."""
    return any(glob_match(case_id, entry.case) for case_id in cases) or any(
        glob_match(clause, entry.clause) for clause in clauses
    )


def is_for_another(entry: ExpectedFailure, form: str) -> bool:
    """True if the case of ``entry`` names a form that a run in ``form`` does not have."""
    named = parted(entry.case)[1]
    return form != EVERY and named not in (BASE, form)


def _covers(entry: ExpectedFailure, verdict: Verdict) -> bool:
    return glob_match(verdict.clause, entry.clause) and glob_match(verdict.case_id, entry.case)


def _excuse(
    verdict: Verdict,
    at: int,
    entries: Sequence[tuple[int, ExpectedFailure]],
    excused: Sequence[set[int]],
    overlaps: dict[tuple[int, int], Verdict],
) -> Verdict:
    """``verdict`` as an expected failure if each of its reason classes is excused; otherwise with a reason that names
    one that is not.
    """
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
    index: int, entry: ExpectedFailure, covered: Iterable[int], excused: Iterable[int], verdicts: Sequence[Verdict]
) -> list[Problem]:
    """The problem of an entry that covers verdicts of clauses none of which it excuses."""
    failing = {verdicts[at].clause for at in excused}
    healthy = sorted({verdicts[at].clause for at in covered} - failing)
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
    """Mark the passes that an entry covers if no failure of its class occurred; other failures are left as they are."""
    reason = f"listed as an expected failure ({entry.reason}), and it passes; remove the entry"
    for at in covered:
        if after[at].outcome is Outcome.PASS:
            after[at] = dataclasses.replace(after[at], outcome=Outcome.UNEXPECTED_PASS, reason=reason)


def excuses(expectations: Sequence[ExpectedFailure], verdict: Verdict, reason: str) -> bool:
    """True if an entry covers ``verdict`` and excuses the reason class ``reason``."""
    return any(_covers(entry, verdict) and glob_match(reason, entry.reason) for entry in expectations)
