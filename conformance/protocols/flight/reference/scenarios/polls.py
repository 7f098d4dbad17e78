"""A query that runs when it is first asked about, and has ended at the second time."""

from __future__ import annotations

from conformance.protocols.flight.reference.scenarios.register import Commanded, scenario

__all__ = ["Polled"]


@scenario("poll_flight_info")
class Polled(Commanded):
    """Any command is a query."""
