"""Steps of Flight become calls exactly as the case describes them."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from conformance.protocols.flight.contract.encoding import action, descriptor, part
from conformance.protocols.flight.records import (
    Descriptor,
    DoAction,
    DoExchange,
    DoGet,
    DoPut,
    FlightMethod,
    GetFlightInfo,
    GetSchema,
    Handshake,
    ListActions,
    ListFlights,
    PollFlightInfo,
    SendMessages,
)
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Store
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.records import CallEnd, GivingUp, Step
from conformance.targets.allowance import OUT_OF_TIME
from conformance.targets.hosted import HERE
from tests.protocols.flight.reference.direct import PATH, PUT_AND_GET, case_of, failures, seen

NAMED = descriptor(Descriptor(path=("by-hand.table",)))


def calls(*steps: Step, service: FlightService | None = None) -> list[tuple[str, str, bytes]]:
    """Method, label and first request of each call."""
    return [(one.raw.method, one.raw.label, one.raw.request) for one in seen(case_of(*steps), service).flight_calls]


@pytest.mark.parametrize(
    ("step", "method", "request_"),
    [
        (GetFlightInfo(PATH), "GetFlightInfo", NAMED),
        (GetSchema(PATH), "GetSchema", NAMED),
        (PollFlightInfo(PATH), "PollFlightInfo", NAMED),
        (ListFlights(), "ListFlights", b""),
        (ListFlights(b"c"), "ListFlights", part(1, b"c")),
        (ListActions(), "ListActions", b""),
        (DoAction("a", b"b"), "DoAction", action("a", b"b")),
        (DoGet(ticket=b"t"), "DoGet", part(1, b"t")),
        (DoGet(ticket=b""), "DoGet", part(1, b"")),
        (Handshake((b"p",)), "Handshake", part(2, b"p")),
        (SendMessages(FlightMethod.DO_GET, (b"\xff",)), "DoGet", b"\xff"),
        (SendMessages(FlightMethod.DO_PUT, (b"\xff",)), "DoPut", b"\xff"),
    ],
)
def test_a_step_is_a_call(step: Step, method: str, request_: bytes) -> None:
    """With the request that it describes."""
    ((made, _, sent), *_) = calls(step)

    assert (made, sent) == (method, request_)


@pytest.mark.parametrize("step", [DoPut(PATH), DoExchange(PATH), Handshake((b"a", b"b"))])
def test_a_client_may_stream(step: Step) -> None:
    """Every message is recorded, in order."""
    (call,) = seen(case_of(step)).flight_calls

    assert len(call.raw.requests) > 1
    assert call.raw.status == "OK"


def test_several_messages_of_a_method_with_one_are_sent_all() -> None:
    """What the server makes of them is judged."""
    (call,) = seen(case_of(SendMessages(FlightMethod.GET_SCHEMA, (b"", b"x")))).flight_calls

    assert call.raw.requests == (b"", b"x")


def test_each_endpoint_is_redeemed() -> None:
    """One call each, or the one that is asked for."""
    service = FLIGHT_VARIATIONS["flight-info.several-endpoints"].service
    every = calls(*PUT_AND_GET, service=service())[2:]
    one = calls(*PUT_AND_GET[:2], DoGet(endpoint="1"), service=service())[2:]

    assert [label for _, label, _ in every] == ["i/0", "i/1"]
    assert [label for _, label, _ in one] == ["i/1"]


def test_a_poll_follows_the_descriptors_until_the_end() -> None:
    """Its infos can be read like any other."""
    made = calls(DoPut(PATH), PollFlightInfo(PATH, label="q"), DoGet(info="q"))

    assert [(method, label) for method, label, _ in made[1:]] == [
        ("PollFlightInfo", "q/0"),
        ("PollFlightInfo", "q/1"),
        ("DoGet", "q/0"),
    ]


def test_a_poll_ends_after_the_calls_that_it_has() -> None:
    """A query may run for ever."""
    assert len(calls(DoPut(PATH), PollFlightInfo(PATH, most=1))) == 2


@pytest.mark.parametrize(
    ("steps", "skipped"),
    [
        ((GetFlightInfo(PATH), DoGet(), DoAction("CancelFlightInfo", info="i")), (1, 2)),
        ((*PUT_AND_GET[:2], DoGet(endpoint="7"), DoAction("RenewFlightEndpoint", info="i", endpoint="7")), (2, 3)),
    ],
)
def test_a_step_about_nothing_is_skipped(steps: tuple[Step, ...], skipped: tuple[int, ...]) -> None:
    """There is no info, or no such endpoint."""
    assert seen(case_of(*steps)).exchange.skipped_steps == skipped


def test_an_endpoint_that_cannot_be_reached_is_left_out() -> None:
    """The suite follows no location to another machine."""
    view = seen(case_of(*PUT_AND_GET), FLIGHT_VARIATIONS["flight-location.elsewhere"].service())

    assert view.gets == ()
    assert view.exchange.skipped_steps == (2,)


def test_an_info_of_a_refusal_is_forgotten() -> None:
    """A later step does not read what an earlier one found."""

    class Once(FlightService):
        def get_flight_info(self, requests: Iterator[bytes]) -> Messages:
            found = list(super().get_flight_info(requests))
            own.store = Store()  # each call has a copy of the service
            return found

    own = Once()
    view = seen(case_of(*PUT_AND_GET[:2], GetFlightInfo(PATH), DoGet()), own)

    assert view.exchange.skipped_steps == (3,)


class _Endless(FlightService):
    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        while True:
            yield b""


def test_nothing_is_asked_of_a_broken_server() -> None:
    """The rest of the case would show nothing."""
    view = seen(case_of(ListActions(), ListFlights()), _Endless())

    assert [call.raw.end for call in view.flight_calls] == [CallEnd.OVER_BUDGET]


class _Slow(FlightService):
    """Moves the clock of the limits by more than a case may take."""

    def __init__(self, now: list[float]) -> None:
        super().__init__()
        self._now = now

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        self._now[0] += 1e9
        return super().list_actions(requests)


def test_no_call_is_made_after_the_deadline_of_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answered each call, and is not said to hang."""
    now = [0.0]
    monkeypatch.setattr("conformance.targets.allowance.time", SimpleNamespace(monotonic=lambda: now[0]))
    case = case_of(ListActions(), ListFlights(), DoPut(PATH))

    view = seen(case, _Slow(now))

    assert [call.raw.end for call in view.flight_calls] == [CallEnd.COMPLETE]
    assert (view.exchange.skipped_steps, view.exchange.stopped) == ((1, 2), OUT_OF_TIME)
    assert failures(view) == {}


def test_a_read_may_be_cancelled() -> None:
    """After as many messages as the step takes."""
    (*_, call) = seen(case_of(*PUT_AND_GET[:2], DoGet(take=1))).flight_calls

    assert (len(call.raw.responses), call.raw.end) == (1, CallEnd.CANCELLED)


def test_a_ticket_is_redeemed_at_each_place() -> None:
    """The server's own address is another place than the connection of the info."""
    service = FLIGHT_VARIATIONS["flight-location.two-places"].service
    made = calls(*PUT_AND_GET[:2], DoGet(everywhere=True), service=service())[2:]

    assert [label for _, label, _ in made] == ["i/0", f"i/0 at {HERE}"]


class _AtAnotherPort(FlightService):
    """Its endpoints are at another port of this machine, and it wants a login."""

    login = ("user", "open sesame")
    locations = ("grpc://127.0.0.1:9",)


def test_a_client_that_logged_in_follows_no_location_to_another_port() -> None:
    """Its token is for the server that gave it; without a login, the place is tried."""
    view = seen(case_of(*PUT_AND_GET), _AtAnotherPort())
    open_to_all = _AtAnotherPort()
    open_to_all.login = None

    assert (view.gets, view.exchange.skipped_steps) == ((), (2,))
    assert [label for method, label, _ in calls(*PUT_AND_GET, service=open_to_all) if method == "DoGet"] == [
        "i/0 at 127.0.0.1:9"
    ]


def test_a_poll_goes_on_where_another_step_stopped() -> None:
    """A query that has ended is not asked about again."""
    query = PollFlightInfo(PATH, label="q", most=1)
    resumed = PollFlightInfo(PATH, label="r", resume="q")
    view = seen(case_of(DoPut(PATH), query, resumed, PollFlightInfo(PATH, resume="r")))

    (poll,) = view.flight_calls[1].polls
    later = None if poll is None else poll.descriptor

    assert [call.raw.label for call in view.flight_calls[1:]] == ["q/0", "r/0"]
    assert view.flight_calls[2].raw.request == later
    assert view.exchange.skipped_steps == (3,)


@pytest.mark.parametrize(
    ("how", "end", "stored"),
    [
        (GivingUp.CANCEL, CallEnd.CANCELLED, "NOT_FOUND"),
        (GivingUp.DEADLINE, CallEnd.CANCELLED, "NOT_FOUND"),
        (GivingUp.HALF_CLOSE, CallEnd.COMPLETE, "OK"),
    ],
)
def test_a_client_gives_an_upload_up(how: GivingUp, end: CallEnd, stored: str) -> None:
    """After as many messages as the step says; what it half-closes, it has sent."""
    put, info = seen(case_of(DoPut(PATH, stop=2, gives_up=how), GetFlightInfo(PATH))).flight_calls

    assert (len(put.raw.requests), put.raw.end, info.raw.status) == (2, end, stored)


def test_a_client_gives_a_read_up_by_its_deadline() -> None:
    """It has the messages that it took."""
    (*_, call) = seen(case_of(*PUT_AND_GET[:2], DoGet(take=1, gives_up=GivingUp.DEADLINE))).flight_calls

    assert (len(call.raw.responses), call.raw.end) == (1, CallEnd.CANCELLED)


def test_a_call_is_cancelled_as_soon_as_it_is_made() -> None:
    """Whether the client streams or not."""
    steps = (SendMessages(FlightMethod.LIST_ACTIONS, (b"",), take=0), SendMessages(FlightMethod.DO_PUT, take=0))

    assert [call.raw.end for call in seen(case_of(*steps)).flight_calls] == [CallEnd.CANCELLED] * 2
