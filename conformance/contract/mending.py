"""The call that writes one encapsulated message, in each library: most faults of framing come from a writer of streams.

A writer of streams writes schema, batches and an end marker; a byte field of the Storage Read API holds one message.
Each call is part of the documented interface of its library.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance._globs import matches

__all__ = ["Mending", "mending_of"]

Mending = Mapping[str, str]
"""The call that mends a fault, by the language and library."""

_FRAMED: Final = (
    "framing.schema-*", "framing.batch-*", "framing.not-legacy", "framing.metadata-*", "framing.body-*",
)  # fmt: skip
"""The clauses on byte fields that are not one encapsulated message."""

_CALLS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "Python (pyarrow)": ("schema.serialize()", "batch.serialize()"),
        "C++ (Arrow)": ("arrow::ipc::SerializeSchema(schema)", "arrow::ipc::SerializeRecordBatch(batch, options)"),
        "Java (arrow-vector)": (
            "MessageSerializer.serialize(channel, schema)",
            "MessageSerializer.serialize(channel, new VectorUnloader(root).getRecordBatch())",
        ),
        "Go (arrow-go)": (
            "payload := ipc.GetSchemaPayload(schema, allocator); payload.WritePayload(&buffer)",
            "payload, err := ipc.GetRecordBatchPayload(batch); payload.WritePayload(&buffer)",
        ),
        "Rust (arrow-ipc)": (
            (
                "write_message(&mut bytes, encoded, &options), encoded by"
                " IpcDataGenerator::schema_to_bytes_with_dictionary_tracker"
            ),
            "write_message(&mut bytes, encoded, &options), encoded by IpcDataGenerator::encode",
        ),
        "C# (Apache.Arrow)": (
            "ArrowSerializationHelpers.SerializeSchema(schema)",
            "ArrowSerializationHelpers.SerializeRecordBatch(batch)",
        ),
    }
)
"""The calls for a schema and for a batch."""


def mending_of(clause_id: str) -> Mending:
    """Return the call of each library that writes what a clause on framing requires; empty for other clauses."""
    if not matches(clause_id, _FRAMED):
        return {}
    field = clause_id.removeprefix("framing.").partition("-")[0]
    about = {"schema": slice(0, 1), "batch": slice(1, 2)}.get(field, slice(2))
    return {library: "; ".join(calls[about]) for library, calls in _CALLS.items()}
