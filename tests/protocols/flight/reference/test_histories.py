"""Drawn histories find no fault in the reference or a legal server; ``test_mutants.py`` has those with a fault."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.engine.proof import ProofFixture, by_server, note_failures
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS

load_chapters()
FIXTURE = ProofFixture.of((), CLAUSES.values())
"""No written case: only drawn histories are put to the servers."""
THIN = dataclasses.replace(FIXTURE, step=3)
"""Each third history."""
CHAPTER = "flight-history."
MADE = [name for name in FLIGHT_MUTANTS if name.startswith(CHAPTER)]
LEGAL = [name for name in FLIGHT_VARIATIONS if name.startswith(CHAPTER)]


def test_each_clause_of_the_chapter_has_a_mutant() -> None:
    """Made for it."""
    killed = {clause for name in MADE for clause in FLIGHT_MUTANTS[name].kills}

    assert killed == {name for name in CLAUSES if name.startswith(CHAPTER)}


QUICK = (None, f"{CHAPTER}forgets-logins", f"{CHAPTER}flight-ends-with-its-endpoint")
"""The proof puts the histories to every legal server; these two end things while a history goes on."""


@pytest.mark.parametrize("name", QUICK)
def test_a_legal_server_fails_nothing_in_a_sample(name: str | None) -> None:
    """Of the histories."""
    assert not _failures(THIN, name)


@pytest.mark.slow(env="thorough")
@pytest.mark.parametrize("name", [None, *LEGAL])
def test_a_legal_server_fails_nothing(name: str | None) -> None:
    """Whether it appends or refuses, keeps clients apart, or gives what is there when a ticket is redeemed."""
    assert not _failures(FIXTURE, name)


def _failures(fixture: ProofFixture, name: str | None) -> dict[str, tuple[str, ...]]:
    """The clauses that fail, after a look at whether any history was put to the server."""
    failures: dict[str, tuple[str, ...]] = {}
    judged = 0
    for verdicts in by_server(fixture, name, [f"{CHAPTER}none-is-lost"], "flight"):
        judged += 1
        note_failures(verdicts, failures)
    assert judged >= 8
    return failures
