"""Expiration times: that they are times, and that what has not expired can be read again."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.matching import match_rows
from conformance.contract.sources import TIMESTAMP_MESSAGE
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.actions import asked_to_renew, renewed
from conformance.protocols.flight.contract.decoding import DecodedEndpoint
from conformance.protocols.flight.contract.lapses import lasting
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import LIMITS, about, columns_of, without_dictionaries
from conformance.protocols.flight.contract.view import MARGIN, FlightCall, FlightView, GetView
from conformance.protocols.flight.records import DoAction, DoPut, FlightMethod, FlightSqlStep
from conformance.protocols.flight.wire.messages import RENEW
from conformance.records import Level

_clause = functools.partial(clause, source=(FLIGHT_PAGE, FLIGHT_PROTO), profiles=FLIGHT, role=Role.APPLICATION)

_FIRST, _LAST = -62_135_596_800, 253_402_300_799
"""The seconds of the years 1 and 9999."""
_MOST_NANOS: Final = 999_999_999
_AGO: Final = 3600
"""Seconds by which a time that is stated now may lie in the past: no clock of a server is so wrong."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Stated:
    """A time that an answer states; ``since`` is the instant of the call, None if the exchange does not say."""

    call: int
    response: int
    field: str
    seconds: int
    nanos: int
    since: float | None


def _asked_at(call: FlightCall) -> float | None:
    """When a call asked for times; None if the exchange does not say, or for a query that began before time passed."""
    return None if call.raw.method == FlightMethod.POLL_FLIGHT_INFO and call.ahead else call.instant


@about
def _stated(view: FlightView) -> list[_Stated]:
    found: list[_Stated] = []
    for seen in view.infos:
        for at, endpoint in enumerate(seen.info.endpoints):
            if endpoint.expires is not None:
                where = f"endpoint[{at}].expiration_time"
                time = endpoint.expires, endpoint.nanos
                found.append(_Stated(seen.call, seen.response, where, *time, _asked_at(seen.of)))
    for call in view.flight_calls:
        for at, poll in enumerate(call.polls if call.ok else ()):
            if poll is not None and poll.expires is not None:
                found.append(_Stated(call.index, at, "expiration_time", *poll.expires, _asked_at(call)))
        after = renewed(call)
        if after is not None and after.expires is not None:
            found.append(_Stated(call.index, 0, "expiration_time", after.expires, after.nanos, call.instant))
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
    if stated.since is not None and stated.seconds < stated.since - _AGO:
        yield Violation("a time that is not over", "one of more than an hour ago", stated.field)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Valid:
    """A read of a ticket that had not expired, with the endpoint that said so."""

    get: GetView
    endpoint: DecodedEndpoint
    response: None = None

    @property
    def call(self) -> int:
        """The index of the call."""
        return self.get.index


@about
def _valid(view: FlightView) -> list[_Valid]:
    found: list[_Valid] = []
    offers: dict[bytes, DecodedEndpoint] = {}
    by_call: dict[int, list[DecodedEndpoint]] = {}
    of_histories = {one.call for one in lasting(view)}
    for seen in view.infos:
        by_call.setdefault(seen.call, []).extend(seen.info.endpoints)
    for call in view.flight_calls:
        for endpoint in (*by_call.get(call.index, ()), *filter(None, [renewed(call)])):
            if endpoint.ticket is not None:
                offers[endpoint.ticket] = endpoint
        if isinstance(call.step, DoPut) or (isinstance(call.step, DoAction) and call.step.type != RENEW):
            offers.clear()  # it may have cancelled them, or put others in their place
        if any(isinstance(one.step, DoPut) for one in call.beside):
            continue
        if call.index not in of_histories and isinstance(call, GetView) and call.answered and call.ticket in offers:
            if call.raw.status in LIMITS and call.info is not None and call.info.found:
                continue
            endpoint, now = offers[call.ticket], call.instant
            if endpoint.expires is not None and now is not None and now + MARGIN < endpoint.expires:
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
    A login may end before: UNAUTHENTICATED says nothing of the ticket.
    """
    raw = valid.get.raw
    if not valid.get.ok and raw.status != "UNAUTHENTICATED":
        yield Violation(f"status OK until {valid.endpoint.expires} s", f"{raw.status}: {raw.details}")


@_clause(
    "flight-expiry.renewed-is-not-earlier",
    over=about(lambda view: [call for call in view.flight_calls if (renewed(call) is not None)]),
    level=Level.SHOULD,
    breaks="clients that renew an endpoint in order to have more time",
)
def renewed_is_not_earlier(call: FlightCall) -> Iterator[Violation]:
    """A renewed endpoint does not expire before the time that it had.

    The page: "If the expiration time is short, the client may be able to extend the expiration time by
    RenewFlightEndpoint action."
    """
    before = asked_to_renew(call)
    after = renewed(call)
    if before is None or after is None or before.expires is None or after.expires is None:
        return
    if (after.expires, after.nanos) < (before.expires, before.nanos):
        yield Violation(f"not before {before.expires} s", f"{after.expires} s", "expiration_time", response=0)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Renewed:
    """The reads of an endpoint before and after it was renewed, if that gave it another ticket."""

    before: GetView
    after: GetView
    response: None = None

    @property
    def call(self) -> int:
        """The index of the second read."""
        return self.after.index


@about
def _read_and_renewed(view: FlightView) -> list[_Renewed]:
    found: list[_Renewed] = []
    reads: dict[bytes, GetView] = {}
    old: dict[bytes, bytes] = {}
    for call in view.flight_calls:
        after = renewed(call)
        if after is not None:
            before = asked_to_renew(call)
            if before is not None and before.ticket and after.ticket and before.ticket != after.ticket:
                old[after.ticket] = before.ticket
        elif isinstance(call, GetView):
            written = any(one.raw.method in _WRITING for one in call.beside)
            if call.ok and call.table is not None and call.ticket is not None and not written:
                earlier = reads.get(old.get(call.ticket, b""))
                if earlier is not None:
                    found.append(_Renewed(earlier, call))
                reads.setdefault(call.ticket, call)
        elif call.raw.method in _WRITING or isinstance(call.step, FlightSqlStep):
            reads.clear()
    return found


_WRITING: Final = frozenset({"DoPut", "DoExchange"})


@_clause(
    "flight-expiry.renewed-is-the-same-data",
    over=_read_and_renewed,
    breaks="clients that renew an endpoint in order to read it later: rows are missing, without an error",
)
def renewed_is_the_same_data(pair: _Renewed) -> Iterator[Violation]:
    """An endpoint that was renewed under another ticket gives the rows that it gave before, or a status other than OK.

    The page: "If the expiration time is short, the client may be able to extend the expiration time by
    RenewFlightEndpoint action." It is the time that is another one. A ticket that stays is judged by
    ``flight-data.read-again-is-the-same``.
    """
    assert pair.before.table is not None
    assert pair.after.table is not None
    one, other = without_dictionaries(pair.before.table), without_dictionaries(pair.after.table)
    match = match_rows(one, other)
    if columns_of(one.schema) != columns_of(other.schema) or match.missing or match.repeated or match.foreign:
        yield Violation(f"the {many(one.num_rows, 'row')} of before", f"{many(other.num_rows, 'row')}, others")
