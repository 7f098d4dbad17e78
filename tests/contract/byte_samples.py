"""Bytes for the clauses on messages: good ones, and for every rule of the wire some that break it.

The broken ones are those that the wire's own tests are made of; here they are caught on their way into the wire and
offered as the subjects that a clause is asked about.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance import wire
from conformance.contract.messages import Message
from conformance.contract.view import BatchBytes, SchemaBytes
from conformance.reference.serializer import REFERENCE
from tests.wire import breaking


@functools.cache
def broken_messages() -> Mapping[wire.Rule, Message]:
    """For every rule, a message that breaks it, and perhaps others with it."""
    found: dict[wire.Rule, Message] = {}
    caught: list[Message] = []

    def read_schema(data: Any) -> wire.SchemaMessage:
        caught.append(SchemaBytes(0, 0, bytes(data), "serializer"))
        return wire.read_schema(data)

    def read_batch(data: Any, schema: wire.Schema) -> wire.BatchMessage:
        caught.append(BatchBytes(0, 0, bytes(data), schema))
        return wire.read_batch(data, schema)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(breaking, "read_schema", read_schema)
        patch.setattr(breaking, "read_batch", read_batch)
        for rule, case in breaking.BREAKING.items():
            caught.clear()
            case()
            if caught:  # rules on whole streams are broken by more than one message
                found[rule] = caught[-1]
    return found


END_OF_STREAM = bytes.fromhex("ffffffff00000000")
_BATCH = pa.RecordBatch.from_pydict({"n": pa.array([1, None, 3]), "items": pa.array([["a"], [], ["b", "c"]])})
_SCHEMA_DATA = REFERENCE.serialize_schema(_BATCH.schema)
_BATCH_DATA = REFERENCE.serialize_batch(_BATCH)


def _other_message(write: Callable[[pa.NativeFile], object]) -> bytes:
    sink = pa.BufferOutputStream()
    write(sink)
    return sink.getvalue().to_pybytes()


def _dictionary_batch() -> bytes:
    encoded = pa.RecordBatch.from_pydict({"d": pa.array(["a", "b"]).dictionary_encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, encoded.schema) as writer:
        writer.write_batch(encoded)
    messages = list(pa.ipc.MessageReader.open_stream(sink.getvalue()))
    return messages[1].serialize().to_pybytes()


_TENSOR = pa.Tensor.from_numpy(np.arange(8, dtype=np.int64))
SCHEMAS: Mapping[str, bytes] = {
    "framing.schema-not-empty": b"",
    "framing.schema-prefix": _SCHEMA_DATA[8:],
    "framing.schema-header-kind": _BATCH_DATA,
    "framing.schema-without-batch": _SCHEMA_DATA + _BATCH_DATA,
    "framing.schema-single-message": _SCHEMA_DATA + _SCHEMA_DATA,
    "framing.schema-without-end-of-stream": _SCHEMA_DATA + END_OF_STREAM,
    "framing.schema-without-trailing-bytes": _SCHEMA_DATA + b"\x01" * 8,
}
"""Schema fields that break a clause on framing, and no other."""
BATCHES: Mapping[str, bytes] = {
    "framing.batch-not-empty": b"",
    "framing.batch-prefix": _BATCH_DATA[8:],
    "framing.batch-without-schema": _SCHEMA_DATA,
    "framing.batch-without-dictionary": _dictionary_batch(),
    "framing.batch-header-kind": _other_message(lambda sink: pa.ipc.write_tensor(_TENSOR, sink)),
    "framing.batch-single-message": _BATCH_DATA + _BATCH_DATA,
    "framing.batch-without-end-of-stream": _BATCH_DATA + END_OF_STREAM,
    "framing.batch-without-trailing-bytes": _BATCH_DATA + b"\x01" * 8,
    "framing.batch-body-complete": _BATCH_DATA[:-8],
}
"""Batch fields that break a clause on framing, and no other."""


def framed_messages(clause_id: str) -> list[Message]:
    """The messages that break a clause on framing; none for other clauses."""
    schema = wire.read_schema(_SCHEMA_DATA).schema
    found: list[Message] = []
    if clause_id in SCHEMAS:
        found.append(SchemaBytes(0, 0, SCHEMAS[clause_id], "serializer"))
    if clause_id in BATCHES:
        found.append(BatchBytes(0, 0, BATCHES[clause_id], schema))
    return found


@functools.cache
def good_messages() -> tuple[SchemaBytes, BatchBytes]:
    """A schema and a batch of it, without a fault."""
    schema = SchemaBytes(0, 0, _SCHEMA_DATA, "serializer")
    return schema, BatchBytes(0, 0, _BATCH_DATA, schema.message.schema)
