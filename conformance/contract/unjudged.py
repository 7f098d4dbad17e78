"""What keeps a clause or a view from being judged: nothing to see, more than the budget, exceptions beside clauses."""

from __future__ import annotations

import fnmatch
import traceback
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

from conformance.contract.budget import TELLS
from conformance.contract.clause import Aspect, Clause
from conformance.contract.raised import reason_of
from conformance.contract.view import View
from conformance.records import Outcome, Verdict

__all__ = ["USED_UP", "beyond", "exceeds", "is_named", "is_served", "state_of", "unhidden", "unobserved", "untestable"]

USED_UP: Final = "not judged: judging this exchange had used up its budget of work, a limit of the suite"


def is_named(patterns: Sequence[str], clause_id: str) -> bool:
    """Whether the globs of a case name a clause."""
    return any(fnmatch.fnmatchcase(clause_id, pattern) for pattern in patterns)


def unobserved(view: View, clause: Clause) -> Verdict | None:
    """The verdict of a clause without subjects: what stood in the way, where the case names it, or none."""
    if not is_named(view.case.clauses, clause.id):
        return None
    outcome, reason = view.reason_not_judged()
    return Verdict(view.case.id, clause.id, outcome, reason=reason)


def untestable(view: View, clauses: Sequence[Clause]) -> list[Verdict]:
    """The verdicts on what could not be put to the target: of the clauses that the case names."""
    reason, named = view.exchange.untestable, view.case.clauses
    found = (clause.id for clause in clauses if is_named(named, clause.id))
    return [Verdict(view.case.id, clause_id, Outcome.UNTESTABLE, reason=reason) for clause_id in found]


# --- beyond the budget ----------------------------------------------------------------------------


def exceeds(view: View) -> bool:
    """Whether a view holds more than is judged."""
    try:
        return view.excess is not None
    except Exception:  # noqa: BLE001  # whatever cannot be counted cannot be made a subject of, and raises there
        return False


def beyond(view: View, clauses: Sequence[Clause], ask: Callable[[Clause], Verdict | None]) -> list[Verdict]:
    """The verdicts on more than is judged: one finding, of the clause on that; those that are named depend on it.

    Where that clause is not among ``clauses``, every clause says that it was not judged, and why.
    """
    reported = {one.clause: one for clause in clauses if clause.id == TELLS and (one := ask(clause)) is not None}
    if not reported:
        reason = f"not judged: {view.excess.observed}" if view.excess is not None else ""
        return [Verdict(view.case.id, clause.id, Outcome.UNTESTABLE, reason=reason) for clause in clauses]
    _, reason = view.reason_not_judged()
    return [
        reported.get(clause.id) or Verdict(view.case.id, clause.id, Outcome.DEPENDENCY_FAILED, reason=reason)
        for clause in clauses
        if clause.id in reported or is_named(view.case.clauses, clause.id)
    ]


# --- what raised beside the clauses ---------------------------------------------------------------


def is_served(view: View) -> bool:
    """Whether there are calls to a server; where that cannot be said, each clause is asked, and raises."""
    try:
        return bool(view.calls)
    except Exception:  # noqa: BLE001  # the clauses on calls ask for the same
        return True


def state_of(view: View, aspect: Aspect, raised: dict[Aspect, str]) -> Hashable | None:
    """The state of a facet; None where it cannot be said, and its clauses have to be asked.

    Of a facet that raises, ``raised`` takes the reason.
    """
    try:
        return aspect.state(view)
    except Exception as error:  # noqa: BLE001  # see unhidden
        view.broke["".join(traceback.format_exception(error))] = None
        raised[aspect] = reason_of(error)
        return None


def unhidden(verdicts: list[Verdict], raised: Mapping[Aspect, str], clauses: Sequence[Clause]) -> list[Verdict]:
    """The verdicts, in which each facet that raised is seen to have done so.

    Its clauses were asked one by one, and those that need what could not be made raised in turn. Where none did, nobody
    knows what the exception was about: then no clause of that facet has passed.
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
