"""The register of mutants and legal variations of the Flight reference; :mod:`.mutants` and :mod:`.variations` fill it.

Both are subclasses of the service that replace a step. A mutant names the clauses that it has to fail; a variation
names the text that permits it, and fails none.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.protocols.flight.reference.service import FlightService
from conformance.reference.freedom import ServiceVariation, registering
from conformance.reference.register import Mutant, decorator

__all__ = ["FLIGHT_MUTANTS", "FLIGHT_VARIATIONS", "mutant", "process_mutant", "variation"]

_MUTANTS: dict[str, Mutant] = {}
_VARIATIONS: dict[str, ServiceVariation[FlightService]] = {}

FLIGHT_MUTANTS: Final[Mapping[str, Mutant]] = MappingProxyType(_MUTANTS)
"""Every mutant of the Flight reference by name; complete once :mod:`.mutants` is imported."""
FLIGHT_VARIATIONS: Final[Mapping[str, ServiceVariation[FlightService]]] = MappingProxyType(_VARIATIONS)
"""Every legal variation by name; complete once :mod:`.variations` is imported."""

mutant: Final = decorator(lambda definition: {"service": definition, "protocol": "flight"}, _MUTANTS)
"""Register a subclass of the service that replaces one step."""

process_mutant: Final = decorator(
    lambda definition: {"service": definition, "protocol": "flight", "process": True}, _MUTANTS
)
"""Register a subclass of the service that dies, and so needs a process of its own."""

variation: Final = registering(_VARIATIONS)
"""Register a subclass of the service that answers in another way which its source permits."""
