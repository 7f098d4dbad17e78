"""No clause calls the reference or a legal variation of it wrong."""

from __future__ import annotations

import pytest

from conformance.contract.sources import evidence_of
from conformance.reference.flight.mutants import FLIGHT_MUTANTS
from conformance.reference.flight.service import FlightService
from conformance.reference.flight.variations import FLIGHT_VARIATIONS
from tests.reference.flight.direct import FIXTURE, tried

EVERY = [clause.id for clause in FIXTURE.clauses]


def test_the_reference_fails_nothing() -> None:
    """In any case, light or heavy."""
    assert dict(tried(FlightService, EVERY)) == {}


@pytest.mark.parametrize("name", FLIGHT_VARIATIONS)
def test_a_legal_variation_fails_nothing(name: str) -> None:
    """Its source permits what it does."""
    variation = FLIGHT_VARIATIONS[name]

    assert dict(tried(variation.service)) == {}
    assert evidence_of(variation.source)


def test_no_variation_has_the_name_of_a_mutant() -> None:
    """The server is started with either by its name."""
    assert not FLIGHT_VARIATIONS.keys() & FLIGHT_MUTANTS.keys()
