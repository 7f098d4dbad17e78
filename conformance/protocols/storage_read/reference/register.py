"""The register of the service's mutants; the modules of :mod:`.mutants` define them."""

from __future__ import annotations

from typing import Final

from conformance.reference.register import Mutant, decorator

__all__ = ["SERVICE_MUTANTS", "behaviour_mutant", "process_mutant"]

SERVICE_MUTANTS: Final[dict[str, Mutant]] = {}
"""Every mutant of the service by name; complete once :mod:`.mutants` is imported."""

behaviour_mutant: Final = decorator(lambda service: {"service": service}, SERVICE_MUTANTS)
"""Register a subclass of the service that replaces one step."""

process_mutant: Final = decorator(lambda service: {"service": service, "process": True}, SERVICE_MUTANTS)
"""Register a subclass of the service that hangs or dies."""
