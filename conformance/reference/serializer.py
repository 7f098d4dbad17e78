"""The reference serializer: Arrow rows to bare messages in three steps, each of which a mutant may replace.

``reshape`` decides types, field metadata and values; ``write_schema`` and ``write_batch`` decide bytes.
The reference's own steps follow the contract; :mod:`conformance.reference.mutants` has the deviations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import pyarrow as pa

from conformance.reference.message import DraftMessage, batch_message, schema_message

__all__ = ["REFERENCE", "Serializer", "Write", "encoded"]

Reshape = Callable[[pa.RecordBatch], pa.RecordBatch]
Write = Callable[[DraftMessage], DraftMessage | bytes]
"""A step that changes a message, or encodes it in a way that a message cannot express."""


def _as_it_is(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


def _correct(message: DraftMessage) -> DraftMessage:
    return message


@dataclasses.dataclass(frozen=True, slots=True)
class Serializer:
    """Schema and batches to bytes; the three steps are fields, so that a deviation replaces exactly one."""

    reshape: Reshape = _as_it_is
    write_schema: Write = _correct
    write_batch: Write = _correct

    @property
    def reshapes(self) -> bool:
        """Whether a mutant changes types or values; such a mutant knows only BigQuery's types."""
        return self.reshape is not _as_it_is

    @property
    def rewrites_schemas(self) -> bool:
        """Whether a mutant changes the message of a schema."""
        return self.write_schema is not _correct

    @property
    def rewrites_batches(self) -> bool:
        """Whether a mutant changes the message of a batch."""
        return self.write_batch is not _correct

    def then(self, other: Serializer) -> Serializer:
        """The serializer with the deviations of both, ``other``'s last.

        A step that encodes the bytes itself comes last; if both steps do, ``other``'s is left out.
        """
        return Serializer(
            lambda batch: other.reshape(self.reshape(batch)),
            _in_turn(self.write_schema, other.write_schema),
            _in_turn(self.write_batch, other.write_batch),
        )

    def serialize_schema(self, schema: pa.Schema) -> bytes:
        """The schema message: the bytes of ``ArrowSchema.serialized_schema``."""
        if self.reshapes:
            empty = pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
            schema = self.reshape(empty).schema
        message = schema_message(schema)
        message.schema = schema
        return encoded(self.write_schema(message))

    def serialize_batch(self, batch: pa.RecordBatch, codec: str = "") -> bytes:
        """The record batch message: the bytes of ``ArrowRecordBatch.serialized_record_batch``.

        ``codec`` is ``""``, ``LZ4_FRAME`` or ``ZSTD``.
        """
        batch = self.reshape(batch)
        message = batch_message(batch, codec=codec)
        message.schema = batch.schema
        return encoded(self.write_batch(message))


def _in_turn(first: Write, second: Write) -> Write:
    def write(message: DraftMessage) -> DraftMessage | bytes:
        made = first(message)
        if not isinstance(made, bytes):
            return second(made)
        after = second(message)
        return made if isinstance(after, bytes) else first(after)

    return write


def encoded(made: DraftMessage | bytes) -> bytes:
    """The bytes of a message that a step may have encoded already."""
    return made if isinstance(made, bytes) else made.encode()


REFERENCE: Final = Serializer()
"""The serializer without a deviation."""
