"""Expiration times: that they are times, and that what has not expired can be read again."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Final

from conformance.contract.clause import FLIGHT, Role, Violation, clause
from conformance.contract.flight.actions import result_body
from conformance.contract.flight.decoding import Endpoint, message_of, read_endpoint
from conformance.contract.flight.subjects import about
from conformance.contract.flight.view import FlightCall, FlightView, GetView
from conformance.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO, TIMESTAMP_MESSAGE
from conformance.records import DoAction, Level

_clause = functools.partial(clause, source=(FLIGHT_PAGE, FLIGHT_PROTO), profiles=FLIGHT, role=Role.APPLICATION)

_FIRST, _LAST = -62_135_596_800, 253_402_300_799
"""The seconds of the years 1 and 9999."""
_MOST_NANOS: Final = 999_999_999
MARGIN: Final = 60
"""Seconds by which the clocks of both sides may differ, and in which an endpoint may expire while it is read."""
_AGO: Final = 3600
"""Seconds by which a time that is stated now may lie in the past: no clock of a server is so wrong."""
RENEW: Final = "RenewFlightEndpoint"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Stated:
    """A time that an answer states; ``since`` is the instant of the call, in seconds since the Unix epoch."""

    call: int
    response: int
    field: str
    seconds: int
    nanos: int
    since: float


def _instant(call: FlightCall) -> float:
    """When a call began, on the clock of the driver; 0 if the exchange does not say."""
    now = call.view.exchange.now
    return now / 1e6 + call.raw.started if now else 0.0


def _renewed(call: FlightCall) -> Endpoint | None:
    """The endpoint in the result of RenewFlightEndpoint."""
    if not call.ok or not isinstance(call.step, DoAction) or call.step.type != RENEW:
        return None
    body = result_body(call)
    return None if body is None else read_endpoint(body)


@about
def _stated(view: FlightView) -> list[_Stated]:
    found: list[_Stated] = []
    for seen in view.infos:
        for at, endpoint in enumerate(seen.info.endpoints):
            if endpoint.expires is not None:
                where = f"endpoint[{at}].expiration_time"
                time = endpoint.expires, endpoint.nanos
                found.append(_Stated(seen.call, seen.response, where, *time, _instant(seen.of)))
    for call in view.flight_calls:
        for at, poll in enumerate(call.polls if call.ok else ()):
            if poll is not None and poll.expires is not None:
                found.append(_Stated(call.index, at, "expiration_time", *poll.expires, _instant(call)))
        renewed = _renewed(call)
        if renewed is not None and renewed.expires is not None:
            found.append(_Stated(call.index, 0, "expiration_time", renewed.expires, renewed.nanos, _instant(call)))
    return found


@_clause(
    "flight-expiry.is-a-time",
    over=_stated,
    source=(FLIGHT_PAGE, TIMESTAMP_MESSAGE),
    level=Level.SHOULD,
    breaks="clients whose libraries refuse the value, or take milliseconds for seconds",
)
def is_a_time(stated: _Stated) -> Iterator[Violation]:
    """An expiration time is in the range of a Timestamp: the years 1 to 9999, and nanoseconds below one second.

    The page: "The expiration time is represented as google.protobuf.Timestamp." The documentation of that message has
    the ranges of its fields.
    """
    if not _FIRST <= stated.seconds <= _LAST:
        yield Violation(f"{_FIRST} to {_LAST} seconds", str(stated.seconds), stated.field)
    elif not 0 <= stated.nanos <= _MOST_NANOS:
        yield Violation(f"0 to {_MOST_NANOS} nanoseconds", str(stated.nanos), stated.field)


@_clause(
    "flight-expiry.is-not-over",
    over=lambda view: [one for one in _stated(view) if one.since and _FIRST <= one.seconds <= _LAST],
    level=Level.SHOULD,
    breaks="clients that do not begin to read what has expired",
)
def is_not_over(stated: _Stated) -> Iterator[Violation]:
    """An expiration time that is stated now is not more than an hour ago.

    The page: "the client can get data multiple times by DoGet until the expiration time is reached."
    """
    if stated.seconds < stated.since - _AGO:
        yield Violation("a time that is not over", "one of more than an hour ago", stated.field)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Valid:
    """A read of a ticket that had not expired, with the endpoint that said so."""

    get: GetView
    endpoint: Endpoint
    response: None = None

    @property
    def call(self) -> int:
        """The index of the call."""
        return self.get.index


@about
def _valid(view: FlightView) -> list[_Valid]:
    found: list[_Valid] = []
    offers: dict[bytes, Endpoint] = {}
    by_call: dict[int, list[Endpoint]] = {}
    for seen in view.infos:
        by_call.setdefault(seen.call, []).extend(seen.info.endpoints)
    for call in view.flight_calls:
        for endpoint in (*by_call.get(call.index, ()), *filter(None, [_renewed(call)])):
            if endpoint.ticket is not None:
                offers[endpoint.ticket] = endpoint
        if isinstance(call.step, DoAction) and call.step.type != RENEW:
            offers.clear()  # it may have cancelled them
        if isinstance(call, GetView) and call.answered and call.ticket in offers:
            endpoint = offers[call.ticket]
            if endpoint.expires is not None and _instant(call) + MARGIN < endpoint.expires:
                found.append(_Valid(call, endpoint))
    return found


@_clause(
    "flight-expiry.is-read-until-then",
    over=_valid,
    breaks="clients that read again after a lost connection, because they were told that they may",
)
def is_read_until_then(valid: _Valid) -> Iterator[Violation]:
    """Before its expiration time the ticket of an endpoint is redeemed, however often.

    The page: "If an endpoint has expiration time, the client can get data multiple times by DoGet until the expiration
    time is reached." Flight.proto: "If present, clients may assume they can retry DoGet requests."
    """
    if not valid.get.ok:
        raw = valid.get.raw
        yield Violation(f"status OK until {valid.endpoint.expires} s", f"{raw.status}: {raw.details}")


@_clause(
    "flight-expiry.renewed-is-not-earlier",
    over=about(lambda view: [call for call in view.flight_calls if (_renewed(call) is not None)]),
    level=Level.SHOULD,
    breaks="clients that renew an endpoint in order to have more time",
)
def renewed_is_not_earlier(call: FlightCall) -> Iterator[Violation]:
    """A renewed endpoint does not expire before the time that it had.

    The page: "If the expiration time is short, the client may be able to extend the expiration time by
    RenewFlightEndpoint action."
    """
    action = message_of("Action", call.raw.request)
    body = b"" if action is None else bytes(action.data("body"))
    asked = message_of("RenewFlightEndpointRequest", body)
    held = None if asked is None else asked.last("endpoint")
    before = None if held is None else read_endpoint(body[held.value_start : held.end])
    after = _renewed(call)
    if before is None or after is None or before.expires is None or after.expires is None:
        return
    if (after.expires, after.nanos) < (before.expires, before.nanos):
        yield Violation(f"not before {before.expires} s", f"{after.expires} s", "expiration_time", response=0)
