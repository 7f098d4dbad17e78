"""The reference service of Arrow Flight: one small overridable method per step, in bytes.

A mutant is a subclass that replaces one method in a few lines. Each group of methods is a module; transport is
:mod:`.server`'s. What is stored by DoPut comes back under the same descriptor; DoExchange
sends back what it gets.

Sources: https://github.com/apache/arrow/blob/main/format/Flight.proto and
https://arrow.apache.org/docs/format/Flight.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from conformance.protocols.flight.reference.actions import CANCEL, RENEW
from conformance.protocols.flight.reference.base import Messages
from conformance.protocols.flight.reference.exchange import Exchanges
from conformance.protocols.flight.reference.gets import Gets
from conformance.protocols.flight.reference.handshake import Handshakes
from conformance.protocols.flight.reference.puts import Puts
from conformance.protocols.flight.reference.sessions import Sessions

__all__ = ["CANCEL", "RENEW", "FlightService", "Messages"]


class FlightService(Gets, Puts, Exchanges, Sessions, Handshakes):
    """An Arrow Flight service over a store. Each public method takes the request messages and gives the answers.

    Raises:
        Refusal: from every public method, where the call ends in a status other than OK.
    """

    @property
    def methods(self) -> Mapping[str, Callable[[Iterator[bytes]], Messages]]:
        """The methods by their names; a method that is missing is UNIMPLEMENTED."""
        return {
            "Handshake": self.handshake,
            "ListFlights": self.list_flights,
            "GetFlightInfo": self.get_flight_info,
            "PollFlightInfo": self.poll_flight_info,
            "GetSchema": self.get_schema,
            "DoGet": self.do_get,
            "DoPut": self.do_put,
            "DoExchange": self.do_exchange,
            "DoAction": self.do_action,
            "ListActions": self.list_actions,
        }
