"""Flights that the suite finds in a list are read a little, and what that leaves out is no fault."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from conformance.protocols.flight.contract.encoding import descriptor, number, part
from conformance.protocols.flight.records import Descriptor, DoGet, GetFlightInfo, GetSchema, ListFlights
from conformance.protocols.flight.reference.resident import RESIDENT
from conformance.protocols.flight.reference.resident import settle as settled
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Store
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.protocols.flight.targets.sampling import LISTED, SECONDS, bounded, given_up
from conformance.records import Call, CallEnd, Expect, Table
from conformance.targets.recordedcall import CallBudget
from tests.protocols.flight.reference.direct import case_of, failures, seen

NOTHING = Table((), rows=())
ANY = Expect(("OK", "NOT_FOUND", "INTERNAL", "PERMISSION_DENIED"))
ITS_NAME = Descriptor(info="i")
BUDGET = CallBudget(seconds=20, responses=1000, bytes=64 << 20, longest=60)
READ = Call(0, "i/1", "DoGet", b"")


def store() -> Store:
    """The store of a server with flights of its own."""
    made = Store()
    settled(made)
    return made


@pytest.mark.parametrize(("nth", "at"), [(0, 0), (2, 2), (-1, len(RESIDENT) - 1)])
def test_a_flight_of_the_list_is_asked_for_by_its_descriptor(nth: int, at: int) -> None:
    """In the bytes of the list."""
    steps = ListFlights(nth=nth, label="i"), GetSchema(ITS_NAME), GetFlightInfo(ITS_NAME, label="j")
    view = seen(case_of(*steps, table=NOTHING), FlightService(store()))

    assert [call.raw.request for call in view.flight_calls[1:]] == [RESIDENT[at].descriptor] * 2


@pytest.mark.parametrize("service", [FlightService(), FLIGHT_VARIATIONS["flight-info.no-descriptor"].service(store())])
def test_a_flight_that_has_no_name_is_not_asked_for(service: FlightService) -> None:
    """There is none, or the list does not say its descriptor."""
    view = seen(case_of(ListFlights(label="i"), GetSchema(ITS_NAME), table=NOTHING), service)

    assert view.exchange.skipped_steps == (1,)


def test_a_flight_without_end_is_read_in_part() -> None:
    """The client gives it up, and no clause blames the server."""
    service = FLIGHT_VARIATIONS["flight-listed.has-no-end"].service(store())
    view = seen(case_of(ListFlights(nth=-1, label="i"), DoGet(sample=True), ListFlights(), table=NOTHING), service)

    assert [call.raw.end for call in view.gets] == [CallEnd.CANCELLED]
    assert failures(view) == {}


class _Many(FlightService):
    def list_flights(self, requests: Iterator[bytes]) -> Messages:
        self.the_one(requests)
        for at in range(LISTED * 2):
            yield part(2, descriptor(Descriptor(path=(str(at),)))) + number(4, -1) + number(5, -1)


def test_a_list_may_be_longer_than_is_read() -> None:
    """Its first flights are known."""
    view = seen(case_of(ListFlights(nth=1, label="i"), GetSchema(ITS_NAME, expect=ANY), table=NOTHING), _Many())

    assert [call.raw.end for call in view.flight_calls] == [CallEnd.CANCELLED, CallEnd.COMPLETE]
    assert failures(view) == {}


def test_an_endpoint_that_ended_before_has_the_time_of_any_call() -> None:
    """One that hangs then is at fault, and one that was never read to its end may go on for ever."""
    done = dataclasses.replace(READ, status="OK")
    late = dataclasses.replace(READ, end=CallEnd.DEADLINE)
    first, later = bounded(BUDGET, READ, [], 1), bounded(BUDGET, READ, [done], 1)

    assert (first.seconds, later.seconds) == (SECONDS, BUDGET.seconds)
    assert bounded(BUDGET, READ, [done], 2).seconds == SECONDS
    assert given_up(late, first, 1).end is CallEnd.CANCELLED
    assert given_up(late, later, 1).end is CallEnd.DEADLINE
    assert given_up(late, BUDGET, None).end is CallEnd.DEADLINE


class _Refusing(FlightService):
    """Refuses the reads with these numbers."""

    def __init__(self, *numbers: int) -> None:
        super().__init__(store())
        self._left = numbers
        self._made = [0]

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        self._made[0] += 1
        if self._made[0] in self._left:
            return super().do_get(iter([part(1, b"nothing")]))
        return super().do_get(requests)


READS = (
    ListFlights(nth=1, label="i"),
    DoGet(sample=True, expect=ANY),
    GetFlightInfo(ITS_NAME, label="j", expect=ANY),
    DoGet("j", sample=True, expect=ANY),
    ListFlights(),
)


@pytest.mark.parametrize(
    ("numbers", "wrong"),
    [
        ((), []),
        ((1,), ["flight-listed.is-read-again"]),
        ((2,), ["flight-listed.is-read-again"]),
        ((1, 2), ["flight-listed.tickets-are-redeemed"]),
    ],
)
def test_a_flight_that_is_never_read_breaks_a_must(numbers: tuple[int, ...], wrong: list[str]) -> None:
    """One that is read at another time was refused at this one only."""
    found = failures(seen(case_of(*READS, table=NOTHING), _Refusing(*numbers)))

    assert sorted(found) == wrong


@pytest.mark.parametrize(
    "name",
    ["flight-listed.grows", "flight-listed.for-others", "flight-listed.does-not-last", "flight-listed.names-alone"],
)
def test_a_server_may_change_its_flights(name: str) -> None:
    """They grow, end, and are for others."""
    assert failures(seen(case_of(*READS, table=NOTHING), FLIGHT_VARIATIONS[name].service(store()))) == {}
