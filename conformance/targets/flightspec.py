"""The content of ``[flight]`` in a target file: how data comes into a server, and what its flights are called."""

from __future__ import annotations

import dataclasses
import enum

from conformance.records import RecordError

__all__ = ["FlightSeeding", "FlightSpec", "check_flight"]


class FlightSeeding(enum.StrEnum):
    """The ways in which data comes into a Flight server."""

    NONE = "none"
    """Not at all: only cases that write nothing are put to the server, and what it must never do is judged."""
    PUT = "put"
    """DoPut stores a table under its descriptor; GetFlightInfo and DoGet give it back."""


@dataclasses.dataclass(frozen=True, slots=True)
class FlightSpec:
    """What the suite may do to a Flight server.

    ``path`` is the path of a descriptor under which it stores a table; ``{name}`` is replaced by the name of the table,
    which is another one for each case. ``echo`` is the command under which DoExchange sends back each batch and all
    ``app_metadata``; empty if it does so under none.
    """

    seeding: FlightSeeding = FlightSeeding.NONE
    path: tuple[str, ...] = ("{name}",)
    echo: str = ""


def check_flight(flight: FlightSpec) -> None:
    """Refuse a path under which all tables would have one name.

    Raises:
        RecordError: one sentence.
    """
    if not any("{name}" in step for step in flight.path):
        raise RecordError("target.flight.path", "a path with {name} in one of its parts", list(flight.path))
