"""Polling: what PollFlightInfo says of a query while it runs, and when it has ended."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

from conformance.contract.clause import Role, Violation, clause
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.actions import cancelled_tickets
from conformance.protocols.flight.contract.decoding import Poll
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import about
from conformance.protocols.flight.contract.view import MARGIN, FlightCall, FlightView
from conformance.protocols.flight.records import DoAction, DoPut, PollFlightInfo
from conformance.records import Level

_clause = functools.partial(clause, source=FLIGHT_PAGE, profiles=FLIGHT, role=Role.APPLICATION)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Polled:
    """A PollInfo, and the one before it in the same step."""

    call: int
    response: int
    poll: Poll
    before: Poll | None


@about
def _polls(view: FlightView) -> list[_Polled]:
    found: list[_Polled] = []
    latest: dict[int, Poll] = {}
    for call in view.flight_calls:
        if call.raw.label.endswith("/again"):  # an earlier answer may come again
            continue
        for at, poll in enumerate(call.polls if call.ok else ()):
            if poll is not None:
                found.append(_Polled(call.index, at, poll, latest.get(call.raw.step)))
                latest[call.raw.step] = poll
    return found


@_clause("flight-poll.progress-from-0-to-1", over=_polls, breaks="clients that show progress")
def progress_from_0_to_1(one: _Polled) -> Iterator[Violation]:
    """A progress that is set is a number from 0 to 1.

    The page: "If it's set, the value must be in [0.0, 1.0]."
    """
    progress = one.poll.progress
    if progress is not None and not 0.0 <= progress <= 1.0:
        yield Violation("progress in [0.0, 1.0], or none", str(progress))


@_clause(
    "flight-poll.endpoints-are-appended",
    over=lambda view: [one for one in _polls(view) if one.before is not None and one.before.info is not None],
    level=Level.SHOULD,
    breaks="clients that have redeemed tickets of an earlier answer: they read rows twice or not at all",
)
def endpoints_are_appended(one: _Polled) -> Iterator[Violation]:
    """Each PollInfo has the endpoints of the one before it, in their order, and perhaps further ones.

    The page: "A server should only append to the endpoints in PollInfo.info each time."
    """
    if one.poll.info is None or one.before is None or one.before.info is None:
        return
    had = [endpoint.ticket for endpoint in one.before.info.endpoints]
    has = [endpoint.ticket for endpoint in one.poll.info.endpoints]
    if has[: len(had)] != had:
        yield Violation(f"the {len(had)} tickets of the answer before, and further ones", f"{len(has)} tickets, others")


@_clause(
    "flight-poll.ended-has-an-info",
    over=lambda view: [one for one in _polls(view) if one.poll.descriptor is None],
    breaks="every client that polls: the result is nowhere",
)
def ended_has_an_info(one: _Polled) -> Iterator[Violation]:
    """A PollInfo that names no further descriptor has the info of the query: it has ended.

    The page: "If the query is finished, PollInfo.flight_descriptor is unset. PollInfo.info is the currently available
    results so far. It's a complete FlightInfo each time".
    """
    if one.poll.info is None:
        yield Violation("the FlightInfo of the query, which has ended", "a PollInfo without info")


@_clause(
    "flight-poll.older-descriptor-is-recognised",
    over=about(lambda view: [one for one in view.flight_calls if one.answered and one.raw.label.endswith("/again")]),
    level=Level.SHOULD,
    breaks="clients that have missed an answer",
)
def older_descriptor_is_recognised(call: FlightCall) -> Iterator[Violation]:
    """A descriptor of an earlier PollInfo is still known.

    The page: "A server should recognize a PollInfo.flight_descriptor that is not necessarily the latest in case the
    client misses an update in between."
    """
    if not call.ok:
        yield Violation("status OK for a descriptor that is not the latest", f"{call.raw.status}: {call.raw.details}")


_UNKNOWN = frozenset({"NOT_FOUND", "INVALID_ARGUMENT"})


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Next:
    """A call with the descriptor of a PollInfo, which was the latest."""

    of: FlightCall
    before: Poll
    response: None = None

    @property
    def call(self) -> int:
        """The index of the call."""
        return self.of.index


def _followed(view: FlightView, *, cancelled: bool) -> list[_Next]:
    """Return the calls with the descriptor of an earlier PollInfo, whose query was cancelled between, or was not."""
    found: list[_Next] = []
    given: dict[bytes, Poll] = {}
    void: set[bytes] = set()
    acted = False
    for call in view.flight_calls:
        if isinstance(call.step, DoPut) and given:
            acted = True  # it may have taken the place of what is polled
        if isinstance(call.step, DoAction):
            acted = True
            void |= cancelled_tickets(call) or frozenset()
        if not isinstance(call.step, PollFlightInfo) or call.raw.label.endswith("/again"):
            continue
        before = given.get(call.raw.request)
        if before is not None and call.answered:
            tickets = {one.ticket for one in before.info.endpoints} if before.info is not None else set()
            if (bool(tickets) and tickets <= void) if cancelled else not acted:
                found.append(_Next(call, before))
        for poll in call.polls if call.ok else ():
            if poll is not None and poll.descriptor is not None:
                given[poll.descriptor] = poll
    return found


@about
def _before_its_time(view: FlightView) -> list[_Next]:
    found = _followed(view, cancelled=False)
    timed = [(one, one.of.instant, one.before.expires) for one in found]
    return [one for one, now, expires in timed if now is not None and expires and now + MARGIN < expires[0]]


@_clause(
    "flight-poll.descriptor-is-known-until-then",
    over=_before_its_time,
    source=FLIGHT_PROTO,
    level=Level.SHOULD,
    breaks="every client that polls: the query is lost while it runs",
)
def descriptor_is_known_until_then(one: _Next) -> Iterator[Violation]:
    """Before its expiration time the descriptor of the latest PollInfo is not unknown; the query itself may fail.

    Flight.proto, ``expiration_time``: "After this passes, the server might not accept the retry descriptor anymore".
    Before that time it is the one to ask with.
    """
    if one.of.raw.status in _UNKNOWN:
        raw = one.of.raw
        yield Violation(f"the descriptor until {one.before.expires}", f"{raw.status}: {raw.details}")


@_clause(
    "flight-poll.cancelled-has-ended",
    over=about(lambda view: _followed(view, cancelled=True)),
    source=FLIGHT_PROTO,
    level=Level.SHOULD,
    breaks="clients that wait for the end of a query that they cancelled",
)
def cancelled_has_ended(one: _Next) -> Iterator[Violation]:
    """A query whose info was CANCELLED does not run any more when it is asked about.

    Flight.proto, PollFlightInfo: "A client may use the CancelFlightInfo action with PollInfo.info to cancel the running
    query", and on CANCELLED: "The cancellation request is complete."
    """
    for poll in one.of.polls if one.of.ok else ():
        if poll is not None and poll.descriptor is not None:
            yield Violation("an error, or no further descriptor", "the query runs: there is a further descriptor")
