"""What sets the findings of a cause apart from what is right in the same run; each sentence is true of all of them.

A sentence is computed from the run's data alone. Where nothing sets the findings apart, nothing is said.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.engine.dependence import Symptom
from conformance.engine.events import CaseJudged
from conformance.engine.refusals import general
from conformance.engine.result import NOT_JUDGED, Result
from conformance.engine.standing import PASSED
from conformance.records import Finding

__all__ = ["contrast"]

MOST: Final = 2
"""The most properties that are named as common to all failing cases: more are chance."""

_ROW: Final = re.compile(r"\brow (\d{1,19})\b")
_INTEGER: Final = re.compile(r"(?<![\w.])-?\d{1,80}(?![\w.])")
_WIDTHS: Final = (2, 4, 8)
"""The sizes in bytes of the integers that Arrow's format has."""


def contrast(result: Result, symptoms: Sequence[Symptom]) -> tuple[str, ...]:
    """Sentences on where the findings are, in which cases they are, and how observed and required values relate."""
    findings = [one.finding for one in symptoms if one.finding is not None]
    by_case = tuple(_by_case(result, symptoms))
    places = {(one.case_id, one.clause) for one in symptoms}
    told = tuple(one.sentence for one in result.isolated if (one.case_id, one.clause) in places)
    met = told or (() if any(" alone ha" in sentence for sentence in by_case) else tuple(_by_request(result, symptoms)))
    return (*_by_response(symptoms), *_by_row(findings), *by_case, *met, *_by_value(findings))


def _by_response(symptoms: Sequence[Symptom]) -> Iterator[str]:
    """Where in their reads the findings begin, if each is of a response."""
    first: dict[tuple[str, int | None], int] = {}
    for one in symptoms:
        if one.finding is None or one.finding.response is None:
            return
        place = (one.case_id, one.finding.call)
        first[place] = min(first.get(place, one.finding.response), one.finding.response)
    begins = set(first.values())
    if not begins or 0 in begins:
        return
    if len(begins) == 1 and (before := begins.pop()) > 1:
        yield f"right in the first {before} responses, wrong from the next one on"
    else:
        yield "right in the first response, wrong in a later one"


def _by_row(findings: Sequence[Finding]) -> Iterator[str]:
    rows = {int(found[1]) if (found := _ROW.search(one.observed)) is not None else 0 for one in findings}
    if len(rows) == 1 and (row := rows.pop()):
        yield f"right before row {row}, wrong from row {row} on"


def _by_case(result: Result, symptoms: Sequence[Symptom]) -> Iterator[str]:
    """How many of the cases that show the clauses have the finding, and what only these cases have."""
    clauses = {one.clause for one in symptoms}
    failing = {one.case_id for one in symptoms}
    judged = [case for case in result.cases if case.case_id in failing or _shows(case, clauses)]
    if len(judged) == len(failing):
        if len(judged) > 1:
            yield f"in every one of the {len(judged)} cases that could show it"
        return
    bad = [_has(case) for case in judged if case.case_id in failing]
    good = [_has(case) for case in judged if case.case_id not in failing]
    counted = f"in {len(failing)} of the {len(judged)} cases that could show it"
    only = [one for one in bad[0] if all(one in has for has in bad) and not any(one in has for has in good)]
    special = general(only)
    if 0 < len(special) <= MOST:
        yield f"{counted}: {'these' if len(failing) > 1 else 'this one'} alone {_have(failing)} {' and '.join(special)}"
    else:
        yield counted


def _by_request(result: Result, symptoms: Sequence[Symptom]) -> Iterator[str]:
    """What the requests with the findings ask for, and no other request of these methods does: one feature, or two of
    which each alone is right.
    """
    places = {(one.case_id, one.call) for one in symptoms}
    clauses = {one.clause for one in symptoms}
    judged = [case for case in result.cases if _shows(case, clauses)]
    calls = [((case.case_id, one.call), one) for case in judged for one in case.requests]
    failing = [one for place, one in calls if place in places]
    if not failing or len(failing) < len(places):
        return
    methods = {one.method for one in failing}
    right = [frozenset(one.asked) for place, one in calls if place not in places and one.method in methods]
    common = [name for name in failing[0].asked if all(name in one.asked for one in failing)]
    only = general([name for name in common if not any(name in asked for asked in right)])
    if right and 0 < len(only) <= MOST:
        yield f"the failing requests alone ask for {' and '.join(only)}"
    elif right and not only:
        pairs = _never_together(general(common), right)
        if len(pairs) == 1:
            yield f"the failing requests alone ask for {' together with '.join(pairs[0])}; neither alone fails"


def _never_together(names: Sequence[str], requests: Sequence[frozenset[str]]) -> list[tuple[str, str]]:
    """The pairs of features that none of the requests asks for together."""
    return [pair for pair in itertools.combinations(names, 2) if not any(asked.issuperset(pair) for asked in requests)]


def _have(failing: set[str]) -> str:
    return "have" if len(failing) > 1 else "has"


def _shows(case: CaseJudged, clauses: set[str]) -> bool:
    """True if the clauses are judged on all that the case asks for, or fail on a part of it."""
    judged = [verdict for verdict in case.verdicts if verdict.clause in clauses and verdict.outcome not in NOT_JUDGED]
    return any(verdict.outcome not in PASSED for verdict in judged) if case.stopped else bool(judged)


def _has(case: CaseJudged) -> tuple[str, ...]:
    asked = dict.fromkeys(one for request in case.requests for one in request.asked)
    return (*asked, *(case.shape.has if case.shape is not None else ()))


def _by_value(findings: Sequence[Finding]) -> Iterator[str]:
    """How each observed number relates to the required one."""
    pairs = [pair for one in findings if (pair := _numbers(one)) is not None]
    if not pairs or len(pairs) < len(findings):
        return
    if all(_swapped(observed) & {required} for observed, required in pairs):
        yield f"byte-swapped it would be {pairs[0][1]}"
    differences = {observed - required for observed, required in pairs}
    if len(pairs) > 1 and len(differences) == 1 and (by := differences.pop()):
        yield f"always {abs(by)} too {'many' if by > 0 else 'few'}"


def _numbers(finding: Finding) -> tuple[int, int] | None:
    """The only integer that was observed and the only one required, if there is one of each."""
    observed, required = _INTEGER.findall(finding.observed), _INTEGER.findall(finding.required)
    return (int(observed[0]), int(required[0])) if len(observed) == len(required) == 1 else None


def _swapped(number: int) -> set[int]:
    """The values of ``number`` with its bytes in the other order, in each width that holds it."""
    found = set()
    for width in _WIDTHS:
        if -(1 << (8 * width - 1)) <= number < 1 << (8 * width):
            data = number.to_bytes(width, "little", signed=number < 0)
            found |= {int.from_bytes(data, "big", signed=signed) for signed in (False, True)}
    return found - {number}
