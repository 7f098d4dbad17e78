"""Judging readers: an expectation and an answer to verdicts, by the clauses of the chapter ``reader``.

The tiers stay apart. A reader that dies has failed to survive and nothing else: whether it would have refused is not
known. One that says it lacks a feature is not asked for it. One that accepts what it may accept is held to the rows,
where anybody can say which they are.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.clause import CLAUSES, Clause, Role, load_chapters
from conformance.contract.ipc.expectation import Answered, Expectation
from conformance.contract.ipc.view import IPC_CASE
from conformance.contract.judge import judge_view
from conformance.contract.view import View
from conformance.records import Exchange, Outcome, Verdict

__all__ = ["Asked", "Counted", "Read", "ReadingView", "judge_reading"]

ENDED: Final = frozenset({"died", "hung", "exhausted"})
"""Outcomes without an answer."""


class Read:
    """A reader's answer beside what was expected of it; it stands in no call of an exchange."""

    call: int | None = None
    response: int | None = None

    def __init__(self, expectation: Expectation, answer: Answered) -> None:
        self.expectation = expectation
        self.answer = answer

    @property
    def said(self) -> str:
        """What the reader answered, in short."""
        text = " ".join(self.answer.error_text.split())
        return f"{self.answer.outcome}{f': {text[:160]}' if text else ''}"


class ReadingView(View):
    """One reading as the clauses on readers see it."""

    def __init__(self, expectation: Expectation, answer: Answered) -> None:
        super().__init__(IPC_CASE, Exchange(IPC_CASE.id, answer.reader, ()), pa.table({}))
        self.read = Read(expectation, answer)


class _Aspect:
    """Where there is a reading, each clause is asked."""

    def state(self, view: View) -> Hashable | None:
        """Something where there is nothing to ask about."""
        return None if isinstance(view, ReadingView) else "no reading"


class Asked:
    """The selector of readings that show something: an end, a refusal, rows."""

    aspect = _Aspect()

    def __init__(self, *outcomes: str, clause: str = "") -> None:
        self._outcomes = frozenset(outcomes)
        self._clause = clause

    def __call__(self, view: View) -> Sequence[Read]:
        """The reading, if it had one of the outcomes, and the input is for the clause."""
        if not isinstance(view, ReadingView) or view.read.answer.outcome not in self._outcomes:
            return []
        return [view.read] if not self._clause or self._clause in view.read.expectation.clauses else []

    def shown_by(self, _state: object) -> bool:
        """A clean state of this facet is one without a reading."""
        return False


class Counted(Asked):
    """The selector of readings whose reader counted what it read, of streams whose true counts are known."""

    def __call__(self, view: View) -> Sequence[Read]:
        """The reading, if rows came with counts that can be compared."""
        found = super().__call__(view)
        return [read for read in found if read.expectation.statistics is not None and read.answer.statistics]


def judge_reading(expectation: Expectation, answer: Answered, *, case_id: str = "") -> list[Verdict]:
    """The verdicts on one reader's answer to one input; ``case_id`` names the input in them.

    The clauses that the input is for and that were not observed get their reason: ``unsupported`` where the reader
    says that it lacks the feature, ``untestable`` where it could not be asked, ``dependency-failed`` where it ended.
    """
    load_chapters()
    verdicts = judge_view(ReadingView(expectation, answer), _clauses(len(CLAUSES)))
    seen = {verdict.clause for verdict in verdicts}
    reason = " ".join(answer.error_text.split())[:160] or answer.outcome
    outcome = _UNOBSERVED.get(answer.outcome)
    if outcome is not None:
        missing = [name for name in expectation.clauses if name not in seen]
        verdicts += [Verdict(IPC_CASE.id, name, outcome, reason=reason) for name in missing]
    return [_named(verdict, case_id) for verdict in verdicts] if case_id else verdicts


_UNOBSERVED: Final = {
    "unsupported": Outcome.UNSUPPORTED,
    "unavailable": Outcome.UNTESTABLE,
    **dict.fromkeys(ENDED, Outcome.DEPENDENCY_FAILED),
}


def _named(verdict: Verdict, case_id: str) -> Verdict:
    return Verdict(case_id, verdict.clause, verdict.outcome, verdict.findings, verdict.reason)


@functools.lru_cache(maxsize=4)
def _clauses(_number: int) -> tuple[Clause, ...]:
    """The clauses on readers while the register, which only ever grows, has that number of them."""
    return tuple(one for one in CLAUSES.values() if one.role is Role.READER)
