"""What kept cases from being put to the target, by the type of the column whose values it changed, or else by reason.

A case whose table cannot be stored shows nothing. Its reason is the same in each case with such a column, so that one
line for each type says what was put in and what came back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.view import NOTHING_SHOWN
from conformance.engine.outcomes import shape
from conformance.engine.result import Result
from conformance.records import BqType, Outcome
from conformance.report.summary import unjudged_cases

__all__ = ["untestable_lines"]

MOST: Final = 4
"""The most lines for reasons; the complete report has all."""

_NO_ANSWER: Final = "no answer showed what the clauses of the case are about"
"""The reason of a clause that had nothing to judge, as one of a case."""

_CHANGED: Final = re.compile(r"column '(?:[^'\\]|\\.)*' \((?:(?:REQUIRED|REPEATED) )?(?P<type>\w+)\): (?P<said>.*)")
"""The reason of :func:`conformance.targets.listing.verify` for a value that the target changed."""

_COLUMNS: Final = re.compile(r" \(columns: .*\)$")
"""How the reason ends of a table that the target refuses."""


def untestable_lines(result: Result) -> Iterator[str]:
    """One line for all untestable cases, and one for each type or reason, the most frequent first; none if there are
    none.
    """
    cases: dict[str, dict[str, None]] = {}
    words: dict[str, str] = {}
    for one in result.listed(Outcome.UNTESTABLE):
        text = " ".join(one.text.split())
        found = _CHANGED.search(text)
        changed = found is not None and found["type"] in list(BqType)
        text = _NO_ANSWER if text == NOTHING_SHOWN else text
        about = f"with {found['type']} columns: {found['said']}" if found is not None and changed else text
        key = f"with {found['type']}" if found is not None and changed else shape(_COLUMNS.sub("", text))
        words.setdefault(key, about)
        cases.setdefault(key, {}).update(dict.fromkeys(one.cases))
    if not cases:
        return
    count = len(set().union(*cases.values()))
    part = "" if count == unjudged_cases(result) else ", or not in full"
    yield f"{many(count, 'case')} could not be judged{part} (untestable):"
    by_count = sorted(cases, key=lambda key: -len(cases[key]))
    for key in by_count[:MOST]:
        others = f"{len(cases[key])}, such as " if len(cases[key]) > 1 else ""
        yield f"  {others}{next(iter(cases[key]))}: {words[key]}"
    if len(by_count) > MOST:
        yield f"  and {many(len(by_count) - MOST, 'more reason')}, with --all"
