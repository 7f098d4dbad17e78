"""The register of scenarios, and the parts that several of them need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import meaning_of
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.store import Batch, Flight

__all__ = ["SCENARIOS", "Commanded", "numbers", "scenario"]

_SCENARIOS: dict[str, type[FlightService]] = {}

SCENARIOS: Final[Mapping[str, type[FlightService]]] = MappingProxyType(_SCENARIOS)
"""The service of each scenario by its name; complete once the package is imported."""

S = TypeVar("S", bound=type[FlightService])


def scenario(*names: str) -> Callable[[S], S]:
    """Register a service under the names that Arrow's clients use."""

    def register(service: S) -> S:
        for name in names:
            if name in _SCENARIOS:
                raise ValueError(f"scenario {name}: expected a name that is not taken")
            _SCENARIOS[name] = service
        return service

    return register


def numbers(kind: pa.DataType, *batches: list[int]) -> Flight:
    """A flight of a column ``number``, without a descriptor."""
    schema = pa.schema([pa.field("number", kind)])
    made = (Batch(pa.record_batch([pa.array(values, kind)], schema=schema)) for values in batches)
    return Flight(b"", schema, tuple(made))


class Commanded(FlightService):
    """A service that makes its flights when it is asked for a command."""

    def find(self, message: bytes) -> Flight:
        """The flight of a command, under the descriptor as it came."""
        _, command, path = meaning_of(self.decode("FlightDescriptor", message))
        if path:
            self.refuse(StatusCode.INVALID_ARGUMENT, "the flights of this scenario have commands and no paths")
        made = self.flight(command)
        return Flight(message, made.schema, made.batches)

    def flight(self, command: bytes) -> Flight:  # noqa: ARG002  # scenarios use it
        """The flight of a command."""
        return numbers(pa.uint32())

    def total_records(self, flight: Flight) -> int:  # noqa: ARG002  # as above
        """Unknown, as in Arrow's servers."""
        return -1
