"""Serializers that are included in the suite, from libraries that the suite requires anyway."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["Pyarrow"]


class Pyarrow:
    """pyarrow's own writer; ``entry = "conformance.targets.builtin:Pyarrow"``."""

    @staticmethod
    def serialize_schema(schema: pa.Schema) -> bytes:
        """The Schema message as ``Schema.serialize`` writes it."""
        return bytes(schema.serialize())

    @staticmethod
    def serialize_batch(batch: pa.RecordBatch) -> bytes:
        """The RecordBatch message as ``RecordBatch.serialize`` writes it."""
        return bytes(batch.serialize())
