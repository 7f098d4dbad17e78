"""No clause calls the reference or a legal variation of it wrong."""

from __future__ import annotations

import pytest

from conformance.contract.sources import evidence_of
from conformance.protocols.flight.records import DoGet
from conformance.protocols.flight.reference.deviations import flight_service
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from tests.protocols.flight.reference.direct import FIXTURE, PUT_AND_GET, failed, in_part, tried

EVERY = [clause.id for clause in FIXTURE.clauses]


def test_the_reference_fails_nothing() -> None:
    """In any case, light or heavy."""
    assert dict(tried(flight_service(), EVERY)) == {}


@pytest.mark.parametrize("name", FLIGHT_VARIATIONS)
def test_a_legal_variation_fails_nothing(name: str) -> None:
    """Its source permits what it does. A fifteenth of the cases is put to each, so that a case meets eight of them; the
    proof puts every case to all.
    """
    variation = FLIGHT_VARIATIONS[name]

    assert dict(tried(variation.service, part=lambda case: in_part(name, case, 15))) == {}
    assert evidence_of(variation.source)


def test_a_ticket_that_was_redeemed_may_be_refused() -> None:
    """Only the first call for it has to give data."""
    service = FLIGHT_VARIATIONS["flight-info.ticket-of-single-use"].service()

    assert failed(service, *PUT_AND_GET, DoGet()) == set()


def test_no_variation_has_the_name_of_a_mutant() -> None:
    """The server is started with either by its name."""
    assert not FLIGHT_VARIATIONS.keys() & FLIGHT_MUTANTS.keys()
