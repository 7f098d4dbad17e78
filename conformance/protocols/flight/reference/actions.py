"""The actions of the reference: those that it lists, it serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import read_endpoint, read_info
from conformance.protocols.flight.contract.encoding import number, part, text
from conformance.protocols.flight.reference.base import Messages
from conformance.protocols.flight.reference.infos import Infos

__all__ = ["CANCEL", "RENEW", "Actions"]

CANCEL: Final = "CancelFlightInfo"
RENEW: Final = "RenewFlightEndpoint"
_CANCELLED: Final = 1


class Actions(Infos):
    """DoAction and ListActions."""

    @property
    def actions(self) -> Mapping[str, tuple[str, Callable[[bytes], bytes]]]:
        """The actions by name, each with its description and the step that gives the body of its result."""
        return {
            CANCEL: ("Cancel a FlightInfo: its tickets are void.", self.cancel),
            RENEW: ("Renew an endpoint: its ticket is valid for longer.", self.renew),
        }

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        """The actions that are served."""
        self.decode("Empty", self.the_one(requests))
        for name, (description, _) in self.actions.items():
            yield text(1, name) + text(2, description)

    def do_action(self, requests: Iterator[bytes]) -> Messages:
        """Carry out an action; each has one result."""
        asked = self.decode("Action", self.the_one(requests))
        found = self.actions.get(asked.text("type"))
        if found is None:
            self.refuse(StatusCode.NOT_FOUND, "no such action; ListActions names those that there are")
        yield part(1, found[1](bytes(asked.data("body"))))

    def cancel(self, body: bytes) -> bytes:
        """The CancelFlightInfoResult; an info whose tickets nobody gave out is NOT_FOUND."""
        asked = self.decode("CancelFlightInfoRequest", body).last("info")
        info = None if asked is None else read_info(body[asked.value_start : asked.end])
        if info is None:
            self.refuse(StatusCode.INVALID_ARGUMENT, "the request has no info")
        revoked = [self.store.revoke(one.ticket or b"") for one in info.endpoints]
        if not any(revoked):
            self.refuse(StatusCode.NOT_FOUND, "no ticket of this info was given out")
        return number(1, _CANCELLED)

    def renew(self, body: bytes) -> bytes:
        """The endpoint with an expiration time that lies ahead."""
        asked = self.decode("RenewFlightEndpointRequest", body).last("endpoint")
        endpoint = None if asked is None else read_endpoint(body[asked.value_start : asked.end])
        if endpoint is None or self.store.redeem(endpoint.ticket or b"") is None:
            self.refuse(StatusCode.NOT_FOUND, "the ticket of this endpoint was not given out, or has expired")
        return self.prolonged(endpoint.ticket or b"")

    def prolonged(self, ticket: bytes) -> bytes:
        """The endpoint of a ticket, with a new expiration time, at which it expires."""
        renewed = self.endpoint(ticket) + part(3, self.expiry())
        stated = read_endpoint(renewed)
        if stated is not None and stated.expires is not None:
            self.store.end(ticket, stated.expires)
        return renewed
