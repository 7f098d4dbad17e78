"""The flights of the reference: tables by descriptor, and the tickets that were given out for them."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa

from conformance.reference.tokens import Tokens, opaque

__all__ = ["Batch", "Flight", "Store"]


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """A record batch, with the ``app_metadata`` that came with it."""

    rows: pa.RecordBatch
    metadata: bytes | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Flight:
    """A stored table under its descriptor, as that came in bytes."""

    descriptor: bytes
    schema: pa.Schema
    batches: tuple[Batch, ...]

    @property
    def rows(self) -> int:
        """The number of its rows."""
        return sum(batch.rows.num_rows for batch in self.batches)

    def without_last_column(self) -> Flight:
        """The flight with all of its columns but the last."""
        schema = pa.schema(list(self.schema)[:-1])
        batches = tuple(Batch(batch.rows.select(schema.names), batch.metadata) for batch in self.batches)
        return Flight(self.descriptor, schema, batches)


class Store:
    """Flights by descriptor, and parts of flights by ticket; several threads may use it.

    ``wall`` gives the seconds since the Unix epoch; ``ahead`` is what is added to it. ``token`` gives those of clients
    and of sessions.
    """

    def __init__(self, wall: Callable[[], float] = time.time, token: Tokens = opaque) -> None:
        self.ahead = 0
        self.token = token
        self.wall = wall
        self._until: dict[bytes, float] = {}
        self._lock = threading.Lock()
        self._flights: dict[bytes, Flight] = {}
        self._tickets: dict[bytes, Flight] = {}
        self._numbers = itertools.count()

    def put(self, flight: Flight) -> None:
        """Store a flight in place of an earlier one under its descriptor."""
        with self._lock:
            self._flights[flight.descriptor] = flight

    def get(self, descriptor: bytes) -> Flight | None:
        """The flight under a descriptor."""
        return self._flights.get(descriptor)

    def every(self) -> list[Flight]:
        """All flights, in the order in which their descriptors were first used."""
        with self._lock:
            return list(self._flights.values())

    def ticket(self, flight: Flight, batches: Sequence[Batch]) -> bytes:
        """A ticket for some batches of a flight: opaque bytes that are no text."""
        part = dataclasses.replace(flight, batches=tuple(batches))
        with self._lock:
            ticket = b"\xff" + hashlib.blake2b(b"%d" % next(self._numbers), digest_size=12).digest()
            self._tickets[ticket] = part
        return ticket

    def give_out(self, ticket: bytes, flight: Flight) -> None:
        """Let a ticket that was revoked stand for a flight again."""
        with self._lock:
            self._tickets[ticket] = flight

    @property
    def tickets(self) -> Mapping[bytes, Flight]:
        """What each ticket was given out for."""
        return MappingProxyType(self._tickets)

    def clock(self) -> float:
        """The time in seconds since the Unix epoch."""
        return self.wall() + self.ahead

    def end(self, ticket: bytes, until: float) -> None:
        """Let a ticket expire at ``until``, and no longer at another time that was given before."""
        self._until[ticket] = until

    def ends(self, ticket: bytes) -> float | None:
        """When a ticket expires; None if it does not."""
        return self._until.get(ticket)

    def is_over(self, ticket: bytes) -> bool:
        """True if a ticket has expired."""
        return ticket in self._until and self._until[ticket] <= self.clock()

    def redeem(self, ticket: bytes) -> Flight | None:
        """The part of a flight that a ticket was given out for; None if that is not known, or if it has expired."""
        return None if self.is_over(ticket) else self._tickets.get(ticket)

    def revoke(self, ticket: bytes) -> bool:
        """Forget a ticket; False if it is not known."""
        with self._lock:
            return self._tickets.pop(ticket, None) is not None
