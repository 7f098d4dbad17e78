"""Judging: (case, exchange, table) to verdicts, without I/O and without memory.

The table is the case's rows as Arrow values, made from the case alone; nothing expected ever comes from the target.
Every clause that had a subject gets a verdict: fail with its findings, or pass.
A clause that the case names (``Case.clauses``) but that had no subject has not been shown to hold: it gets the outcome
of what stood in the way (:meth:`conformance.contract.view.View.obstacle`).
"""

from __future__ import annotations

import fnmatch
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
    """The verdicts of ``clauses`` on a view that the caller has made."""
    case = view.case
    verdicts = []
    for clause in clauses:
        subjects = clause.over(view)
        if subjects:
            findings = [
                _finding(clause, subject, violation) for subject in subjects for violation in clause.check(subject)
            ]
            if findings:
                verdicts.append(Verdict(case.id, clause.id, Outcome.FAIL, tuple(findings[:MAX_FINDINGS])))
            else:
                verdicts.append(Verdict(case.id, clause.id, Outcome.PASS))
        elif _names(case, clause.id):
            outcome, reason = view.obstacle()
            verdicts.append(Verdict(case.id, clause.id, outcome, reason=reason))
    return verdicts


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
