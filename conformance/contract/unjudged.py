"""Verdicts without a run of a clause: no subjects, an exchange beyond the budget, exceptions outside of clauses."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance._globs import matches
from conformance.contract.budget import EXCESS_CLAUSE
from conformance.contract.clause import Aspect, Clause
from conformance.contract.raised import JudgingEnded, reason_of
from conformance.contract.subjects import every_call
from conformance.contract.view import View
from conformance.records import Outcome, Verdict

__all__ = ["USED_UP", "beyond", "exceeds", "is_served", "state_of", "unhidden", "unobserved", "untestable"]

USED_UP: Final = "not judged: judging this exchange had used up its budget of work, a limit of the suite"


def unobserved(view: View, clause: Clause) -> Verdict | None:
    """Return the verdict of a clause without subjects: the reason if the case names the clause, else None."""
    if not matches(clause.id, view.case.clauses):
        return None
    outcome, reason = view.reason_not_judged()
    return Verdict(view.case.id, clause.id, outcome, reason=reason)


def untestable(view: View, clauses: Sequence[Clause]) -> list[Verdict]:
    """Return the verdicts on a case that the target could not be asked: one for each clause that the case names."""
    reason, named = view.exchange.untestable, view.case.clauses
    found = (clause.id for clause in clauses if matches(clause.id, named))
    return [Verdict(view.case.id, clause_id, Outcome.UNTESTABLE, reason=reason) for clause_id in found]


def none_of(view: View, clauses: Iterable[Clause], reason: str) -> Iterator[Verdict]:
    """Yield the verdicts on an exchange of which nothing can be judged, for one reason: one for each clause."""
    return (Verdict(view.case.id, clause.id, Outcome.UNTESTABLE, reason=reason) for clause in clauses)


# --- beyond the budget ----------------------------------------------------------------------------


def exceeds(view: View) -> bool:
    """True if a view is larger than the budget permits."""
    try:
        return view.excess is not None
    except Exception:  # noqa: BLE001  # if counting raises, making the subjects raises too, and is reported there
        return False


def beyond(view: View, clauses: Sequence[Clause], ask: Callable[[Clause], Verdict | None]) -> list[Verdict]:
    """Return the verdicts on a view beyond the budget.

    The clause on excess has the one finding; named clauses depend on it. If it is not among ``clauses``, every
    clause is reported as not judged, with the reason.
    """
    reported = {
        one.clause: one for clause in clauses if clause.id == EXCESS_CLAUSE and (one := ask(clause)) is not None
    }
    if not reported:
        reason = f"not judged: {view.excess.observed}" if view.excess is not None else ""
        return [Verdict(view.case.id, clause.id, Outcome.UNTESTABLE, reason=reason) for clause in clauses]
    _, reason = view.reason_not_judged()
    return [
        reported.get(clause.id) or Verdict(view.case.id, clause.id, Outcome.DEPENDENCY_FAILED, reason=reason)
        for clause in clauses
        if clause.id in reported or matches(clause.id, view.case.clauses)
    ]


# --- exceptions outside of clauses ----------------------------------------------------------------


def is_served(view: View) -> bool:
    """True if the view has calls to a server. If computing that raises, True too: then each clause runs, and raises."""
    try:
        return bool(every_call(view))
    except Exception:  # noqa: BLE001  # the clauses on calls compute the same, and report the error
        return True


def state_of(view: View, aspect: Aspect, raised: dict[Aspect, str]) -> Hashable | None:
    """Return the state of an aspect; None if it raises or is not clean, so that its clauses have to be run.

    If the aspect raises, the reason is put into ``raised``.
    """
    try:
        return aspect.state(view)
    except JudgingEnded:
        return None
    except Exception as error:  # noqa: BLE001  # unhidden makes sure that it is reported
        view.broke["".join(traceback.format_exception(error))] = None
        raised[aspect] = reason_of(error)
        return None


def unhidden(verdicts: list[Verdict], raised: Mapping[Aspect, str], clauses: Sequence[Clause]) -> list[Verdict]:
    """Return the verdicts, changed where necessary so that each aspect that raised shows in an error.

    The clauses of such an aspect were run one by one, and those that needed the failing value raised in turn. If
    none of them raised, the cause of the exception is unknown; then no clause of the aspect may pass, and each pass
    becomes an error.
    """
    for aspect, reason in raised.items():
        over = {clause.id for clause in clauses if getattr(clause.over, "aspect", None) is aspect}
        if not any(one.outcome is Outcome.ERROR and one.clause in over for one in verdicts):
            verdicts = [
                Verdict(one.case_id, one.clause, Outcome.ERROR, reason=reason)
                if one.clause in over and one.outcome is Outcome.PASS
                else one
                for one in verdicts
            ]
    return verdicts
