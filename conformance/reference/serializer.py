"""The reference serializer: Arrow rows to bare messages in three steps, each of which a mutant may replace.

``reshape`` decides types, field metadata and values; ``write_schema`` and ``write_batch`` decide bytes.
The reference's own steps follow the contract; :mod:`conformance.reference.mutants` has the deviations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import pyarrow as pa

from conformance.reference.message import Message, batch_message, schema_message

__all__ = ["REFERENCE", "Serializer"]

Reshape = Callable[[pa.RecordBatch], pa.RecordBatch]
Write = Callable[[Message], bytes]


def _as_it_is(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


@dataclasses.dataclass(frozen=True, slots=True)
class Serializer:
    """Schema and batches to bytes; the three steps are fields, so that a deviation replaces exactly one."""

    reshape: Reshape = _as_it_is
    write_schema: Write = Message.encode
    write_batch: Write = Message.encode

    @property
    def reshapes(self) -> bool:
        """Whether a mutant changes types or values; such a mutant knows only BigQuery's types."""
        return self.reshape is not _as_it_is

    def schema(self, schema: pa.Schema) -> bytes:
        """The schema message: the bytes of ``ArrowSchema.serialized_schema``."""
        if self.reshapes:
            empty = pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
            schema = self.reshape(empty).schema
        return self.write_schema(schema_message(schema))

    def batch(self, batch: pa.RecordBatch, codec: str = "") -> bytes:
        """The record batch message: the bytes of ``ArrowRecordBatch.serialized_record_batch``.

        ``codec`` is ``""``, ``LZ4_FRAME`` or ``ZSTD``.
        """
        return self.write_batch(batch_message(self.reshape(batch), codec=codec))


REFERENCE: Final = Serializer()
"""The serializer without a deviation."""
