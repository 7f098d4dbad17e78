"""A Flight server is put the cases that its target file says it can serve."""

from __future__ import annotations

import pytest

from conformance.engine.offer import NO_CLOCK, NO_ECHO, NOTHING_PUT, Offer
from conformance.records import Descriptor, DoExchange, DoPut, Happening, ListFlights, Meanwhile, ProtocolName, Step
from tests.reference.flight.direct import case_of


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
    says_nothing = Offer(spoken=(ProtocolName.FLIGHT,), stores=False, echoes=False, clock=False)
    says_both = Offer(spoken=(ProtocolName.FLIGHT,))

    assert [lack.reason for lack in says_nothing.lacks(case_of(step))] == reasons
    assert says_both.lacks(case_of(step)) == ()
