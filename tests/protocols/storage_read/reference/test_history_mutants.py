"""Tests of the mutants of features in combination: each is proven by few calls."""

from __future__ import annotations

import pytest

from conformance.contract.viewing import view_of
from conformance.engine.corpus import load_corpus
from conformance.engine.owed import reference_target
from conformance.generate import materialise
from conformance.history import AnomalyKind
from conformance.protocols.storage_read.contract.rowhistory import observed
from conformance.protocols.storage_read.reference.mutants import MUTANTS

MADE = {name: mutant.kills[0] for name, mutant in MUTANTS.items() if name.startswith("history.")}
CASES = tuple(case for name, case in load_corpus().items() if name.startswith("history."))
MOST_CALLS = 6
"""The most calls of a witness that a person reads with ease."""


def test_every_anomaly_has_two_mutants() -> None:
    """Two faults that a developer could make show each name."""
    made = list(MADE.values())

    assert {clause: made.count(clause) for clause in made} == {
        f"history.no-{kind.replace(' ', '-')}": 2 for kind in AnomalyKind
    }


@pytest.mark.parametrize("name", MADE)
def test_a_mutant_is_proven_by_at_most_six_calls(name: str) -> None:
    """Some case that is made for the clause shows the anomaly in a short witness."""
    sizes = []
    with reference_target(mutant=name) as target:
        for case in CASES:
            if MADE[name] in case.clauses:
                table = materialise(case.table)
                seen = observed(view_of(case, target.drive(case, table), table))
                assert seen is not None
                found = seen.judgement.anomalies
                sizes += [
                    len(one.witness) for one in found if one.kind.replace(" ", "-") == MADE[name][len("history.no-") :]
                ]

    assert 0 < min(sizes, default=0) <= MOST_CALLS
