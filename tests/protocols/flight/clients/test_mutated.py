"""Which mutants of the Flight reference are put before clients, and in which methods."""

from __future__ import annotations

from conformance.contract.clientjudging import Situation
from conformance.protocols.flight.clients.mutated import FlightMutated, flight_mutated
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS


def found(*names: str) -> dict[str, FlightMutated]:
    """The situations of these mutants."""
    return {one.mutant: one for one in flight_mutated(FLIGHT_MUTANTS[name] for name in names)}


def test_a_mutant_of_the_data_is_seen_in_it() -> None:
    """A stream without a schema differs in DoGet; nothing else does."""
    one = found("flight-data.no-schema")["flight-data.no-schema"]

    assert one.asked.methods == ("DoGet",)
    assert one.asked.kind is Situation.MUTATED
    assert one.asked.rows["rows"].num_rows == 12


def test_a_mutant_that_no_client_sees_takes_no_part() -> None:
    """Faults of methods that are not recorded are no situations."""
    assert found("flight-sql.dataset-schema-in-words") == {}


def test_a_clause_has_one_mutant() -> None:
    """The first that was made for a clause takes part."""
    both = found("flight-data.no-schema", "flight-data.no-message")

    assert list(both) == ["flight-data.no-schema"]


def test_recordings_are_the_same_each_time() -> None:
    """Tickets and times do not differ between runs."""
    first, again = (found("flight-data.body-cut")["flight-data.body-cut"] for _ in range(2))

    assert first.asked.script.digest == again.asked.script.digest
