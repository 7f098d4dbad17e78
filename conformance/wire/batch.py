"""Judging of the RecordBatch header and body against a schema.

This module decides whether a batch has the nodes and buffers that its schema requires, and calls the judges of columns.
"""

from __future__ import annotations

import dataclasses
from typing import Final, NamedTuple

from conformance.contain.text import many
from conformance.wire.body import Body
from conformance.wire.closed import Layout
from conformance.wire.columns import judge_columns
from conformance.wire.compression import DecompressionBudget
from conformance.wire.faults import Fault, Rule, Severity, report
from conformance.wire.flatbuf import FlatTable, VectorRun
from conformance.wire.layout import LayoutPlan
from conformance.wire.messages import Bytes, Frame, Header, Message, judge_following, read_following, read_frame
from conformance.wire.plan import V4, V4_WITH_RUNS, plan_of
from conformance.wire.swapping import swap
from conformance.wire.types import Endianness, Schema

__all__ = ["BatchMessage", "BufferRange", "Node", "batch_lengths", "judge_batch", "judge_data", "read_batch"]

_CODECS: Final = ("lz4", "zstd")
_V4: Final = "V4"


class Node(NamedTuple):
    """A FieldNode: the number of slots of a field, and the number of nulls among them."""

    length: int
    null_count: int


class BufferRange(NamedTuple):
    """A Buffer: its offset in the body, and its length in bytes."""

    offset: int
    length: int


@dataclasses.dataclass(slots=True, eq=False)
class BatchMessage:
    """The result of reading a record batch: its first message, header and body, what follows the message, and faults.

    ``length`` is the row count that the header declares; None if there is no RecordBatch header.
    ``codec`` is ``""``, ``"lz4"``, ``"zstd"`` or ``"unknown"``. ``body`` contains the judged buffers; it is None if the
    header does not fit the schema.
    """

    faults: list[Fault]
    message: Message | None
    extra: tuple[Message, ...]
    schema: Schema
    length: int | None = None
    codec: str = ""
    flat_nodes: tuple[int, ...] = ()
    flat_buffers: tuple[int, ...] = ()
    body: Body | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The field nodes as the header declares them, in pre-order."""
        return tuple(map(Node._make, zip(self.flat_nodes[::2], self.flat_nodes[1::2], strict=True)))

    @property
    def buffers(self) -> tuple[BufferRange, ...]:
        """The buffers as the header declares them; offsets count from the start of the body."""
        return tuple(map(BufferRange._make, zip(self.flat_buffers[::2], self.flat_buffers[1::2], strict=True)))

    @property
    def violations(self) -> list[Fault]:
        """The faults that the Arrow format forbids."""
        return [fault for fault in self.faults if fault.severity is Severity.VIOLATION]

    @property
    def decodable(self) -> bool:
        """True if every buffer is safe to follow; faults in values alone do not prevent decoding."""
        return self.body is not None and not self.body.broken


def read_batch(data: Bytes, schema: Schema, budget: DecompressionBudget | None = None) -> BatchMessage:
    """Read bytes that should be one encapsulated RecordBatch of ``schema``; no bytes make this function raise.

    ``budget`` limits the decompressed size of all batches that share it; by default the batch has a budget of its own.
    """
    view = memoryview(data).cast("B")
    faults: list[Fault] = []
    frame = read_frame(view, 0, faults)
    if frame is None:
        return BatchMessage(faults, None, (), schema)
    message = frame.message
    batch = judge_batch(frame, schema, faults, budget or DecompressionBudget(len(view)))
    if message.end < len(view):
        batch.extra = read_following(view, message.end)
        judge_following(message, batch.extra, faults)
    return batch


def batch_lengths(data: Bytes) -> tuple[int, ...]:
    """The numbers of rows that the record batch messages in ``data`` declare; no bytes make this function raise."""
    view = memoryview(data).cast("B")
    lengths, place = [], 0
    while place < len(view):
        frame = read_frame(view, place, [])
        if frame is None or frame.message.end <= place:
            break
        if frame.message.header is Header.RECORD_BATCH and frame.header is not None:
            lengths.append(max(int(frame.header.values[0]), 0))
        place = frame.message.end
    return tuple(lengths)


def judge_batch(frame: Frame, schema: Schema, faults: list[Fault], budget: DecompressionBudget) -> BatchMessage:
    """Judge a framed message as a RecordBatch of ``schema``."""
    batch = BatchMessage(faults, frame.message, (), schema)
    if _is_batch(frame, faults):
        judge_data(batch, frame, frame.header, budget)
    return batch


def _is_batch(frame: Frame, faults: list[Fault]) -> bool:
    message = frame.message
    if message.header is Header.RECORD_BATCH:
        return frame.header is not None
    if message.header is Header.END_OF_STREAM:
        report(
            faults,
            Rule.MESSAGE_END_OF_STREAM,
            (message.start, message.end),
            "",
            "an end-of-stream marker instead of a record batch",
        )
    elif message.header not in (Header.UNKNOWN, Header.STRAY):
        observed = f"a {message.header} message instead of a RecordBatch message"
        start, end = message.metadata_start, message.metadata_end
        report(faults, Rule.MESSAGE_HEADER_KIND, (start, end), "Message.header", observed)
    return False


def judge_data(batch: BatchMessage, frame: Frame, header: FlatTable | None, budget: DecompressionBudget) -> None:
    """Judge a RecordBatch table and the body of its message against ``batch.schema``; the result goes into ``batch``.

    The table is the header of a record batch's message, or the ``data`` of a dictionary batch. ``budget`` limits the
    decompressed size of all messages that share it.
    """
    verifier, message = frame.verifier, frame.message
    if header is None or verifier is None:
        return
    schema, faults, base = batch.schema, batch.faults, verifier.base
    length, nodes_run, buffers_run, compression, variadic_run = header.values
    batch.length = length
    batch.flat_nodes = nodes = verifier.int64s(nodes_run, per_element=2)
    batch.flat_buffers = buffers = verifier.int64s(buffers_run, per_element=2)
    batch.codec = _codec(header, compression)
    if message.version and message.version != schema.version:
        place = base + (frame.root or header).place("version")
        observed = f"metadata version {message.version} after a schema with {schema.version}"
        report(faults, Rule.MESSAGE_VERSION_DIFFERS, (place, place + 2), "Message.version", observed)
    variadic = verifier.int64s(variadic_run)
    plan = _plan(schema, message.version, (len(buffers) >> 1) - sum(variadic))
    if _lost(header, "nodes", nodes_run) or _lost(header, "buffers", buffers_run):
        return
    nodes_at = base + (nodes_run.start if nodes_run else header.start)
    if length < 0:
        place = base + header.place("length")
        report(
            faults, Rule.BATCH_LENGTH_NEGATIVE, (place, place + 8), "RecordBatch.length", f"a batch length of {length}"
        )
        return
    body = Body(
        frame.body,
        message.body_start,
        max(message.body_length, 0),
        plan=plan,
        faults=faults,
        nodes=nodes,
        nodes_at=nodes_at,
    )
    fits = _count(batch, body, header, base, variadic)
    body.cut(buffers)
    if batch.codec == "unknown" or not fits or not _node_numbers(body, length):
        return
    if batch.codec:
        body.decompress(batch.codec, budget)
    # Judges and decoders read little-endian numbers only.
    change = swap if schema.endianness is Endianness.BIG else None
    if change is not None:
        body.contents = change(body.plan, body.starts, body.contents)
    batch.body = body
    judge_columns(body)
    if batch.codec:
        body.release(batch.codec, budget, change)


def _plan(schema: Schema, version: str, buffers: int) -> LayoutPlan:
    """The plan of a message of this version, with so many buffers beside the data buffers of views.

    V5 removed the validity bitmap of unions (Schema.fbs, enum MetadataVersion). What V4 gives to runs is open, so the
    number of buffers decides.
    """
    if version != _V4:
        return plan_of(schema)
    runs = plan_of(schema, V4_WITH_RUNS)
    return runs if runs.buffers == buffers else plan_of(schema, V4)


def _codec(header: FlatTable, compression: FlatTable | None) -> str:
    """The codec's name; ``""`` for none, ``"unknown"`` if it could not be read and a fault reports that."""
    # `place` returns the start of the table for an absent slot, which distinguishes it from an unreadable one.
    if compression is None:
        return "" if header.place("compression") == header.start else "unknown"
    codec, method = compression.values
    return "unknown" if codec is None or method is None else _CODECS[codec]


def _lost(header: FlatTable, name: str, run: VectorRun | None) -> bool:
    """True if the vector is present but could not be read; the verifier has reported a fault for it."""
    return run is None and header.place(name) != header.start


def _count(batch: BatchMessage, body: Body, header: FlatTable, base: int, variadic: tuple[int, ...]) -> bool:
    """True if the header has exactly the nodes and buffers that the schema requires."""
    plan, faults = body.plan, batch.faults
    start, end = base + header.start, base + header.start + header.size
    count, wanted = len(batch.flat_nodes) >> 1, len(plan.ops)
    fits = count == wanted
    if not fits:
        observed = f"{many(count, 'field node')}, where the schema needs {wanted}"
        report(faults, Rule.BATCH_NODE_COUNT, (start, end), "RecordBatch.nodes", observed)
    wanted = plan.buffers
    # A view field has any number of data buffers; variadicBufferCounts has one count per view field
    # (https://arrow.apache.org/docs/format/Columnar.html#variadic-buffers).
    if plan.views or variadic:
        negative = min(variadic[: plan.views], default=0) < 0
        if len(variadic) != plan.views or negative:
            shown = ", ".join(map(str, variadic[:16])) or "none"
            listed = f"{many(len(variadic), 'count')} for {many(plan.views, 'view field')}: {shown}"
            observed = f"a negative count among {listed}" if negative else listed
            report(faults, Rule.BATCH_VARIADIC_COUNT, (start, end), "RecordBatch.variadicBufferCounts", observed)
            return False
        wanted += sum(variadic)
        body.starts = _starts(plan, variadic)
    count = len(batch.flat_buffers) >> 1
    if count != wanted:
        observed = f"{many(count, 'buffer')}, where the schema needs {wanted}"
        report(faults, Rule.BATCH_BUFFER_COUNT, (start, end), "RecordBatch.buffers", observed)
    return fits and count == wanted


def _starts(plan: LayoutPlan, variadic: tuple[int, ...]) -> tuple[int, ...]:
    """The number of each op's first buffer, counting the data buffers of the view fields before it."""
    starts, more, counts = [], 0, iter(variadic)
    for op in plan.ops:
        starts.append(op.first + more)
        if op.layout is Layout.VIEW:
            more += next(counts)
    return tuple(starts)


def _node_numbers(body: Body, length: int) -> bool:
    """Judge node lengths and null counts; True if the columns can be judged with them."""
    nodes = body.nodes
    for op, slots, nulls in zip(body.plan.ops, nodes[::2], nodes[1::2], strict=True):
        if slots < 0:
            body.node_fault(Rule.BATCH_NODE_LENGTH_NEGATIVE, op, f"a field node with the length {slots}")
        elif not 0 <= nulls <= slots:
            body.node_fault(Rule.BATCH_NULL_COUNT_RANGE, op, f"a null count of {nulls} for {many(slots, 'slot')}")
        if op.parent is None and slots != length:
            body.node_fault(
                Rule.BATCH_COLUMN_LENGTH, op, f"a column of {many(slots, 'slot')} in a batch of {many(length, 'row')}"
            )
    return min(nodes[::2], default=0) >= 0
