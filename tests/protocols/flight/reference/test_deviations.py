"""A service is found by the name of its deviation."""

from __future__ import annotations

import pytest

from conformance.protocols.flight.reference.deviations import FLIGHT_NAMES, flight_service
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.flight.reference.register import variation
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.sql.service import SqlFlightService
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS


def test_without_a_name_it_is_the_reference() -> None:
    """Nothing deviates."""
    assert flight_service() is SqlFlightService


def test_each_name_is_a_service_of_its_own() -> None:
    """Mutants and legal variations alike."""
    services = {name: flight_service(name) for name in FLIGHT_NAMES}

    assert len(services) > 300
    assert [name for name, one in services.items() if not issubclass(one, FlightService) or one is FlightService] == []


def test_an_unknown_name_is_refused() -> None:
    """The sentence repeats it."""
    with pytest.raises(KeyError) as error:
        flight_service("put.forget")

    assert error.value.args == ("no mutant or legal variation of the Flight reference is called 'put.forget'",)


def test_everything_says_what_it_does() -> None:
    """One or two sentences, each its own."""
    texts = [mutant.fault for mutant in FLIGHT_MUTANTS.values()] + [one.what for one in FLIGHT_VARIATIONS.values()]

    assert all(text.endswith(".") for text in texts)
    assert len(set(texts)) == len(texts)


def test_a_variation_needs_a_docstring_and_a_name_of_its_own() -> None:
    """Otherwise nobody knows what is permitted."""
    with pytest.raises(ValueError, match="variation new: expected a docstring and a name that is not taken"):
        variation("new", "https://example.org")(type("Silent", (FlightService,), {}))
    with pytest.raises(ValueError, match="a name that is not taken"):
        variation("flight-data.v4", "https://example.org")(type("Again", (FlightService,), {"__doc__": "Again."}))
