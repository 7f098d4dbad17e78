"""Polling: what PollFlightInfo says of a query while it runs, and when it has ended."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

from conformance.contract.clause import FLIGHT, Role, Violation, clause
from conformance.contract.flight.decoding import Poll
from conformance.contract.flight.subjects import about
from conformance.contract.flight.view import FlightCall, FlightView
from conformance.contract.sources import FLIGHT_PAGE
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
