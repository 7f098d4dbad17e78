"""How far a clock is ahead follows from the recorded answers."""

from __future__ import annotations

import pytest

from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.contract.passing import LONGEST, seconds_ahead
from conformance.protocols.flight.records import Descriptor, DoAction, GetFlightInfo, PollFlightInfo
from conformance.protocols.flight.wire.messages import RENEW
from conformance.records import Call, Happening, Meanwhile
from tests.protocols.flight.reference.direct import case_of

NOW = 1_800_000_000
NAME = Descriptor(path=("f",))
CASE = case_of(
    GetFlightInfo(NAME),
    PollFlightInfo(NAME, "p"),
    DoAction(RENEW, info="i", endpoint="0", label="r"),
    GetFlightInfo(NAME, "none"),
)


def endpoint(*seconds: int) -> bytes:
    """A FlightEndpoint with a ticket, and with this expiration time."""
    return part(1, part(1, b"t")) + b"".join(part(3, number(1, NOW + one)) for one in seconds)


CALLS = (
    Call(0, "i", "GetFlightInfo", b"", (part(3, endpoint(100)) + part(3, endpoint(60)) + part(3, endpoint()),)),
    Call(1, "p/0", "PollFlightInfo", b"", (part(1, part(3, endpoint(500))),)),
    Call(1, "p/1", "PollFlightInfo", b"", status="NOT_FOUND"),
    Call(2, RENEW, "DoAction", b"", (part(1, endpoint(300)),)),
    Call(3, "none", "GetFlightInfo", b"", (part(3, endpoint(LONGEST + 5)),)),
)


@pytest.mark.parametrize(
    ("what", "info", "ahead", "expected"),
    [
        (Happening.EXPIRY, "i", 0, 101),
        (Happening.EXPIRY, "", 0, 501),
        (Happening.EXPIRY, "p", 20, 501),
        (Happening.EXPIRY, "r", 0, 301),
        (Happening.HALFWAY, "i", 0, 30),
        (Happening.HALFWAY, "i", 20, 40),
        (Happening.HALFWAY, "i", 60, 80),
        (Happening.HALFWAY, "r", 299, None),
        (Happening.EXPIRY, "r", 300, None),
        (Happening.EXPIRY, "none", 0, None),
    ],
)
def test_the_clock_passes_the_time_that_is_named(what: Happening, info: str, ahead: int, expected: int | None) -> None:
    """The last one, or half of what is left until the next; times of the past and of a year hence are none."""
    assert seconds_ahead(CASE, CALLS, Meanwhile(what, info), ahead=ahead, now=NOW * 1_000_000) == expected
