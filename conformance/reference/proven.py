"""Every mutant that ``conformance prove`` tries: those of Storage Read, and those of Arrow Flight."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.reference.flight.mutants import FLIGHT_MUTANTS
from conformance.reference.mutants import MUTANTS, Mutant

__all__ = ["PROVEN_MUTANTS"]

PROVEN_MUTANTS: Final[Mapping[str, Mutant]] = MappingProxyType({**MUTANTS, **FLIGHT_MUTANTS})
"""Every mutant by name. No name is in both registers: those of Flight begin with the name of a chapter on Flight."""
