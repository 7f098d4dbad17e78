"""Judging: (case, exchange, table) to verdicts, without I/O and without memory.

The table is the case's rows as Arrow values, made from the case alone; nothing expected ever comes from the target.
Every clause that had a subject gets a verdict: fail with its findings, or pass.
A clause that the case names (``Case.clauses``) but that had no subject has not been shown to hold: it gets the outcome
of what stood in the way (:meth:`conformance.contract.view.View.obstacle`).
"""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import itertools
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, cast

import pyarrow as pa

from conformance.contract.chapters import load_chapters
from conformance.contract.clause import CLAUSES, PROFILES, Clause, Facet, FacetSelector, Subject, Violation
from conformance.contract.remembered import once_per_object
from conformance.contract.view import View
from conformance.records import Case, Exchange, Finding, Outcome, Reading, Verdict

__all__ = ["Brief", "judge", "judge_briefly", "judge_view"]

MAX_FINDINGS = 20
"""Findings kept per clause and case: the twenty-first repetition of one fault teaches nothing."""


def judge(
    case: Case,
    exchange: Exchange,
    table: pa.Table,
    *,
    readings: Sequence[Reading] = (),
    clauses: Iterable[Clause] | None = None,
    profile: str = PROFILES[0],
) -> list[Verdict]:
    """The verdicts of ``clauses`` (all, unless given) on ``exchange``, in the order of the register.

    Only clauses of ``profile`` are judged: what binds writers of any Arrow message may be looser or stricter than
    what binds a Storage Read server.

    ``table`` holds the case's rows with the schema of :func:`conformance.contract.mapping.arrow_schema`.
    ``readings`` are what independent readers made of the same exchange, where there are any.
    """
    load_chapters()
    chosen = _registered(profile, len(CLAUSES)) if clauses is None else _of_profile(clauses, profile)
    if exchange.untestable:
        named = (clause.id for clause in chosen if _names(case.clauses, clause.id))
        return [Verdict(case.id, name, Outcome.UNTESTABLE, reason=exchange.untestable) for name in named]
    return judge_view(View(case, exchange, table, tuple(readings)), chosen)


def judge_view(view: View, clauses: Iterable[Clause]) -> list[Verdict]:
    """The verdicts of ``clauses`` on a view that the caller has made, in their order."""
    verdicts: list[Verdict] = []
    served = bool(view.calls)
    for run in _runs(tuple(clauses)):
        if run.facet is None:
            if served or view.case.clauses:
                verdicts += _asked(view, run, served=served)
            continue
        state = run.facet.state(view)
        passed = None if state is None else _clean(view.case.id, view.case.clauses, run, state)
        verdicts += _asked(view, run, served=True) if passed is None else passed
    return verdicts


@dataclasses.dataclass(frozen=True, slots=True)
class Brief:
    """The verdicts on a view, told shortly: ``passed`` are the ids of the clauses that passed, ``others`` the rest.

    ``passed`` comes in groups, and equal groups are one object for all views: what a clean view shows is always one of
    a few groups. Neither part is in the order of the register.
    """

    passed: tuple[tuple[str, ...], ...]
    others: tuple[Verdict, ...]


def judge_briefly(view: View, clauses: tuple[Clause, ...]) -> Brief:
    """What :func:`judge_view` says, without a verdict for each pass: for whoever judges millions of views."""
    passed: list[tuple[str, ...]] = []
    others: list[Verdict] = []
    served = bool(view.calls)
    named = view.case.clauses
    for run in _sides(clauses):
        if run.facet is None and not (served or named):
            continue
        state = None if run.facet is None else run.facet.state(view)
        if state is not None:
            shown, hidden = _split(run, state)
            if not named or not any(_names(named, clause_id) for clause_id in hidden):
                passed.append(shown)
                continue
        verdicts = _asked(view, run, served=served or run.facet is not None)
        passed.append(tuple([verdict.clause for verdict in verdicts if verdict.outcome is Outcome.PASS]))
        others += [verdict for verdict in verdicts if verdict.outcome is not Outcome.PASS]
    return Brief(tuple(passed), tuple(others))


def _of_profile(clauses: Iterable[Clause], profile: str) -> tuple[Clause, ...]:
    return tuple(clause for clause in clauses if profile in clause.profiles)


@functools.lru_cache(maxsize=16)
def _registered(profile: str, _number: int) -> tuple[Clause, ...]:
    """The clauses of a profile while the register, which only ever grows, has that number of them."""
    return _of_profile(CLAUSES.values(), profile)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """Clauses in a row that are about the same side of an exchange, or about none of its own."""

    clauses: tuple[Clause, ...]
    facet: Facet | None


@functools.lru_cache(maxsize=16)
def _runs(clauses: tuple[Clause, ...]) -> tuple[_Run, ...]:
    runs = itertools.groupby(clauses, key=lambda clause: getattr(clause.over, "facet", None))
    return tuple(_Run(tuple(run), facet) for facet, run in runs)


@once_per_object
def _sides(clauses: tuple[Clause, ...]) -> tuple[_Run, ...]:
    """The clauses by the side of an exchange that they are about, wherever in the register they stand."""
    sides: dict[Facet | None, list[Clause]] = {}
    for clause in clauses:
        sides.setdefault(getattr(clause.over, "facet", None), []).append(clause)
    return tuple(_Run(tuple(side), facet) for facet, side in sides.items())


@functools.lru_cache(maxsize=1024)
def _clean(case_id: str, named: tuple[str, ...], run: _Run, state: Hashable) -> tuple[Verdict, ...] | None:
    """The passes of a run where nothing is wrong; None where a clause that the case names was not observed.

    They follow from the arguments, and most exchanges that are ever judged have no others.
    """
    shown, others = _split(run, state)
    if any(_names(named, clause_id) for clause_id in others if named):
        return None
    return tuple(_passes(case_id, shown))


_NEW: Final = object.__new__
_SLOTS: Final = tuple(getattr(Verdict, field.name).__set__ for field in dataclasses.fields(Verdict))


def _passes(case_id: str, clause_ids: Iterable[str]) -> list[Verdict]:
    """``Verdict(case_id, clause_id, Outcome.PASS)`` for each clause, made in half the time.

    There is one for nearly every clause of every case that was ever judged, and a frozen dataclass sets its fields by
    way of ``object.__setattr__``; here its slots are set themselves.
    """
    set_case, set_clause, set_outcome, set_findings, set_reason = _SLOTS
    passed, made = Outcome.PASS, []
    for clause_id in clause_ids:
        verdict = _NEW(Verdict)
        set_case(verdict, case_id)
        set_clause(verdict, clause_id)
        set_outcome(verdict, passed)
        set_findings(verdict, ())
        set_reason(verdict, "")
        made.append(verdict)
    return made


@functools.lru_cache(maxsize=4096)
def _split(run: _Run, state: Hashable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The clauses of a run that a clean state shows, and those that it does not."""
    shown = {clause.id: cast(FacetSelector, clause.over).shown_by(state) for clause in run.clauses}
    return (
        tuple([one for one, seen in shown.items() if seen]),
        tuple([one for one, seen in shown.items() if not seen]),
    )


def _asked(view: View, run: _Run, *, served: bool) -> list[Verdict]:
    """The verdicts of a run, clause by clause."""
    case_id, verdicts = view.case.id, []
    for clause in run.clauses:
        subjects = clause.over(view) if served else ()
        findings = [_finding(clause, subject, violation) for subject in subjects for violation in clause.check(subject)]
        if findings:
            verdicts.append(Verdict(case_id, clause.id, Outcome.FAIL, tuple(findings[:MAX_FINDINGS])))
        elif subjects:
            verdicts.append(Verdict(case_id, clause.id, Outcome.PASS))
        elif _names(view.case.clauses, clause.id):
            outcome, reason = view.obstacle()
            verdicts.append(Verdict(case_id, clause.id, outcome, reason=reason))
    return verdicts


def _names(patterns: tuple[str, ...], clause_id: str) -> bool:
    return any(fnmatch.fnmatchcase(clause_id, pattern) for pattern in patterns)


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
