"""Options of a session, which begins with the first call."""

from __future__ import annotations

from conformance.protocols.flight.reference.scenarios.register import scenario
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.sessions import Options

__all__ = ["Sessioned"]


@scenario("session_options")
class Sessioned(FlightService):
    """A client may ask for options that it has not set."""

    def session(self) -> Options:
        """The options of the session of the call, or of a new one."""
        return self.begin()
