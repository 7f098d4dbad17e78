"""The actions of the reference: those that it lists, it serves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from grpc import StatusCode

from conformance.contract.flight.decoding import read_endpoint, read_info
from conformance.contract.flight.encoding import number, part, text
from conformance.reference.flight.base import Messages
from conformance.reference.flight.infos import Infos

__all__ = ["CANCEL", "RENEW", "Actions"]

CANCEL: Final = "CancelFlightInfo"
RENEW: Final = "RenewFlightEndpoint"
_CANCELLED: Final = 1


class Actions(Infos):
    """DoAction and ListActions."""

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        """The actions that are served."""
        self.decode("Empty", self.the_one(requests))
        yield text(1, CANCEL) + text(2, "Cancel a FlightInfo: its tickets are void.")
        yield text(1, RENEW) + text(2, "Renew an endpoint: its ticket is valid for longer.")

    def do_action(self, requests: Iterator[bytes]) -> Messages:
        """Cancel an info or renew an endpoint."""
        asked = self.decode("Action", self.the_one(requests))
        body = bytes(asked.data("body"))
        match asked.text("type"):
            case "CancelFlightInfo":
                yield part(1, self.cancel(body))
            case "RenewFlightEndpoint":
                yield part(1, self.renew(body))
            case _:
                self.refuse(StatusCode.NOT_FOUND, "no such action; ListActions names those that there are")

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
            self.refuse(StatusCode.NOT_FOUND, "the ticket of this endpoint was not given out")
        return self.endpoint(endpoint.ticket or b"") + part(3, self.expiry())
