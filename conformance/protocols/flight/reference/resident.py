"""The flights that the reference has before anybody puts one: what a server without tables of the suite lists."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from conformance.protocols.flight.contract.encoding import descriptor
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.store import Batch, Flight, Store

__all__ = ["RESIDENT", "is_resident", "settle"]

_SCHEMA: Final = pa.schema([pa.field("row_id", pa.int64(), nullable=False), pa.field("word", pa.string())])
_ROWS: Final = 5
"""The rows of a batch."""


def _flight(batches: int) -> Flight:
    name = descriptor(Descriptor(path=(f"resident-{batches}",)))
    numbers = [list(range(at * _ROWS, at * _ROWS + _ROWS)) for at in range(batches)]
    rows = [[{"row_id": one, "word": f"word {one}" if one % 3 else None} for one in part] for part in numbers]
    return Flight(name, _SCHEMA, tuple(Batch(pa.RecordBatch.from_pylist(part, schema=_SCHEMA)) for part in rows))


RESIDENT: Final = tuple(map(_flight, range(1, 9)))
"""The flights: each has a batch more than the one before it."""
_NAMES: Final = frozenset(flight.descriptor for flight in RESIDENT)


def is_resident(flight: Flight) -> bool:
    """True for a flight that nobody has put."""
    return flight.descriptor in _NAMES


def settle(store: Store) -> None:
    """Store the flights."""
    for flight in RESIDENT:
        store.put(flight)
