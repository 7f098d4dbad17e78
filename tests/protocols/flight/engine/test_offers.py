"""A Flight server is put the cases that its target file says it can serve."""

from __future__ import annotations

import pytest

from conformance.engine.offer import Offer
from conformance.protocols.flight.engine.offers import NO_CLOCK, NO_ECHO, NOTHING_PUT, left_out
from conformance.protocols.flight.records import Descriptor, DoExchange, DoPut, ListFlights, PollFlightInfo
from conformance.protocols.flight.table.dialect import SqlSpec
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec, Login
from conformance.records import Happening, Meanwhile, Step
from conformance.targets.spec import Clock, TargetSpec
from tests.protocols.flight.reference.direct import case_of


@pytest.mark.parametrize(
    ("step", "reasons"),
    [
        (DoPut(Descriptor(path=("table",))), [NOTHING_PUT]),
        (DoExchange(), [NO_ECHO]),
        (Meanwhile(Happening.EXPIRY), [NO_CLOCK]),
        (ListFlights(), []),
    ],
)
def test_data_is_sent_to_a_server_that_says_what_it_does_with_it(step: Step, reasons: list[str]) -> None:
    """A server that says nothing is asked, and sent nothing; one that says both lacks nothing."""
    says_nothing = Offer.of(TargetSpec("mine", "flight"))
    told = FlightSpec(FlightSeeding.PUT, echo="echo")
    says_both = Offer.of(TargetSpec("mine", "flight", own=told, clock=Clock("/clock")))

    assert [lack.reason for lack in says_nothing.lacks(case_of(step))] == reasons
    assert says_both.lacks(case_of(step)) == ()


@pytest.mark.parametrize(
    ("flight", "names"),
    [
        (None, ["put", "exchange", "login", "sql", "sql-metadata", "sql-handles", "sql-ingestion"]),
        (FlightSpec(FlightSeeding.PUT, echo="echo", login=Login("me", "secret"), sql=SqlSpec()), []),
        (FlightSpec(sql=SqlSpec(tables=False)), ["put", "exchange", "login", "sql-ingestion"]),
    ],
)
def test_what_a_flight_file_does_not_say_how_to_ask_for_is_not_offered(
    flight: FlightSpec | None, names: list[str]
) -> None:
    """The other profiles are offered unless the list leaves them out, which comes first."""
    spec = TargetSpec("mine", kind="flight", own=flight, not_offered=("polling",))

    assert left_out(spec) == ("polling", *names)
    assert [one.reason for one in Offer.of(spec).lacks(case_of(PollFlightInfo(Descriptor(cmd=b"x"))))] == [
        "the target does not offer polling"
    ]
