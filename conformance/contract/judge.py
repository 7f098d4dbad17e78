"""Judging: (case, exchange, table) to verdicts, without I/O and without memory.

The table is the case's rows as Arrow values, made from the case alone; nothing expected ever comes from the target.
Every clause that had a subject gets a verdict: fail with its findings, or pass.
A clause that the case names (``Case.clauses``) but that had no subject has not been shown to hold: it gets the outcome
of what stood in the way (:meth:`conformance.contract.view.View.obstacle`).
A clause that raises, or whose subjects cannot be made, gets the outcome *error*; the others are judged all the same.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import itertools
import traceback
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, cast

import pyarrow as pa

from conformance.contract.budget import TELLS
from conformance.contract.chapters import load_chapters
from conformance.contract.clause import (
    CLAUSES,
    MAX_FINDINGS,
    PROFILES,
    Clause,
    Facet,
    FacetSelector,
    Subject,
    Violation,
)
from conformance.contract.raised import reason_of
from conformance.contract.remembered import once_per_object
from conformance.contract.view import View
from conformance.records import Case, Exchange, Finding, Outcome, Reading, Verdict

__all__ = ["Brief", "judge", "judge_briefly", "judge_view"]


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
    served, chosen = _is_served(view), tuple(clauses)
    if _exceeds(view):
        return _beyond(view, chosen)
    for run in _runs(chosen):
        if run.facet is None:
            if served or view.case.clauses:
                verdicts += _asked(view, run, served=served)
            continue
        state = _state(view, run.facet)
        passed = None if state is None else _clean(view.case.id, view.case.clauses, run, state)
        verdicts += _asked(view, run, served=True) if passed is None else passed
    return _nothing_hidden(view, chosen, verdicts)


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
    if _exceeds(view):
        return Brief((), tuple(_beyond(view, clauses)))
    passed: list[tuple[str, ...]] = []
    others: list[Verdict] = []
    served = _is_served(view)
    named = view.case.clauses
    for run in _sides(clauses):
        if run.facet is None and not (served or named):
            continue
        state = None if run.facet is None else _state(view, run.facet)
        if state is not None:
            shown, hidden = _split(run, state)
            if not named or not any(_names(named, clause_id) for clause_id in hidden):
                passed.append(shown)
                continue
        verdicts = _nothing_hidden(view, run.clauses, _asked(view, run, served=served or run.facet is not None))
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
    """The verdicts of a run, clause by clause; an exception costs the clause that it was raised for."""
    verdicts = []
    for clause in run.clauses:
        if view.work > view.budget.work:
            verdicts.append(Verdict(view.case.id, clause.id, Outcome.UNTESTABLE, reason=_USED_UP))
            continue
        try:
            verdict = _verdict(view, clause, served=served)
        except Exception as error:  # noqa: BLE001  # whatever it is: the verdict says so, and the case goes on
            view.broke["".join(traceback.format_exception(error))] = None
            verdict = Verdict(view.case.id, clause.id, Outcome.ERROR, reason=reason_of(error))
        if verdict is not None:
            verdicts.append(verdict)
    return verdicts


def _verdict(view: View, clause: Clause, *, served: bool) -> Verdict | None:
    case_id = view.case.id
    subjects = clause.over(view) if served else ()
    view.work += len(subjects)
    found = (_finding(clause, subject, violation) for subject in subjects for violation in clause.check(subject))
    if findings := tuple(itertools.islice(found, MAX_FINDINGS)):
        return Verdict(case_id, clause.id, Outcome.FAIL, findings)
    if subjects:
        return Verdict(case_id, clause.id, Outcome.PASS)
    if not _names(view.case.clauses, clause.id):
        return None
    outcome, reason = view.obstacle()
    return Verdict(case_id, clause.id, outcome, reason=reason)


# --- beyond the budget ----------------------------------------------------------------------------

_USED_UP: Final = "not judged: judging this exchange had used up its budget of work, a limit of the suite"


def _exceeds(view: View) -> bool:
    try:
        return view.excess is not None
    except Exception:  # noqa: BLE001  # whatever cannot be counted cannot be made a subject of, and raises there
        return False


def _beyond(view: View, clauses: tuple[Clause, ...]) -> list[Verdict]:
    """The verdicts on more than is judged: one finding, of the clause on that; those that are named depend on it.

    Where that clause is not asked, every clause says that it was not judged, and why.
    """
    asked = [clause for clause in clauses if clause.id == TELLS]
    told = {one.clause: one for one in _asked(view, _Run(tuple(asked), None), served=_is_served(view))}
    if not told:
        reason = f"not judged: {view.excess.observed}" if view.excess is not None else ""
        return [Verdict(view.case.id, clause.id, Outcome.UNTESTABLE, reason=reason) for clause in clauses]
    _, reason = view.obstacle()
    return [
        told.get(clause.id) or Verdict(view.case.id, clause.id, Outcome.DEPENDENCY_FAILED, reason=reason)
        for clause in clauses
        if clause.id in told or _names(view.case.clauses, clause.id)
    ]


# --- what raised beside the clauses ---------------------------------------------------------------


def _is_served(view: View) -> bool:
    """Whether there are calls to a server; where that cannot be said, each clause is asked, and raises."""
    try:
        return bool(view.calls)
    except Exception:  # noqa: BLE001  # the clauses on calls ask for the same
        return True


def _state(view: View, facet: Facet) -> Hashable | None:
    """The state of a facet; None where it cannot be said, and its clauses have to be asked."""
    try:
        return facet.state(view)
    except Exception as error:  # noqa: BLE001  # see _nothing_hidden
        view.broke["".join(traceback.format_exception(error))] = None
        view.memo.setdefault(_FACETS, {})[facet] = reason_of(error)
        return None


_FACETS: Final = "facets that raised"


def _nothing_hidden(view: View, clauses: Iterable[Clause], verdicts: list[Verdict]) -> list[Verdict]:
    """The verdicts, in which each facet that raised is seen to have done so.

    Its clauses are asked one by one, and those that need what could not be made raise in turn. Where none does, nobody
    knows what the exception was about: then no clause of that facet has passed.
    """
    if _FACETS not in view.memo:
        return verdicts
    raised: dict[Facet, str] = view.memo[_FACETS]
    for facet, reason in raised.items():
        over = {clause.id for clause in clauses if getattr(clause.over, "facet", None) is facet}
        if not any(one.outcome is Outcome.ERROR and one.clause in over for one in verdicts):
            verdicts = [
                Verdict(one.case_id, one.clause, Outcome.ERROR, reason=reason)
                if one.clause in over and one.outcome is Outcome.PASS
                else one
                for one in verdicts
            ]
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
