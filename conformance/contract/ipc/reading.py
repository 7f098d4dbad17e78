"""Judging readers: from an expectation and an answer to verdicts, by the clauses of the chapter ``reader``.

Clauses answer one of two questions (:class:`~conformance.contract.closed.Question`): those on legal input are about
conformance, those on all other input about robustness. A reader that dies fails to survive and nothing else: it is
unknown whether it would have refused. A reader that reports a missing feature is not judged on it. A reader that
accepts input that it may accept has to return the true rows, if these are known.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.clause import CLAUSES, Clause, Role, load_chapters
from conformance.contract.closed import Validity
from conformance.contract.ipc.expectation import Expectation, JudgedAnswer
from conformance.contract.ipc.ipcview import IPC_CASE
from conformance.contract.judge import judge_view
from conformance.contract.view import View
from conformance.records import Exchange, Outcome, Verdict

__all__ = ["Asked", "Counted", "OnLegal", "OnMalformed", "Read", "ReadingView", "TwoWays", "judge_reading"]

ENDED: Final = frozenset({"died", "hung", "exhausted"})
"""Outcomes of a reader that ended without an answer."""


class Read:
    """A reader's answer and the expectation for its input; it belongs to no call of an exchange."""

    call: int | None = None
    response: int | None = None

    def __init__(self, expectation: Expectation, answer: JudgedAnswer) -> None:
        self.expectation = expectation
        self.answer = answer

    @property
    def summary(self) -> str:
        """The reader's answer in short."""
        text = " ".join(self.answer.error_text.split())
        return f"{self.answer.outcome}{f': {text[:160]}' if text else ''}"


class ReadingView(View):
    """One reading as the clauses on readers see it."""

    def __init__(self, expectation: Expectation, answer: JudgedAnswer) -> None:
        super().__init__(IPC_CASE, Exchange(IPC_CASE.id, answer.reader, ()), pa.table({}))
        self.read = Read(expectation, answer)


class _Aspect:
    """The aspect of readings. It is clean only in a view without a reading, so every clause runs on a reading."""

    def state(self, view: View) -> Hashable | None:
        """Return a clean state if the view has no reading, else None."""
        return None if isinstance(view, ReadingView) else "no reading"


class Asked:
    """A selector of readings with certain outcomes: an end, a refusal, rows."""

    aspect = _Aspect()

    def __init__(self, *outcomes: str, clause: str = "") -> None:
        self._outcomes = frozenset(outcomes)
        self._clause = clause

    def __call__(self, view: View) -> Sequence[Read]:
        """Return the reading, if it has one of the outcomes and the input tests the clause."""
        if not isinstance(view, ReadingView) or view.read.answer.outcome not in self._outcomes:
            return []
        return [view.read] if not self._clause or self._clause in view.read.expectation.clauses else []

    def shown_by(self, _state: object) -> bool:
        """False: in a clean state of this aspect the view has no reading."""
        return False


class OnLegal(Asked):
    """A selector of readings of legal input."""

    def __call__(self, view: View) -> Sequence[Read]:
        """Return the reading, if its input is legal."""
        return [read for read in super().__call__(view) if read.expectation.result is Validity.VALID]


class OnMalformed(Asked):
    """A selector of readings of all other input: malformed, or permitted by one text and forbidden by another."""

    def __call__(self, view: View) -> Sequence[Read]:
        """Return the reading, if its input is not known to be legal."""
        return [read for read in super().__call__(view) if read.expectation.result is not Validity.VALID]


class TwoWays(OnLegal):
    """A selector of readings of legal input whose values were taken in two ways."""

    def __call__(self, view: View) -> Sequence[Read]:
        """Return the reading, if two ways out of the library were compared."""
        return [read for read in super().__call__(view) if read.answer.ways is not None]


class Counted(Asked):
    """A selector of readings with the reader's counts, of bytes whose true counts are known."""

    def __call__(self, view: View) -> Sequence[Read]:
        """Return the reading, if the reader returned rows with counts that can be compared."""
        found = super().__call__(view)
        return [read for read in found if read.expectation.statistics is not None and read.answer.statistics]


def judge_reading(expectation: Expectation, answer: JudgedAnswer, *, case_id: str = "") -> list[Verdict]:
    """Return the verdicts on one reader's answer to one input; ``case_id`` names the input in them.

    The clauses that the input tests and that were not observed get a reason: ``unsupported`` if the reader reports
    that it lacks the feature, ``untestable`` if it could not be asked, ``dependency-failed`` if it ended without an
    answer.
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
    """Return the clauses on readers, cached for a given size of the register, which only grows."""
    return tuple(one for one in CLAUSES.values() if one.role is Role.READER)
