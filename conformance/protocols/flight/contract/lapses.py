"""Reads of tickets that have not expired, in histories in which time passed: of renewed endpoints and of other flights.

What becomes of an endpoint after its expiration time is the server's choice. It may serve it, refuse it, renew it or
not; and it may have forgotten everything that has no expiration time, the login of the client included.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final

from conformance.protocols.flight.contract.actions import asked_to_renew, cancelled_tickets, renewed
from conformance.protocols.flight.contract.histories import is_history
from conformance.protocols.flight.contract.subjects import about
from conformance.protocols.flight.contract.view import MARGIN, FlightCall, FlightView, GetView
from conformance.protocols.flight.records import Descriptor, DoAction, DoPut
from conformance.protocols.flight.wire.messages import CANCEL, CLOSE_SESSION

__all__ = ["Lasting", "lasting", "revived"]

_LOGGED_OUT: Final = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED"})
"""The statuses of a client whose login may have ended as well."""

_OF_THE_MOMENT: Final = frozenset({"UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"})
"""The statuses that say nothing of a ticket."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Offer:
    """A ticket that expires at ``until``: the call that says so, its flight, and the time that it had before that."""

    of: FlightCall
    descriptor: Descriptor | None
    until: int
    before: int | None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Lasting:
    """A read of a ticket before it expires, after the clock was moved.

    ``until`` is its time. ``before`` is the time that it had before it was renewed, if that has passed. ``others`` says
    that an endpoint of another flight has expired since the ticket got its time.
    """

    get: GetView
    until: int
    before: int | None
    others: bool
    response: None = None

    @property
    def call(self) -> int:
        """The index of the call."""
        return self.get.index


@about
def lasting(view: FlightView) -> list[Lasting]:
    """Return the reads of drawn histories that are about the passing of time, with any answer but that of a logout."""
    return list(_lasting(view)) if is_history(view) and view.ahead else []


def _lasting(view: FlightView) -> Iterator[Lasting]:
    offers: dict[bytes, _Offer] = {}
    times: list[_Offer] = []
    for call in view.flight_calls:
        _forget(call, offers)
        for offer, ticket in _made(call):
            offers[ticket] = offer
            times.append(offer)
        wrote = any(isinstance(one.step, DoPut) for one in call.beside)
        if not isinstance(call, GetView) or not call.answered or wrote or call.raw.status in _LOGGED_OUT:
            continue
        found, now = offers.get(call.ticket or b""), call.instant
        if found is None or now is None or now + MARGIN >= found.until or found.of.ahead == call.ahead:
            continue
        began = found.of.instant
        others = [one.until for one in times if one.descriptor != found.descriptor]
        passed = found.before is not None and found.before < now
        expired = any(began is not None and began < until < now for until in others)
        if passed or expired:
            yield Lasting(call, found.until, found.before if passed else None, expired)


def _forget(call: FlightCall, offers: dict[bytes, _Offer]) -> None:
    """Forget the tickets that a call may have made void: of a flight that is put again, or after a cancellation."""
    step = call.step
    if isinstance(step, DoAction) and step.type in (CANCEL, CLOSE_SESSION):
        offers.clear()
    void = [ticket for ticket, one in offers.items() if isinstance(step, DoPut) and one.descriptor == step.descriptor]
    before = asked_to_renew(call) if renewed(call) is not None else None
    for ticket in void if before is None or before.ticket is None else [*void, before.ticket]:
        offers.pop(ticket, None)


def _made(call: FlightCall) -> Iterator[tuple[_Offer, bytes]]:
    """The tickets with a time in the answer of a call."""
    wanted: Descriptor | None = getattr(call.step, "descriptor", None)
    for _, info in call.infos if call.ok else ():
        for one in info.endpoints:
            if one.ticket is not None and one.expires is not None:
                yield _Offer(call, wanted, one.expires, None), one.ticket
    after = renewed(call)
    if after is not None and after.ticket is not None and after.expires is not None:
        asked = asked_to_renew(call)
        before = None if asked is None else asked.expires
        yield _Offer(call, _descriptor_of(call), after.expires, before), after.ticket


@about
def revived(view: FlightView) -> list[GetView]:
    """Return the reads of renewed endpoints of infos that were CANCELLED, and refused to a DoGet before the renewal."""
    found: list[GetView] = []
    void: dict[bytes, Descriptor | None] = {}
    refused: set[bytes] = set()
    again: set[bytes] = set()
    for call in view.flight_calls if is_history(view) else ():
        void = _void_after(call, void)
        refused, again = refused & void.keys(), again & void.keys()
        after = renewed(call)
        before = None if after is None else asked_to_renew(call)
        if after is not None and before is not None and before.ticket in refused and after.ticket is not None:
            void.setdefault(after.ticket, void[before.ticket])
            again.add(after.ticket)
        if isinstance(call, GetView) and call.answered and call.ticket is not None:
            if call.ticket in again:
                found.append(call)
            elif call.ticket in void and not call.ok and call.raw.status not in _OF_THE_MOMENT | _LOGGED_OUT:
                refused.add(call.ticket)
    return found


def _void_after(call: FlightCall, void: Mapping[bytes, Descriptor | None]) -> dict[bytes, Descriptor | None]:
    """The tickets that are void after a call, with their flights: those before, those that it cancels, without those
    that it gives out again and those of a flight that it replaces.
    """
    after = dict(void)
    for ticket in cancelled_tickets(call) or ():
        after[ticket] = _descriptor_of(call)
    if isinstance(call.step, DoPut):
        after = {ticket: of for ticket, of in after.items() if of != call.step.descriptor}
    for _, info in call.infos if call.ok else ():
        for one in info.endpoints:
            after.pop(one.ticket or b"", None)
    return after


def _descriptor_of(call: FlightCall) -> Descriptor | None:
    """The flight that an action is about."""
    return call.view.descriptor_of(call.step.info, call.index) if isinstance(call.step, DoAction) else None
