"""Drawn histories find no fault in the reference or a legal server; ``test_mutants.py`` has those with a fault."""

from __future__ import annotations

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.engine.proof import ProofFixture, by_server, note_failures
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from tests.studies import sample

load_chapters()
FIXTURE = ProofFixture.of((), CLAUSES.values())
"""No written case: only drawn histories are put to the servers."""
CHAPTER = "flight-history."
MADE = [name for name in FLIGHT_MUTANTS if name.startswith(CHAPTER)]
LEGAL = [name for name in FLIGHT_VARIATIONS if name.startswith(CHAPTER)]


def test_each_clause_of_the_chapter_has_a_mutant() -> None:
    """Made for it."""
    killed = {clause for name in MADE for clause in FLIGHT_MUTANTS[name].kills}

    assert killed == {name for name in CLAUSES if name.startswith(CHAPTER)}


QUICK = ("None", f"{CHAPTER}forgets-logins", f"{CHAPTER}flight-ends-with-its-endpoint")
"""The proof puts the histories to every legal server; these two end things while a history goes on."""


@pytest.mark.parametrize("name", sample([None, *LEGAL], QUICK, env="thorough"))
def test_a_legal_server_fails_nothing(name: str | None) -> None:
    """Whether it appends or refuses, keeps clients apart, or gives what is there when a ticket is redeemed."""
    failures: dict[str, tuple[str, ...]] = {}
    for verdicts in by_server(FIXTURE, name, [f"{CHAPTER}none-is-lost"], "flight"):
        note_failures(verdicts, failures)

    assert not failures
