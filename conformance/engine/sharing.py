"""Which clause leads where several judge the rows of one answer: a cause is counted once.

The clause of a restriction's form judges each answer to it. If the form is that of an operand, such as a date, the
clause of an operator such as BETWEEN judges the answer too. If dates are wrong with other operators as well, the
clause of the operand leads, else that of the operator.

A general clause judges some of these answers again: those without a row, or those under a projection. If BETWEEN is
wrong, the clause of BETWEEN leads, also on empty answers. If every empty answer is wrong and other answers of the same
forms are right, the general clause leads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from conformance.engine.dependence import Symptom
from conformance.engine.result import NOT_JUDGED, Result

__all__ = ["FORMS", "GENERAL", "MOSTLY", "OPERANDS", "led"]

MOSTLY: Final = 0.75
"""The part of the cases that could show a fault and do, from which on the fault is that of nearly all of them."""

OPERATORS: Final = tuple(f"restriction.{name}" for name in ("in-list", "between", "is-null", "like"))
"""The clauses on operators, whatever their operands are."""

OPERANDS: Final = (
    "restriction.double-quoted-literal", "restriction.temporal-literal", "restriction.nested-field",
    "restriction.keyword-inside-a-literal", "restriction.keyword-as-a-name",
)  # fmt: skip
"""The clauses on operands, whatever the operator is."""

FORMS: Final = (
    *(f"restriction.{name}" for name in ("function", "comparison", "and-or", "not")), *OPERATORS, *OPERANDS
)  # fmt: skip
"""The clauses on the form of a restriction: one or two of them judge each answer to a valid one."""

GENERAL: Final = ("restriction.nothing-selected", "projection.filter-may-use-other-columns")
"""The clauses that judge such an answer once more, whatever the form is."""

_Place: TypeAlias = tuple[str, int | None]


def led(result: Result, groups: Mapping[str, Sequence[Symptom]]) -> dict[str, str]:
    """For the key of each group that another one explains, because both show one fault of one answer, the other's key.

    A group follows as a whole or not at all.
    """
    found: dict[str, str] = {}
    forms, operators, operands = (_of(groups, clauses) for clauses in (FORMS, OPERATORS, OPERANDS))
    for ones, others in ((operands, operators), (operators, operands)):
        for key, places in ones.items():
            above = next((other for other, its in others.items() if places <= its and other not in found), None)
            if above is not None and key not in found.values():
                found[key] = above
    for clause in GENERAL:
        general = _of(groups, (clause,))
        at = _keys_at(general)
        for key, places in forms.items():
            if key not in found and places <= at.keys() and _leads(clause, groups[key][0].clause, result, groups):
                found[key] = _most(places, at)
        at = _keys_at({key: places for key, places in forms.items() if _last(key, found) not in general})
        for key, places in general.items():
            if places <= at.keys():
                found[key] = _most(places, at)
    return found


def _of(groups: Mapping[str, Sequence[Symptom]], clauses: Sequence[str]) -> dict[str, set[_Place]]:
    """The places of each group all of whose findings are of these clauses."""
    return {
        key: {(one.case_id, one.call) for one in symptoms}
        for key, symptoms in groups.items()
        if all(one.clause in clauses for one in symptoms)
    }


def _keys_at(groups: Mapping[str, set[_Place]]) -> dict[_Place, str]:
    """The first group that has a finding at each place."""
    found: dict[_Place, str] = {}
    for key, places in groups.items():
        for place in places:
            found.setdefault(place, key)
    return found


def _most(places: set[_Place], at: Mapping[_Place, str]) -> str:
    """The group that has most of the places; of several the first one by its key."""
    counted = Counter(at[place] for place in places)
    return min(counted, key=lambda key: (-counted[key], key))


def _last(key: str, found: Mapping[str, str]) -> str:
    """The group that explains the one with this key in the end; itself if none does."""
    while key in found:
        key = found[key]
    return key


def _leads(general: str, form: str, result: Result, groups: Mapping[str, Sequence[Symptom]]) -> bool:
    """Whether a general clause fails nearly wherever it could, and in more of its cases than the clause of a form."""
    one, other = _extent(general, result, groups), _extent(form, result, groups)
    return one[0] >= MOSTLY and one > other


def _extent(clause: str, result: Result, groups: Mapping[str, Sequence[Symptom]]) -> tuple[float, int]:
    """The part of the cases that could show it in which a clause fails, and their number."""
    judged = sum(n for outcome, n in result.by_clause.get(clause, {}).items() if outcome not in NOT_JUDGED)
    cases = {one.case_id for symptoms in groups.values() for one in symptoms if one.clause == clause}
    return (len(cases) / judged if judged else 0.0), len(cases)
