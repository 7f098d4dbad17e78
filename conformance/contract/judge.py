"""Judging: (case, exchange, table) to verdicts, without I/O and without memory.

The table is the case's rows as Arrow values, made from the case alone; nothing expected ever comes from the target.
Every clause that had a subject gets a verdict: fail with its findings, or pass.
A clause that the case names (``Case.clauses``) but that had no subject has not been shown to hold: it gets the outcome
of what stood in the way (:meth:`conformance.contract.view.View.obstacle`).
"""

from __future__ import annotations

import fnmatch
import functools
import itertools
from collections.abc import Iterable, Sequence

import pyarrow as pa

from conformance.contract.chapters import load_chapters
from conformance.contract.clause import CLAUSES, Clause, Subject, Violation
from conformance.contract.view import View
from conformance.records import Case, Exchange, Finding, Outcome, Reading, Verdict

__all__ = ["judge", "judge_view"]

MAX_FINDINGS = 20
"""Findings kept per clause and case: the twenty-first repetition of one fault teaches nothing."""


def judge(
    case: Case,
    exchange: Exchange,
    table: pa.Table,
    *,
    readings: Sequence[Reading] = (),
    clauses: Iterable[Clause] | None = None,
) -> list[Verdict]:
    """The verdicts of ``clauses`` (all, unless given) on ``exchange``, in the order of the register.

    ``table`` holds the case's rows with the schema of :func:`conformance.contract.mapping.arrow_schema`.
    ``readings`` are what independent readers made of the same exchange, where there are any.
    """
    load_chapters()
    chosen = list(CLAUSES.values()) if clauses is None else list(clauses)
    if exchange.untestable:
        named = (clause.id for clause in chosen if _names(case, clause.id))
        return [Verdict(case.id, name, Outcome.UNTESTABLE, reason=exchange.untestable) for name in named]
    return judge_view(View(case, exchange, table, tuple(readings)), chosen)


def judge_view(view: View, clauses: Iterable[Clause]) -> list[Verdict]:
    """The verdicts of ``clauses`` on a view that the caller has made, in their order."""
    verdicts: list[Verdict] = []
    for run in _runs(tuple(clauses)):
        over = run[0].over
        subjects = over(view)
        if not subjects:
            verdicts += _unobserved(view, run)
        elif (clean := getattr(over, "clean", None)) is not None and clean(view):
            verdicts += _passed(view.case.id, run)
        else:
            verdicts += _asked(view, run, subjects)
    return verdicts


Run = tuple[Clause, ...]
"""Clauses in a row that are asked about the same subjects."""


@functools.lru_cache(maxsize=16)
def _runs(clauses: tuple[Clause, ...]) -> tuple[Run, ...]:
    return tuple(tuple(run) for _, run in itertools.groupby(clauses, key=lambda clause: clause.over))


@functools.lru_cache(maxsize=1024)
def _passed(case_id: str, run: Run) -> tuple[Verdict, ...]:
    """A pass for each clause; a case is judged on many exchanges, and most verdicts are these."""
    return tuple(Verdict(case_id, clause.id, Outcome.PASS) for clause in run)


def _asked(view: View, run: Run, subjects: Sequence[Subject]) -> list[Verdict]:
    verdicts = []
    for clause, passed in zip(run, _passed(view.case.id, run), strict=True):
        check = clause.check
        findings = [_finding(clause, subject, violation) for subject in subjects for violation in check(subject)]
        if findings:
            verdicts.append(Verdict(view.case.id, clause.id, Outcome.FAIL, tuple(findings[:MAX_FINDINGS])))
        else:
            verdicts.append(passed)
    return verdicts


def _unobserved(view: View, run: Run) -> list[Verdict]:
    named = [clause.id for clause in run if _names(view.case, clause.id)]
    if not named:
        return []
    outcome, reason = view.obstacle()
    return [Verdict(view.case.id, clause_id, outcome, reason=reason) for clause_id in named]


def _names(case: Case, clause_id: str) -> bool:
    return any(fnmatch.fnmatchcase(clause_id, pattern) for pattern in case.clauses)


def _finding(clause: Clause, subject: Subject, violation: Violation) -> Finding:
    return Finding(
        clause=clause.id,
        required=violation.required,
        observed=violation.observed,
        call=subject.call if violation.call is None else violation.call,
        response=subject.response if violation.response is None else violation.response,
        field=violation.field,
        start=violation.start,
        end=violation.end,
    )
