"""The mutants of bytes as serializers that a target file can name.

The entry is this module and the mutant's name::

    name = "mutant"
    kind = "serializer"

    [serializer]
    entry = "conformance.reference.mutants.serializers:batch.end-of-stream"
"""

from __future__ import annotations

import dataclasses
from typing import Any

from conformance.reference.mutants import BYTE_MUTANTS
from conformance.reference.serializer import Serializer

__all__: list[str] = []


@dataclasses.dataclass(frozen=True, slots=True)
class _Group:
    """The mutants whose names share a prefix: an entry is looked up part by part."""

    name: str

    def __getattr__(self, rest: str) -> Serializer:
        mutant = BYTE_MUTANTS.get(f"{self.name}.{rest}")
        if mutant is None or mutant.serializer is None:
            raise AttributeError(f"no mutant {self.name}.{rest} lies about bytes")
        return mutant.serializer


def __getattr__(name: str) -> Any:
    if not any(mutant.startswith(f"{name}.") for mutant in BYTE_MUTANTS):
        raise AttributeError(f"no mutant's name begins with {name}")
    return _Group(name)
