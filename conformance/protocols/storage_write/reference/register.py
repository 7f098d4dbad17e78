"""The register of mutants and legal variations of the reference; :mod:`.mutants` and :mod:`.variations` fill it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.protocols.storage_write.reference.service import WriteService
from conformance.reference.freedom import ServiceVariation, registering
from conformance.reference.register import Mutant, decorator

__all__ = ["WRITE_MUTANTS", "WRITE_VARIATIONS", "mutant", "variation"]

_MUTANTS: dict[str, Mutant] = {}
_VARIATIONS: dict[str, ServiceVariation[WriteService]] = {}

WRITE_MUTANTS: Final[Mapping[str, Mutant]] = MappingProxyType(_MUTANTS)
"""Every mutant by name; complete once :mod:`.mutants` is imported."""
WRITE_VARIATIONS: Final[Mapping[str, ServiceVariation[WriteService]]] = MappingProxyType(_VARIATIONS)
"""Every legal variation by name; complete once :mod:`.variations` is imported."""

mutant: Final = decorator(lambda definition: {"service": definition, "protocol": "storage-write"}, _MUTANTS)
"""Register a subclass of the service that replaces one step."""

variation: Final = registering(_VARIATIONS)
"""Register a subclass of the service that answers in another way which its source permits."""
