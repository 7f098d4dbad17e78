"""Which reads are about the passing of time: those of tickets that have not expired, after others have."""

from __future__ import annotations

import dataclasses

from conformance.protocols.flight.contract.lapses import lasting, revived
from conformance.protocols.flight.contract.view import FlightView
from conformance.protocols.flight.generate.histories import CLAUSES
from conformance.protocols.flight.records import Descriptor, DoAction, DoGet, DoPut, GetFlightInfo
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.protocols.flight.wire.messages import CANCEL, RENEW
from conformance.records import Happening, Meanwhile, Step
from tests.protocols.flight.reference.direct import case_of, seen

F, G = Descriptor(path=("f",)), Descriptor(path=("g",))
EXPIRING = FLIGHT_VARIATIONS["flight-history.endpoints-expire"].service
BEGUN = (DoPut(F), DoPut(G), GetFlightInfo(F, "f"), Meanwhile(Happening.HALFWAY, "f"), GetFlightInfo(G, "g"))
"""Two flights; the endpoint of the second lives for half an hour longer."""
RENEWED = DoAction(RENEW, info="f", endpoint="0", label="r")
OVER = Meanwhile(Happening.EXPIRY, "f")


def history(*steps: Step, service: FlightService | None = None) -> FlightView:
    """The exchange of a drawn history with a service whose endpoints expire."""
    case = dataclasses.replace(case_of(*steps), clauses=CLAUSES)
    return seen(case, EXPIRING() if service is None else service)


def test_a_renewed_endpoint_lasts() -> None:
    """A read after the old time, before the new one."""
    (one,) = lasting(history(*BEGUN, RENEWED, DoGet("r"), OVER, DoGet("r")))

    assert one.get.ok
    assert one.before is not None
    assert one.until - one.before in (1800, 1801)
    assert not one.others


def test_another_flight_has_expired() -> None:
    """A read of the flight that has not; that of the other is nobody's business."""
    (one,) = lasting(history(*BEGUN, OVER, DoGet("g"), DoGet("f")))

    assert (one.get.ok, one.before, one.others) == (True, None, True)


def test_a_put_and_a_cancellation_begin_anew() -> None:
    """A flight that was put again may be another one, and what was cancelled is gone."""
    assert not lasting(history(*BEGUN, RENEWED, DoPut(F), OVER, DoGet("r")))
    assert not lasting(history(*BEGUN, RENEWED, DoAction(CANCEL, info="f"), OVER, DoGet("r")))


def test_in_other_cases_nothing_lapses() -> None:
    """The chapter on expiration judges them."""
    assert not lasting(seen(case_of(*BEGUN, RENEWED, OVER, DoGet("r")), EXPIRING()))


def test_a_cancelled_endpoint_is_not_revived() -> None:
    """The reference refuses the renewal; a mutant gives the ticket out again."""
    steps = (*BEGUN, DoAction(CANCEL, info="f"), DoGet("f"), RENEWED, DoGet("r"), DoGet("f"))
    mutant = FLIGHT_MUTANTS["flight-history.cancelled-comes-back"].service

    assert mutant is not None
    assert not revived(history(*steps))
    assert [get.ok for get in revived(history(*steps, service=mutant()))] == [True, True]
