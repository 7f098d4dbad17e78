"""Mutants of bytes from public reports that fit no other module: slices written wrongly, lost values."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.types as is_

from conformance.reference.message import DraftMessage
from conformance.reference.register import batch_mutant, rows_mutant
from conformance.reference.reshaping import change_fields, sql_type


@rows_mutant(
    "type.nested-timestamp-as-string",
    kills="types.timestamp",
    defects=("B-76",),
    source="https://github.com/goccy/bigquery-emulator/issues/482",
)
def nested_timestamp_as_string(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A TIMESTAMP inside a RECORD arrives as text; a top-level one is right."""

    def reported(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not is_.is_struct(field.type) or sql_type(field) == "range":
            return field, array
        children = [array.field(index) for index in range(field.type.num_fields)]
        texts = [
            pa.array(
                [None if micros is None else str(micros) for micros in child.cast(pa.int64()).to_pylist()], pa.utf8()
            )
            if is_.is_timestamp(child.type) and child.type.tz
            else child
            for child in children
        ]
        fields = [child.with_type(text.type) for child, text in zip(field.type, texts, strict=True)]
        mask = array.is_null() if array.null_count else None
        return field.with_type(pa.struct(fields)), pa.StructArray.from_arrays(texts, fields=fields, mask=mask)

    return change_fields(batch, reported)


@rows_mutant(
    "value.lists-emptied",
    kills="values.repeated",
    defects=("I-32",),
    source="https://github.com/apache/arrow-rs/pull/6805",
)
def lists_emptied(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Every array arrives empty."""

    def emptied(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not is_.is_list(field.type):
            return field, array
        offsets = pa.array([0] * (len(array) + 1), pa.int32())
        return field, pa.ListArray.from_arrays(offsets, array.values.slice(0, 0), type=field.type)

    return change_fields(batch, emptied)


# --- record batches -------------------------------------------------------------------------------


@batch_mutant(
    "node.order-reversed",
    kills="body.column-lengths",
    also={
        "body.*": "a field is read with the length and the null count of another",
        "layouts.fixed-size-lists": "as the others: the child has the length of another field",
    },
    defects=("I-38",),
    source="https://issues.apache.org/jira/browse/ARROW-5887",
)
def nodes_children_first(message: DraftMessage) -> DraftMessage:
    """Field nodes are written children first."""
    before = [node.path for node in message.nodes]
    message.nodes.sort(key=lambda node: _post_order(node.path, before))
    if [node.path for node in message.nodes] == before:
        raise LookupError("no field has children")
    return message


def _post_order(path: str, paths: Sequence[str]) -> tuple[int, int]:
    """The sort key of a field: behind the last of its descendants."""
    below = [index for index, other in enumerate(paths) if other == path or other.startswith(path + ".")]
    return below[-1], -path.count(".")


@batch_mutant(
    "struct.child-whole",
    kills="body.child-lengths-exact",
    defects=("I-34",),
    source="https://github.com/apache/arrow-rs/pull/7318",
)
def child_whole(message: DraftMessage) -> DraftMessage:
    """A child of a struct has a slot behind the struct's last row, as if the whole were sent for a slice."""
    roles = {(part.path, part.role) for part in message.parts}
    structs = {
        node.path: node.length
        for node in message.nodes
        if not roles & {(node.path, "data"), (node.path, "offsets"), (node.path, "type ids")}
    }
    for node in message.nodes:
        fixed = node.length and (node.path, "offsets") not in roles and (node.path, "data") in roles
        if fixed and node.null_count == 0 and structs.get(node.path.rpartition(".")[0]) == node.length:
            data = message.part("data", node.path)
            if len(data.data) % (8 * node.length) == 0:  # not bits
                data.data += data.data[: len(data.data) // node.length]
                node.length += 1
                return message
    raise LookupError("no struct has a child of fixed width")


@batch_mutant(
    "batch.no-columns-no-rows",
    kills="values.serialized-rows",
    defects=("I-39",),
    source="https://github.com/apache/arrow-js/pull/402",
)
def no_columns_no_rows(message: DraftMessage) -> DraftMessage:
    """A batch without columns declares that it has no rows."""
    if message.nodes:
        raise LookupError("the batch has columns")
    message.header["length"] = 0
    return message


@batch_mutant(
    "data.absent-under-nulls",
    kills="body.data-size",
    defects=("I-41",),
    source="https://github.com/apache/arrow-js/pull/392",
)
def no_data_under_nulls(message: DraftMessage) -> DraftMessage:
    """A column in which every slot is NULL has no data buffer."""
    empty = {node.path for node in message.nodes if node.length and node.null_count == node.length}
    offsets = {part.path for part in message.parts if part.role == "offsets"}
    for part in message.parts:
        if part.role == "data" and part.path in empty - offsets and part.data:
            part.data = b""
            return message
    raise LookupError("no column is all NULL")


@batch_mutant(
    "batch.other-format",
    kills="framing.batch-prefix",
    defects=("I-112",),
    source="https://github.com/apache/arrow/issues/37631",
)
def other_format(message: DraftMessage) -> bytes:
    """The batch field holds bytes of another format, which begin with its letters."""
    return b"PAR1" + message.encode()[4:]
