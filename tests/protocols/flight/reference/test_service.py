"""The steps of the reference service that no case of the suite shows."""

from __future__ import annotations

import pytest
from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import read_data, read_endpoint, read_info, read_poll
from conformance.protocols.flight.contract.encoding import action, data, descriptor, part, text
from conformance.protocols.flight.records import Descriptor, DoExchange, DoPut
from conformance.protocols.flight.reference.service import CANCEL, RENEW, FlightService
from conformance.reference.statuses import Refusal
from tests.protocols.flight.reference.direct import PATH, PUT_AND_GET, case_of, seen

NAME = descriptor(Descriptor(path=("by-hand.table",)))
OTHER = descriptor(Descriptor(path=("other",)))


def ask(service: FlightService, method: str, *requests: bytes) -> list[bytes]:
    """The answers of a method."""
    return list(service.methods[method](iter(requests)))


def refused(service: FlightService, method: str, *requests: bytes) -> StatusCode:
    """The status of a refusal."""
    with pytest.raises(Refusal) as refusal:
        ask(service, method, *requests)
    assert refusal.value.details
    return refusal.value.code


@pytest.fixture
def service() -> FlightService:
    """A reference that stores one table."""
    service = FlightService()
    assert [call.raw.status for call in seen(case_of(*PUT_AND_GET), service).flight_calls] == ["OK", "OK", "OK"]
    return service


def test_flights_are_listed_by_their_descriptors(service: FlightService) -> None:
    """An expression selects those that contain it."""
    assert len(ask(service, "ListFlights", b"")) == 1
    assert len(ask(service, "ListFlights", part(1, b"hand"))) == 1
    assert ask(service, "ListFlights", part(1, b"foot")) == []


def test_a_put_takes_the_place_of_an_earlier_one(service: FlightService) -> None:
    """There is one flight under one descriptor."""
    seen(case_of(DoPut(PATH)), service)

    assert len(service.store.every()) == 1


def test_the_order_of_the_fields_of_a_descriptor_makes_no_difference(service: FlightService) -> None:
    """Both are the same message."""
    turned = text(3, "by-hand.table") + b"\x08\x01"

    assert len(ask(service, "GetSchema", turned)) == 1


@pytest.mark.parametrize(("request_", "code"), [(b"", StatusCode.INVALID_ARGUMENT), (OTHER, StatusCode.NOT_FOUND)])
def test_no_flight_is_refused(service: FlightService, request_: bytes, code: StatusCode) -> None:
    """An empty descriptor names nothing; another one nothing that there is."""
    for method in ("GetFlightInfo", "GetSchema", "PollFlightInfo"):
        assert refused(service, method, request_) is code


def test_a_query_ends_when_it_is_asked_about_again(service: FlightService) -> None:
    """Both answers have the same info."""
    first = read_poll(ask(service, "PollFlightInfo", NAME)[0])
    assert first is not None
    assert first.descriptor is not None
    second = read_poll(ask(service, "PollFlightInfo", first.descriptor)[0])

    assert second is not None
    assert (first.progress, second.progress, second.descriptor) == (0.5, 1.0, None)
    assert first.info == second.info is not None


def test_metadata_comes_back_with_its_batch() -> None:
    """And each message of a put with rows or metadata is answered."""
    service = FlightService()
    view = seen(case_of(DoPut(PATH)))
    schema, batch, *_ = view.exchange.calls[0].requests
    answers = ask(service, "DoPut", schema, batch + part(3, b"\xff"), data(metadata=b"alone"))

    (flight,) = service.store.every()
    assert answers == [part(1, b"\xff"), part(1, b"alone")]
    assert [read.metadata for read in map(read_data, service.stream(flight)) if read] == [None, b"\xff"]


@pytest.mark.parametrize("requests", [(), (b"",), (data(b"no header", of=NAME),), (data(of=NAME),), (b"\x0a\xff",)])
def test_a_put_of_no_stream_is_refused(service: FlightService, requests: tuple[bytes, ...]) -> None:
    """Nothing is stored."""
    assert refused(service, "DoPut", *requests) is StatusCode.INVALID_ARGUMENT
    assert len(service.store.every()) == 1


def test_an_exchange_sends_back_what_comes(service: FlightService) -> None:
    """Without the descriptor; a message of the descriptor alone gets no answer."""
    view = seen(case_of(DoExchange(PATH)))
    (call,) = view.flight_calls
    sent = [read_data(message) for message in call.raw.requests]

    assert [read_data(message) for message in call.raw.responses] == sent[1:]
    assert refused(service, "DoExchange", b"\x0a\xff") is StatusCode.INVALID_ARGUMENT


def test_a_handshake_repeats_its_payloads(service: FlightService) -> None:
    """As many answers as requests."""
    assert ask(service, "Handshake", part(2, b"a"), b"") == [part(2, b"a"), part(2, b"")]


def test_the_actions_that_are_listed_are_served(service: FlightService) -> None:
    """Renewing moves the end of a ticket; cancelling ends it, and is no longer known afterwards."""
    info = read_info(ask(service, "GetFlightInfo", NAME)[0])
    assert info is not None
    listed = ask(service, "ListActions", b"")
    cancel, renew = action(CANCEL, part(1, info.raw)), action(RENEW, part(1, info.endpoints[0].raw))

    (renewed,) = ask(service, "DoAction", renew)
    (cancelled,) = ask(service, "DoAction", cancel)

    assert [CANCEL.encode() in listed[0], RENEW.encode() in listed[1]] == [True, True]
    endpoint = read_endpoint(renewed[renewed.index(b"\x0a", 1) :])
    assert endpoint is not None
    assert endpoint.expires is not None
    assert cancelled == part(1, b"\x08\x01")
    assert refused(service, "DoAction", cancel) is StatusCode.NOT_FOUND
    assert refused(service, "DoAction", renew) is StatusCode.NOT_FOUND


def test_actions_about_nothing_are_refused(service: FlightService) -> None:
    """An unknown one is not found; one without its subject is not valid."""
    assert refused(service, "DoAction", action("none")) is StatusCode.NOT_FOUND
    assert refused(service, "DoAction", action(CANCEL)) is StatusCode.INVALID_ARGUMENT
    assert refused(service, "DoAction", action(RENEW)) is StatusCode.NOT_FOUND
    assert refused(service, "DoAction", action(CANCEL, b"\x0a\xff")) is StatusCode.INVALID_ARGUMENT
