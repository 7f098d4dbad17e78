"""The register of mutants and legal variations of the Flight reference; :mod:`.mutants` and :mod:`.variations` fill it.

Both are subclasses of the service that replace a step. A mutant names the clauses that it has to fail; a variation
names the text that permits it, and fails none.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

from conformance.reference.flight.service import FlightService
from conformance.reference.mutants.register import Mutant, decorator

__all__ = ["FLIGHT_MUTANTS", "FLIGHT_VARIATIONS", "FlightVariation", "mutant", "process_mutant", "variation"]


@dataclasses.dataclass(frozen=True, slots=True)
class FlightVariation:
    """One legal difference: what it is, the text that permits it, and the service that does it."""

    name: str
    what: str
    source: str
    service: type[FlightService]


_MUTANTS: dict[str, Mutant] = {}
_VARIATIONS: dict[str, FlightVariation] = {}

FLIGHT_MUTANTS: Final[Mapping[str, Mutant]] = MappingProxyType(_MUTANTS)
"""Every mutant of the Flight reference by name; complete once :mod:`.mutants` is imported."""
FLIGHT_VARIATIONS: Final[Mapping[str, FlightVariation]] = MappingProxyType(_VARIATIONS)
"""Every legal variation by name; complete once :mod:`.variations` is imported."""

mutant: Final = decorator(lambda reported: {"flight": reported}, _MUTANTS)
"""Register a subclass of the service that replaces one step."""

process_mutant: Final = decorator(lambda reported: {"flight": reported, "process": True}, _MUTANTS)
"""Register a subclass of the service that dies, and so needs a process of its own."""

S = TypeVar("S", bound=type[FlightService])


def variation(name: str, source: str) -> Callable[[S], S]:
    """Register a subclass of the service that answers in another way which ``source`` permits."""

    def register(service: S) -> S:
        what = inspect.cleandoc(service.__dict__.get("__doc__") or "")
        if not what or name in _VARIATIONS:
            raise ValueError(f"variation {name}: expected a docstring and a name that is not taken")
        _VARIATIONS[name] = FlightVariation(name, what, source, service)
        return service

    return register
