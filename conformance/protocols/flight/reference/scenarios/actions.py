"""Endpoints that expire, and the actions that cancel and renew them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import read_endpoint
from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.reference.actions import CANCEL, RENEW
from conformance.protocols.flight.reference.scenarios.register import Commanded, numbers, scenario
from conformance.protocols.flight.reference.service import Messages
from conformance.protocols.flight.reference.store import Flight, Store

__all__ = ["ThreeExpiring"]

SECONDS: Final = (None, 5, 6)
"""The lifetime of each endpoint in seconds; the first one has none, and is read once."""


@scenario(
    "expiration_time:do_get",
    "expiration_time:list_actions",
    "expiration_time:cancel_flight_info",
    "expiration_time:renew_flight_endpoint",
)
class ThreeExpiring(Commanded):
    """Three endpoints with one number each."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._until: dict[bytes, int | None] = {}

    @property
    def actions(self) -> Mapping[str, tuple[str, Callable[[bytes], bytes]]]:
        """The two actions that the clients ask for, and no others."""
        return {name: action for name, action in super().actions.items() if name in (CANCEL, RENEW)}

    def flight(self, command: bytes) -> Flight:
        """The numbers 0 to 2."""
        del command
        return numbers(pa.uint32(), *([at] for at in range(len(SECONDS))))

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        """An endpoint for each batch, with its own lifetime."""
        made = []
        for batch, seconds in zip(flight.batches, SECONDS, strict=True):
            ticket = self.store.ticket(flight, [batch])
            self._until[ticket] = None if seconds is None else int(self.clock()) + seconds
            made.append(self.endpoint(ticket) + self._expires(ticket))
        return made

    def _expires(self, ticket: bytes) -> bytes:
        until = self._until[ticket]
        return b"" if until is None else part(3, number(1, until))

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        """The data of a ticket until it expires; once, if it has no lifetime."""
        request = self.the_one(requests)
        ticket = bytes(self.decode("Ticket", request).data("ticket"))
        until = self._until.get(ticket)
        if until is not None and until < self.clock():
            self.refuse(StatusCode.NOT_FOUND, "the ticket has expired")
        yield from super().do_get(iter([request]))
        if until is None:
            self.store.revoke(ticket)

    def renew(self, body: bytes) -> bytes:
        """The endpoint with a later end, until which its ticket is good."""
        answer = super().renew(body)
        endpoint = read_endpoint(answer)
        assert endpoint is not None, "the reference writes it"
        self._until[endpoint.ticket or b""] = endpoint.expires
        return answer
