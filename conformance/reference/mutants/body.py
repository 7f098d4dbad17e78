"""Mutants of the record batch header and body: lengths, counts, buffers, offsets, bitmaps."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from conformance.reference.body import Part
from conformance.reference.message import DraftMessage, frame
from conformance.reference.register import batch_mutant, first

_LIST_VIEWS = {"layouts.list-views-inside": "the offsets of a list-view have a clause of their own"}
_ARROW_31566 = "https://github.com/apache/arrow/issues/31566"


def _framed(message: DraftMessage, change: Callable[[dict[str, Any], bytes], bytes | None]) -> bytes:
    """The message with its finished header changed in place; ``change`` may give another body."""
    tree, body = message.complete()
    other = change(tree, body)
    return frame(tree, body if other is None else other)


def _buffers(message: DraftMessage, change: Callable[[list[tuple[int, int]]], None]) -> bytes:
    """The message with its finished list of buffers changed."""

    def apply(tree: dict[str, Any], body: bytes) -> None:  # noqa: ARG001  # the shape that _framed calls
        change(tree["header"]["buffers"])

    return _framed(message, apply)


def _filled(buffers: list[tuple[int, int]]) -> int:
    """The index of the first buffer that holds bytes."""
    return first((index for index, (_, length) in enumerate(buffers) if length), "every buffer is empty")


def _first_buffer(change: Callable[[int, int], tuple[int, int]]) -> Callable[[DraftMessage], bytes]:
    """The message with the offset and length of its first buffer that holds bytes changed."""

    def apply(buffers: list[tuple[int, int]]) -> None:
        index = _filled(buffers)
        buffers[index] = change(*buffers[index])

    return lambda message: _buffers(message, apply)


def _offsets(part: Part) -> list[int]:
    return list(struct.unpack(f"<{len(part.data) // 4}i", part.data))


def _pack(offsets: list[int]) -> bytes:
    return struct.pack(f"<{len(offsets)}i", *offsets)


def _lengthened(zeros: int) -> Callable[[DraftMessage], bytes]:
    """The message with ``count`` zeros behind its body, and a body length that counts them."""

    def lengthen(tree: dict[str, Any], body: bytes) -> bytes:
        tree["bodyLength"] = len(body) + zeros
        return body + bytes(zeros)

    return lambda message: _framed(message, lengthen)


def _setting(**slots: int) -> Callable[[DraftMessage], DraftMessage]:
    """The message whose header describes the batch with other values."""

    def change(message: DraftMessage) -> DraftMessage:
        message.header.update(slots)
        return message

    return change


@batch_mutant("body.length-negative", kills="body.length-not-negative", defects=("I-104",))
def body_length_negative(message: DraftMessage) -> DraftMessage:
    """The body length is negative."""
    message.tree["bodyLength"] = -8
    return message


@batch_mutant(
    "body.length-short",
    kills="framing.batch-without-trailing-bytes",
    also={
        "body.buffers-inside": "the last buffer may lie in the bytes that are left out",
        "framing.batch-without-end-of-stream": "eight zeros are an end-of-stream marker of legacy framing",
    },
)
def body_length_short(message: DraftMessage) -> bytes:
    """The body length leaves out the last 8 bytes of the body, which still follow."""

    def shorten(tree: dict[str, Any], body: bytes) -> None:
        if len(body) < 8:
            raise LookupError("the body is empty")
        tree["bodyLength"] = len(body) - 8

    return _framed(message, shorten)


# fmt: off
batch_mutant("body.length-unaligned", kills="body.length-multiple-of-8",
          fault="The body is 4 bytes longer than a multiple of 8, and says so.")(_lengthened(4))
batch_mutant("body.forgotten-bytes", kills="body.no-unused-bytes",
          fault="The body has 128 zeros behind its last buffer.")(_lengthened(128))
batch_mutant("batch.length-negative", kills="body.batch-length-not-negative",
          fault="The batch says that it has minus one rows.")(_setting(length=-1))
# fmt: on


@batch_mutant(
    "batch.length-long",
    kills="body.column-lengths",
    also={"values.serialized-rows": "a batch without columns has as many rows as it says"},
)
def batch_length_long(message: DraftMessage) -> DraftMessage:
    """The batch says one row more than its columns have."""
    message.header["length"] += 1
    return message


@batch_mutant("batch.node-missing", kills="body.node-count", defects=("I-109",))
def node_missing(message: DraftMessage) -> DraftMessage:
    """The last field has no node."""
    message.nodes.pop()
    return message


@batch_mutant(
    "batch.node-surplus",
    kills="body.node-count",
    also={"body.buffer-count": "a column has buffers as well"},
    defects=("B-06",),
    source=_ARROW_31566,
)
def node_surplus(message: DraftMessage) -> DraftMessage:
    """A column more than the schema has: one more node, and its two buffers."""
    message.nodes.append(message.nodes[-1])
    message.parts += [Part("surplus", "validity", b""), Part("surplus", "data", bytes(8))]
    return message


@batch_mutant(
    "batch.buffer-missing",
    kills="body.buffer-count",
    also={"layouts.views-inside": "the last buffer may be the one that a view's bytes lie in"},
    defects=("I-109",),
)
def buffer_missing(message: DraftMessage) -> DraftMessage:
    """The last buffer is not listed."""
    message.parts.pop()
    return message


@batch_mutant("batch.buffer-surplus", kills="body.buffer-count", defects=("I-42",))
def buffer_surplus(message: DraftMessage) -> DraftMessage:
    """One empty buffer more than the schema asks for."""
    message.parts.append(Part("surplus", "data", b""))
    return message


@batch_mutant("node.length-negative", kills="body.node-length-not-negative")
def node_length_negative(message: DraftMessage) -> DraftMessage:
    """The first node's length is negative."""
    message.nodes[0].length = -1
    return message


@batch_mutant(
    "node.null-count-surplus",
    kills="body.null-count-range",
    also={
        "body.validity-present": "a column that counts nulls and has no bitmap",
        "layouts.union-nulls": "a union counts no nulls at all",
    },
)
def null_count_surplus(message: DraftMessage) -> DraftMessage:
    """The first node has more nulls than slots."""
    message.nodes[0].null_count = message.nodes[0].length + 1
    return message


@batch_mutant("node.null-count-zero", kills="body.null-count-matches", defects=("I-37",))
def null_count_zero(message: DraftMessage) -> DraftMessage:
    """A column with nulls keeps its validity bitmap and says that it has none."""
    counting = (node for node in message.nodes if node.null_count > 0 and _has_bitmap(message, node.path))
    node = first(counting, "nothing is null")
    node.null_count = 0
    return message


def _has_bitmap(message: DraftMessage, path: str) -> bool:
    return any(part.path == path and part.role == "validity" and part.data for part in message.parts)


@batch_mutant("validity.absent", kills="body.validity-present")
def validity_absent(message: DraftMessage) -> DraftMessage:
    """A column with nulls has no validity bitmap."""
    message.part("validity").data = b""
    return message


@batch_mutant("validity.short", kills="body.validity-size")
def validity_short(message: DraftMessage) -> DraftMessage:
    """A validity bitmap lacks its last byte."""
    long = (part for part in message.parts if part.role == "validity" and len(part.data) > 1)
    part = first(long, "no bitmap has two bytes")
    part.data = part.data[:-1]
    return message


@batch_mutant("offsets.short", kills="body.offsets-size", defects=("I-106",))
def offsets_short(message: DraftMessage) -> DraftMessage:
    """An offsets buffer lacks its last entry."""
    part = message.part("offsets")
    part.data = part.data[:-4]
    return message


@batch_mutant("data.short", kills="body.data-size", defects=("I-106",))
def data_short(message: DraftMessage) -> DraftMessage:
    """A fixed-width column's data buffer is empty although it has rows."""
    offsets = {part.path for part in message.parts if part.role == "offsets"}
    fixed = (part for part in message.parts if part.role == "data" and part.data and part.path not in offsets)
    part = first(fixed, "no fixed-width column has rows")
    part.data = b""
    return message


# fmt: off
batch_mutant("buffer.offset-negative", kills="body.buffer-offset-not-negative", defects=("I-104",),
          fault="A buffer begins 8 bytes before the body.")(
    _first_buffer(lambda _, length: (-8, length)))
batch_mutant("buffer.length-negative", kills="body.buffer-length-not-negative", defects=("I-104",),
          fault="A buffer's length is negative.")(
    _first_buffer(lambda offset, _: (offset, -8)))
batch_mutant("buffer.beyond-body", kills="body.buffers-inside", defects=("I-06", "I-102"),
          fault="A buffer begins beyond the end of the body.")(
    _first_buffer(lambda _, length: (1 << 40, length)))
# fmt: on


@batch_mutant("buffer.unaligned", kills="body.buffers-aligned", defects=("I-25",))
def buffer_unaligned(message: DraftMessage) -> bytes:
    """Every buffer of the body begins 4 bytes off a multiple of 8."""

    def shift(tree: dict[str, Any], body: bytes) -> bytes:
        buffers = tree["header"]["buffers"]
        _filled(buffers)
        buffers[:] = [(offset + 4 if length else offset, length) for offset, length in buffers]
        tree["bodyLength"] = len(body) + 8
        return bytes(4) + body + bytes(4)

    return _framed(message, shift)


@batch_mutant("buffer.overlap", kills="body.buffers-apart")
def buffer_overlap(message: DraftMessage) -> bytes:
    """Two buffers of equal length share their bytes, and the bytes of one are not sent at all."""

    def stack(buffers: list[tuple[int, int]]) -> None:
        seen: dict[int, int] = {}
        for index, (offset, length) in enumerate(buffers):
            if length in seen and length:
                buffers[index] = (seen[length], length)
                return
            seen[length] = offset
        raise LookupError("no two buffers are of equal length")

    return _buffers(message, stack)


@batch_mutant(
    "offsets.negative",
    kills="body.offsets-not-negative",
    also=_LIST_VIEWS,
    defects=("I-107",),
)
def offsets_negative(message: DraftMessage) -> DraftMessage:
    """Offsets begin below zero."""
    part = message.part("offsets")
    part.data = _pack([-1, *_offsets(part)[1:]])
    return message


@batch_mutant("offsets.decreasing", kills="body.offsets-monotonic", defects=("I-106", "I-107"))
def offsets_decreasing(message: DraftMessage) -> DraftMessage:
    """Two offsets in the middle are swapped, so that a value ends before it begins."""
    for part in message.parts:
        offsets = _offsets(part) if part.role == "offsets" else []
        for index in range(1, len(offsets) - 2):
            if offsets[index] < offsets[index + 1]:
                offsets[index], offsets[index + 1] = offsets[index + 1], offsets[index]
                part.data = _pack(offsets)
                return message
    raise LookupError("no two offsets differ")


@batch_mutant(
    "offsets.beyond-data",
    kills="body.offsets-within-data",
    also=_LIST_VIEWS,
    defects=("I-31", "I-106"),
)
def offsets_beyond(message: DraftMessage) -> DraftMessage:
    """The last offset is beyond the end of the data."""
    part = message.part("offsets")
    offsets = _offsets(part)
    part.data = _pack([*offsets[:-1], offsets[-1] + 1000])
    return message


@batch_mutant("struct.child-short", kills="body.child-lengths", defects=("I-108",))
def child_short(message: DraftMessage) -> DraftMessage:
    """The first child of a struct is one slot shorter than the struct."""
    roles: dict[str, set[str]] = {}
    for part in message.parts:
        roles.setdefault(part.path, set()).add(part.role)
    lengths = {node.path: node.length for node in message.nodes}
    for node in message.nodes:
        parent = node.path.rpartition(".")[0]
        leaf = roles.get(node.path) == {"validity", "data"}
        # Only a struct has a bitmap and no other buffer.
        if leaf and roles.get(parent) == {"validity"} and lengths[parent] == node.length > 0 and not node.null_count:
            node.length -= 1
            return message
    raise LookupError("no struct has rows")


@batch_mutant("body.stale-padding", kills="body.padding-zero")
def stale_padding(message: DraftMessage) -> bytes:
    """The padding between two buffers holds leftover bytes of something else."""

    def soil(tree: dict[str, Any], body: bytes) -> bytes:
        for offset, length in tree["header"]["buffers"]:
            if length % 8:
                end = offset + length
                return body[:end] + b"\x5a" + body[end + 1 :]
        raise LookupError("no buffer needs padding")

    return _framed(message, soil)
