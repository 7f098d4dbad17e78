"""What a reader of Arrow IPC did, in inputs: a dozen clauses over thousands of inputs are no score."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Final

from conformance.contract.closed import Question
from conformance.records import Outcome

if TYPE_CHECKING:
    from conformance.report.document import Report  # the pages of drift need no reports

__all__ = ["Share", "readings"]

_ENDS: Final = (Outcome.CRASH, Outcome.HANG)


@dataclasses.dataclass(frozen=True, slots=True)
class Share:
    """Readings of one kind of input: a heading, the parts of a bar as (class of the style sheet, number), and words."""

    title: str
    parts: tuple[tuple[str, int], ...]
    words: str


def readings(report: Report) -> tuple[Share, ...]:
    """Legal and malformed input; nothing for a report that is not on a reader.

    A reading is one input, read in one way. The numbers are verdicts: on legal input those of the clauses on survival
    and on rows, on malformed input those on survival and on what is to be refused.
    """
    counts: dict[str, Counter[Outcome]] = {}
    ends: dict[Question, Counter[Outcome]] = {question: Counter() for question in Question}
    for clause in report.clauses:
        found = Counter({one.outcome: one.count for one in clause.verdicts})
        counts[clause.id] = found
        if clause.question is not None:
            ends[clause.question] += Counter({outcome: found[outcome] for outcome in _ENDS})
    if not {"reader.survives-legal-input", "reader.rows-true", "reader.survives"} <= counts.keys():
        return ()
    return (_legal(counts, ends[Question.CONFORMANCE]), _malformed(counts, ends[Question.ROBUSTNESS]))


def _legal(counts: dict[str, Counter[Outcome]], ends: Counter[Outcome]) -> Share:
    every, rows = _judged(counts["reader.survives-legal-input"]), counts["reader.rows-true"]
    right, wrong, ended = rows[Outcome.PASS], rows[Outcome.FAIL], sum(ends.values())
    without = max(0, every - right - wrong - ended)
    words = f"{right:,} of {every:,} read right · {wrong:,} with wrong rows · {_ended(ends)} · {without:,} errors"
    return Share("legal", (("pass", right), ("blank", without), ("fail", wrong + ended)), words)


def _malformed(counts: dict[str, Counter[Outcome]], ends: Counter[Outcome]) -> Share:
    refusals = [found for clause, found in counts.items() if clause.startswith("reader.refuses.")]
    refused, accepted = (sum(found[outcome] for found in refusals) for outcome in (Outcome.PASS, Outcome.FAIL))
    wrong = counts.get("reader.accepted-rows-are-true", Counter())[Outcome.FAIL]
    words = f"{_ended(ends)} in {_judged(counts['reader.survives']):,} · {accepted:,} accepted that are to be refused"
    if wrong:
        words += f" · {wrong:,} with wrong rows"
    return Share("malformed", (("pass", refused), ("expected", accepted), ("fail", wrong + sum(ends.values()))), words)


def _judged(found: Counter[Outcome]) -> int:
    return sum(found[outcome] for outcome in (Outcome.PASS, Outcome.FAIL, *_ENDS))


def _ended(ends: Counter[Outcome]) -> str:
    crashes, hangs = (ends[outcome] for outcome in _ENDS)
    return f"{crashes:,} crash{'es' if crashes != 1 else ''}" + (
        f", {hangs:,} hang{'s' * (hangs != 1)}" if hangs else ""
    )
