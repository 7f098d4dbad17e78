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

import pyarrow as pa

from conformance.reference.mutants import MUTANTS
from conformance.reference.serializer import Serializer

__all__ = ["MutantSerializer"]


@dataclasses.dataclass(frozen=True, slots=True)
class MutantSerializer:
    """A mutant's serializer under the names that a target's functions have."""

    serializer: Serializer

    def serialize_schema(self, schema: pa.Schema) -> bytes:
        """The schema message, changed if the mutant changes it."""
        return self.serializer.schema(schema)

    def serialize_batch(self, batch: pa.RecordBatch) -> bytes:
        """The record batch message, changed if the mutant changes it."""
        return self.serializer.batch(batch)


@dataclasses.dataclass(frozen=True, slots=True)
class _Group:
    """The mutants whose names share a prefix: an entry is looked up part by part."""

    name: str

    def __getattr__(self, rest: str) -> MutantSerializer:
        mutant = MUTANTS.get(f"{self.name}.{rest}")
        if mutant is None or mutant.serializer is None:
            raise AttributeError(f"no mutant {self.name}.{rest} lies about bytes")
        return MutantSerializer(mutant.serializer)


def __getattr__(name: str) -> Any:
    if not any(mutant.startswith(f"{name}.") for mutant in MUTANTS):
        raise AttributeError(f"no mutant's name begins with {name}")
    return _Group(name)
