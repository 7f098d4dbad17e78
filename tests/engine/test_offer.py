"""A target is put the cases for which it offers everything."""

from __future__ import annotations

import pytest

from conformance.contract.clause import CLAUSES
from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.corpus import load_corpus
from conformance.engine.offer import Offer
from conformance.engine.owed import reference_target
from conformance.engine.selection import all_clauses
from conformance.generate import draw_case, draw_scenario
from conformance.generate.families import draw_member
from conformance.protocols.storage_read.reference.mutants import MUTANTS


@pytest.mark.parametrize(
    ("part", "case_id"),
    [
        ("filters", "session.restriction-honoured-or-refused"),
        ("snapshots", "session.snapshot-time-honoured-or-refused"),
        ("projection", "session.projection-honoured-or-refused"),
        ("splits", "split.honoured-or-refused"),
    ],
)
def test_an_option_that_is_not_offered_is_asked_for_nevertheless(part: str, case_id: str) -> None:
    """A server without it refuses the request, and does not ignore it."""
    corpus = load_corpus()
    offer = Offer(not_offered=(part,))

    assert offer.lacks(corpus[case_id]) == ()


NOT_IGNORED = (
    *("restriction.ignored", "snapshot.time-ignored", "projection.ignored", "split.whole-twice"),
    *("snapshot.time-refused", "projection.refused", None),
)
"""Mutants that ignore something that a server may lack, those that refuse it, and no mutant."""


@pytest.mark.parametrize("mutant", NOT_IGNORED)
def test_silence_with_other_rows_fails_and_a_refusal_does_not(mutant: str | None) -> None:
    """Whatever else the server offers."""
    all_clauses()
    chosen = [one for one in load_corpus().values() if one.id.endswith("honoured-or-refused")]
    clauses = [clause for clause in CLAUSES.values() if clause.id.endswith("-is-not-ignored")]
    with reference_target(mutant=mutant) as target:
        step = CaseStep(clauses, target)
        judged = [step.take(CaseWork(case)).judged for case in chosen]

    failed = [one.clause for found in judged if found is not None for one in found.others]
    assert failed == [one for one in (MUTANTS[mutant].kills if mutant else ()) if one.endswith("-is-not-ignored")]
    assert sum(len(found.passed) for found in judged if found is not None) == len(clauses) - len(failed)


def test_cases_are_drawn_around_types_that_are_not_offered() -> None:
    """No generated case and no scenario has such a column, and the target lacks nothing for them."""
    without = ("TIME", "INTERVAL", "NUMERIC", "BYTES")
    offer = Offer(["query-results"], without)
    cases = [
        *(draw_case(3, index, profile="server", not_offered=without) for index in range(60)),
        *(draw_member(3, index, profile="server", family=5, not_offered=without) for index in range(20)),
        *(draw_scenario(3, index, not_offered=without) for index in range(40)),
    ]

    assert [lack for case in cases for lack in offer.lacks(case)] == []


def test_a_type_that_is_not_offered_is_not_asked_for() -> None:
    """The written cases with such a column are not put to the target."""
    case = load_corpus()["types.time"]

    assert [one.reason for one in Offer(not_offered=("TIME",)).lacks(case)] == [
        "the target does not offer columns of type TIME"
    ]
