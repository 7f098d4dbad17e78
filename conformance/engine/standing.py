"""The standing of each clause over a run: held, failed or not judged; a pass counts only where it shows something.

A pass shows less than it seems in four situations, and then the clause is not *held*:

- On some case that owed the clause, something else failed first. The clause is held where it was judged.
- On some case it passed on a part of what was owed, because rows or columns are missing (:data:`HIDES`).
- The clause is about a refusal, and the server refuses the legal request, too (:data:`SHOWN_WITH`).
- The clause is about an answer without rows, and the server sends no rows where it owes them.

So the number of held clauses rises when a defect is repaired, for what comes to light was not counted as held. It can
still fall where two defects cancel each other out: ``docs/architecture.md`` says how often a campaign saw that.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from conformance._globs import matches
from conformance.engine.events import CaseJudged
from conformance.engine.outcomes import WHOLE_CASE, reason_classes
from conformance.records import Outcome, Verdict

__all__ = [
    "BLOCKED",
    "FAILING",
    "HIDES",
    "IN_PART",
    "PASSED",
    "SHOWN_WITH",
    "ClauseStanding",
    "Standing",
    "shown_with",
    "standing_of",
    "standings",
]


class Standing(enum.StrEnum):
    """What a run says of one clause, from best to worst."""

    HELD = "held"
    """It passed on every case that owed it."""
    HELD_WHERE_JUDGED = "held-where-judged"
    """It passed wherever it was judged, and on other cases something else failed first."""
    NOT_OFFERED = "not-offered"
    """The target does not offer what it is about, or no target of its kind does."""
    NOT_JUDGED = "not-judged"
    """No case showed it, or its passes show nothing."""
    EXPECTED = "expected"
    """It failed as the target's owner expects, and in no other way."""
    FAILED = "failed"
    """It failed on a case at least."""

    @property
    def words(self) -> str:
        """The standing as reports name it."""
        return _WORDS[self]


_WORDS: Final = {
    Standing.HELD: "pass",
    Standing.HELD_WHERE_JUDGED: "pass where judged",
    Standing.NOT_OFFERED: "not offered",
    Standing.NOT_JUDGED: "not judged",
    Standing.EXPECTED: "expected to fail",
    Standing.FAILED: "fail",
}


@dataclasses.dataclass(frozen=True, slots=True)
class ClauseStanding:
    """The standing of a clause, with the number of cases on which it passed, was judged in full and was owed.

    ``reason`` says why the clause was not judged on cases that owed it, or why its passes do not count; in the latter
    case ``shown_with`` is the clause without which they show nothing. Both are empty otherwise.
    """

    standing: Standing
    passed: int = 0
    judged: int = 0
    owed: int = 0
    reason: str = ""
    shown_with: str = ""

    @property
    def words(self) -> str:
        """The standing as reports name it: *pass where judged (5 of 110)*."""
        counts = f" ({self.judged} of {self.owed})" if self.standing is Standing.HELD_WHERE_JUDGED else ""
        return self.standing.words + counts


SHOWN_WITH: Final[tuple[tuple[str, str], ...]] = (
    # a refusal counts only where the legal request is served
    ("restriction.*-is-refused", "restriction.comparison"),
    ("restriction.bad-one-yields-no-rows", "restriction.comparison"),
    ("projection.unknown-column-*", "projection.known-columns-are-served"),
    ("snapshot.*-is-refused", "snapshot.time-is-served"),
    ("split.*-is-refused", "split.request-is-served"),
    ("offsets.beyond-the-end-*", "offsets.resumed-read-is-served"),
    ("offsets.negative-is-refused", "offsets.resumed-read-is-served"),
    ("combination.beyond-the-end-is-refused", "combination.permitted-request-is-served"),
    ("errors.*", "session.plain-request-is-served"),
    *(
        (f"query-results.{name}-*", "query-results.stream-is-served")
        for name in ("other", "unknown", "written", "negative")
    ),
    # an answer in OK counts only where rows come
    ("query-results.request-is-served", "query-results.page-has-a-batch"),
    ("query-results.answer-is-json", "query-results.page-has-a-batch"),
    *((f"query-results.{name}-*", "query-results.page-has-a-batch") for name in ("statement", "wrong", "dry")),
    ("calls.*", "rows.none-is-missing"),
    ("session.*", "rows.none-is-missing"),
    ("snapshot.*", "rows.none-is-missing"),
    ("projection.*", "rows.none-is-missing"),
    ("compression.*", "rows.none-is-missing"),
    ("split.*", "rows.none-is-missing"),
    ("offsets.*", "rows.none-is-missing"),
    ("abandon.*", "rows.none-is-missing"),
    ("restriction.*", "rows.none-is-missing"),
    ("combination.*", "rows.none-is-missing"),
    ("history.*", "rows.none-is-missing"),
    ("avro.*", "rows.none-is-missing"),
    ("avro-*", "rows.none-is-missing"),
)
"""Clauses by glob, each with the clause without which its passes show nothing; the first row that matches applies.

That clause has to pass on a quarter of the cases that owe it (:data:`SHARE`).
"""
SHARE: Final = 4
"""One in so many cases has to pass: a server that repeats its earlier answers passes about one in nine."""

BLOCKED: Final = "on some of its cases the answer failed another clause and did not show this one"
"""The reason where the reference shows the clause on a case on which something else failed."""
IN_PART: Final = "on some of its cases another clause failed that hides a part of what this one is about"
"""The reason where rows, columns or buffers are missing that the clause is about (:data:`HIDES`)."""

FAILING: Final = frozenset({Standing.FAILED, Standing.EXPECTED})
"""The standings of clauses that failed."""
_BUFFERS: Final = ("buffers.*", "values.*", "readers.*")
_ROWS: Final = ("rows.none-*", "values.*", "readers.*")
HIDES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("schema.columns-*", ("schema.*", "types.*", "body.*", *_BUFFERS)),
    ("body.*", _BUFFERS),
    ("buffers.*", ("body.*", *_BUFFERS)),
    *((f"{chapter}.*", _ROWS) for chapter in ("rows", "restriction", "offsets", "snapshot", "split", "compression")),
    *((f"{chapter}.*", _ROWS) for chapter in ("combination", "history")),
)
"""Clauses by glob, each with those that pass on too little if it fails on the same case.

A buffer taken for another hides what is in the right one, and a row that is missing hides its values.
"""
_FAILED: Final = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED})
_EXCUSED: Final = Outcome.EXPECTED_FAIL
PASSED: Final = frozenset({Outcome.PASS, Outcome.UNEXPECTED_PASS})
"""The outcomes of a clause that passed; that nobody expected it changes nothing."""


@functools.cache
def shown_with(clause_id: str) -> str:
    """The clause without which a pass of ``clause_id`` shows nothing; empty if it shows something alone."""
    found = (twin for glob, twin in SHOWN_WITH if matches(clause_id, (glob,)) and twin != clause_id)
    return next(found, "")


def standings(
    clauses: Sequence[str],
    cases: Iterable[CaseJudged],
    verdicts: Iterable[Verdict],
    *,
    offered: Callable[[str], bool] = lambda _: True,
) -> Mapping[str, ClauseStanding]:
    """The standing of each of ``clauses``, and of a case as a whole if one failed.

    ``verdicts`` are those of ``cases``, in their order, after expected failures were applied. ``offered`` says whether
    the target offers what a clause is about; a clause that was judged nevertheless counts as judged.
    """
    outcomes: dict[str, Counter[Outcome]] = {clause: Counter() for clause in clauses}
    missed: Counter[str] = Counter()
    in_part: Counter[str] = Counter()
    why: dict[str, Counter[str]] = {}
    resolved = iter(verdicts)
    for case in cases:
        found = [next(resolved) for _ in case.verdicts]
        for verdict in found:
            outcomes.setdefault(verdict.clause, Counter())[verdict.outcome] += 1
        hidden = _hidden(tuple(one.clause for one in found if one.outcome in _FAILED or one.outcome is _EXCUSED))
        partly = [one.clause for one in found if one.outcome in PASSED and matches(one.clause, hidden)]
        not_here = _missed(case, found)
        in_part.update(partly)
        missed.update(not_here.keys())
        for clause, reason in (*not_here.items(), *((one, IN_PART) for one in partly)):
            why.setdefault(clause, Counter())[reason] += 1
    standing = {
        clause: _with_reason(standing_of(counts, missed[clause], in_part[clause]), why.get(clause, Counter()))
        for clause, counts in outcomes.items()
    }
    if standing.get(WHOLE_CASE, _NOTHING).standing not in FAILING:
        standing.pop(WHOLE_CASE, None)
    return {
        clause: _if_shown(clause, item, standing) if item.judged or item.owed or offered(clause) else _NOT_OFFERED
        for clause, item in standing.items()
    }


_NOT_OFFERED: Final = ClauseStanding(Standing.NOT_OFFERED)
_NOTHING: Final = ClauseStanding(Standing.NOT_JUDGED)


def _missed(case: CaseJudged, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """The clauses that the case owed and that were not judged on it, each with the reason."""
    untested = all(verdict.outcome not in PASSED | _FAILED for verdict in verdicts)
    kept = (Outcome.DEPENDENCY_FAILED, Outcome.ERROR, *((Outcome.UNTESTABLE,) if untested else ()))
    own = {
        verdict.clause: reason_classes(verdict)[0]
        for verdict in verdicts
        if verdict.outcome in kept or (case.stopped and verdict.reason == case.stopped)
    }
    if case.stopped:
        (why,) = reason_classes(Verdict(case.case_id, WHOLE_CASE, Outcome.UNTESTABLE, reason=case.stopped))
        return dict.fromkeys(case.blocked, why) | own
    failed = any(verdict.outcome in _FAILED or verdict.outcome is _EXCUSED for verdict in verdicts)
    return dict.fromkeys(case.blocked, BLOCKED if failed else next(iter(own.values()), BLOCKED)) | own


def _with_reason(item: ClauseStanding, why: Counter[str]) -> ClauseStanding:
    """``item`` with the reason that kept the clause from being judged on the most cases, if it is judged in part."""
    if item.standing not in (Standing.HELD_WHERE_JUDGED, Standing.NOT_JUDGED) or not why:
        return item
    return dataclasses.replace(item, reason=why.most_common(1)[0][0])


@functools.lru_cache(maxsize=4096)
def _hidden(failing: tuple[str, ...]) -> tuple[str, ...]:
    """The clauses, as globs, that pass on too little where ``failing`` fail."""
    found = (globs for glob, globs in HIDES if any(matches(clause, (glob,)) for clause in failing))
    return tuple(dict.fromkeys(glob for globs in found for glob in globs))


def standing_of(counts: Counter[Outcome], missed: int, in_part: int = 0) -> ClauseStanding:
    """The standing of a clause with ``counts`` verdicts of each outcome, that ``missed`` more cases owed.

    ``in_part`` of the passes are on a part of what was owed.
    """
    passed = sum(counts[outcome] for outcome in PASSED)
    failed = sum(counts[outcome] for outcome in (*_FAILED, _EXCUSED))
    judged, owed = passed + failed - in_part, passed + failed + missed
    if any(counts[outcome] for outcome in _FAILED):
        standing = Standing.FAILED
    elif counts[_EXCUSED]:
        standing = Standing.EXPECTED
    elif passed:
        standing = Standing.HELD_WHERE_JUDGED if judged < owed else Standing.HELD
    elif not missed and set(counts) == {Outcome.UNSUPPORTED}:
        standing = Standing.NOT_OFFERED
    else:
        standing = Standing.NOT_JUDGED
    return ClauseStanding(standing, passed, judged, owed)


def _if_shown(clause: str, item: ClauseStanding, among: Mapping[str, ClauseStanding]) -> ClauseStanding:
    """``item``, not judged if its passes show nothing because of the clauses that it is shown with."""
    if item.standing not in (Standing.HELD, Standing.HELD_WHERE_JUDGED):
        return item
    twin = shown_with(clause)
    while twin:  # a test holds that every chain of twins ends
        other = among.get(twin)
        if other is not None and SHARE * other.passed < other.owed:
            reason = f"{twin} passed on {other.passed} of {other.owed} cases, and without it a pass shows nothing"
            return ClauseStanding(Standing.NOT_JUDGED, 0, 0, item.owed, reason, twin)
        twin = shown_with(twin)
    return item
