"""Legal variations: real encoders differ from the reference in them, and none is wrong.

A judge that calls one of these a fault raises a false alarm. Each names what permits it: a section of the
columnar format (COL, https://arrow.apache.org/docs/format/Columnar.html), of the FlatBuffers encoding
(https://flatbuffers.dev/internals/), or a comment of the proto. Adding one touches one place, here.
"""

from __future__ import annotations

import dataclasses
import inspect
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.types as is_

from conformance.contract.mapping import field_metadata
from conformance.contract.sources import OBSERVED_TYPES
from conformance.records import BqType, Column
from conformance.reference.flatbuffers import SHARED_FIRST, TableLayout
from conformance.reference.lz4 import Lz4Options, lz4_frame
from conformance.reference.message import DraftMessage, frame
from conformance.reference.reshaping import change_fields, sql_type
from conformance.reference.serializer import Serializer, Write

__all__ = ["VARIATIONS", "Variation"]

_COL: Final = "https://arrow.apache.org/docs/format/Columnar.html"
_LZ4: Final = "https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md"
_FLATBUFFERS: Final = "https://flatbuffers.dev/internals/"
V4: Final = 3
_UNION: Final = 14


@dataclasses.dataclass(frozen=True, slots=True)
class Variation:
    """One legal difference: what it is, the text that permits it, and the serializer that does it."""

    name: str
    what: str
    source: str
    serializer: Serializer


_REGISTER: dict[str, Variation] = {}

VARIATIONS: Final[Mapping[str, Variation]] = MappingProxyType(_REGISTER)
"""Every legal variation of the reference serializer by name."""

F = TypeVar("F", bound=Callable[..., Any])


def _writing(vary: Write) -> Serializer:
    return Serializer(write_schema=vary, write_batch=vary)


def _variation(make: Callable[[Any], Serializer]) -> Callable[[str, str], Callable[[F], F]]:
    def named(name: str, source: str) -> Callable[[F], F]:
        def register(vary: F) -> F:
            _REGISTER[name] = Variation(name, inspect.cleandoc(vary.__doc__ or ""), source, make(vary))
            return vary

        return register

    return named


_bytes: Final = _variation(_writing)
_rows: Final = _variation(lambda vary: Serializer(reshape=vary))


def _laid_out(name: str, what: str, **choice: bool) -> None:
    def vary(message: DraftMessage) -> DraftMessage:
        message.layout = TableLayout(**choice)
        return message

    vary.__doc__ = what
    _bytes(f"flatbuffers.{name}", _FLATBUFFERS)(vary)


_laid_out("vtables-unshared", "Equal vtables are written again for each table.", shared_vtables=False)
_laid_out("vtables-shared-first", "Equal vtables are written once, and later tables point back.", shared_first=True)
_laid_out("vtables-last", "A vtable follows its table.", vtables_last=True, shared_vtables=False)
_laid_out("depth-first", "Children follow their table at once.", depth_first=True, shared_first=True)
_laid_out(
    "explicit-defaults", "Scalars that equal their default are written.", explicit_defaults=True, shared_first=True
)
_laid_out("slot-order", "Inline fields stand in the order of their slots.", slot_order=True, shared_first=True)
_laid_out(
    "all-at-once",
    "Every layout choice differs.",
    vtables_last=True,
    depth_first=True,
    explicit_defaults=True,
    shared_first=True,
)


@_bytes("align-64", f"{_COL}#buffer-alignment-and-padding")
def align_to_64(message: DraftMessage) -> DraftMessage:
    """Metadata end and every buffer are aligned to 64 bytes, as arrow-rs and polars write."""
    message.alignment = 64
    return message


@_bytes("metadata-v4", "https://github.com/apache/arrow/blob/main/format/Schema.fbs (MetadataVersion)")
def metadata_v4(message: DraftMessage) -> DraftMessage:
    """Metadata version V4, which differs from V5 in unions only; a message with unions is left alone."""
    fields = _all_fields(message) if message.tree["header_type"] == 1 else []
    unions = any(part.role == "type ids" for part in message.parts)
    if not unions and all(field["type_type"] != _UNION for field in fields):
        message.tree["version"] = V4
    return message


@_bytes("buffer-lengths-padded", f"{_COL}#recordbatch-message")
def padded_lengths(message: DraftMessage) -> DraftMessage:
    """A buffer's length includes its padding, as apache-arrow for JavaScript writes."""
    if not message.codec:
        for part in message.parts:
            part.data += bytes(-len(part.data) % 8)
    return message


@_bytes("bitmaps-present", f"{_COL}#validity-bitmaps")
def bitmaps_present(message: DraftMessage) -> DraftMessage:
    """A field without nulls carries a bitmap of ones, as Arrow Java and arrow-rs write."""
    nodes = {node.path: node for node in message.nodes}
    for part in message.parts:
        if part.role == "validity" and not part.data:
            length = nodes[part.path].length
            part.data = np.packbits(np.ones(length, np.uint8), bitorder="little").tobytes()
    return message


@_bytes("bitmaps-long", f"{_COL}#validity-bitmaps")
def bitmaps_long(message: DraftMessage) -> DraftMessage:
    """Validity bitmaps are longer than they need to be."""
    for part in message.parts:
        if part.role == "validity" and part.data:
            part.data += bytes(64)
    return message


@_bytes("buffers-reversed", f"{_COL}#recordbatch-message")
def buffers_reversed(message: DraftMessage) -> bytes:
    """The buffers are in the body in reverse order; the header gives their positions."""
    tree, body = message.complete()
    buffers = tree["header"].get("buffers", [])
    out, places = bytearray(), {}
    for index in reversed(range(len(buffers))):
        offset, length = buffers[index]
        places[index] = (len(out), length)
        out += body[offset : offset + length]
        out += bytes(-len(out) % 8)
    if buffers:
        tree["header"] = {**tree["header"], "buffers": [places[index] for index in range(len(buffers))]}
        tree["bodyLength"] = len(out)
    return frame(tree, bytes(out), layout=SHARED_FIRST)


@_bytes("empty-offsets", f"{_COL}#variable-size-binary-layout")
def empty_offsets(message: DraftMessage) -> DraftMessage:
    """The offsets of a field without slots are 0 bytes, as nanoarrow writes them."""
    nodes = {node.path: node for node in message.nodes}
    for part in message.parts:
        if part.role == "offsets" and nodes[part.path].length == 0:
            part.data = b""
    return message


@_bytes("offsets-not-from-zero", f"{_COL}#variable-size-binary-layout")
def offsets_from_eight(message: DraftMessage) -> DraftMessage:
    """Offsets of text and bytes begin at 8, and the data has 8 bytes that no value uses before them."""
    lengths = {node.path: node.length for node in message.nodes}
    for offsets, data in zip(message.parts, message.parts[1:], strict=False):
        narrow = len(offsets.data) == 4 * (lengths[offsets.path] + 1)
        if (offsets.role, data.role) == ("offsets", "data") and offsets.path == data.path and narrow:
            values = np.frombuffer(offsets.data, "<i4") + 8
            offsets.data, data.data = values.astype("<i4").tobytes(), b"unused.." + data.data
    return message


@_bytes("empty-metadata-vectors", "https://github.com/apache/arrow/blob/main/format/Schema.fbs (custom_metadata)")
def empty_metadata(message: DraftMessage) -> DraftMessage:
    """Absent key-value metadata is an empty vector, as nanoarrow and Arrow Java write."""
    message.tree.setdefault("custom_metadata", [])
    if message.tree["header_type"] == 1:
        message.header.setdefault("custom_metadata", [])
        for field in _all_fields(message):
            field.setdefault("custom_metadata", [])
    return message


@_bytes("children-absent", "https://github.com/apache/arrow/blob/main/format/Schema.fbs (Field.children)")
def children_absent(message: DraftMessage) -> DraftMessage:
    """A field without children has no vector of them, as flechette and Arrow C# write."""
    for field in _all_fields(message):
        if not field["children"]:
            del field["children"]
    return message


@_bytes("message-metadata", f"{_COL}#custom-application-metadata")
def message_metadata(message: DraftMessage) -> DraftMessage:
    """A batch carries key-value metadata on its message."""
    if message.tree["header_type"] != 1:
        message.tree["custom_metadata"] = [{"key": "trace", "value": "7"}]
    return message


@_bytes("features-listed", "https://github.com/apache/arrow/blob/main/format/Schema.fbs (Feature)")
def features_listed(message: DraftMessage) -> DraftMessage:
    """The schema lists the feature COMPRESSED_BODY."""
    if message.tree["header_type"] == 1:
        message.header["features"] = [2]
    return message


def _all_fields(message: DraftMessage) -> list[dict[str, Any]]:
    waiting = list(message.header.get("fields", []))
    found = []
    while waiting:
        field = waiting.pop()
        found.append(field)
        waiting += field.get("children", [])
    return found


@_bytes("stored-raw", "https://github.com/apache/arrow/blob/main/format/Message.fbs (BodyCompressionMethod)")
def stored_raw(message: DraftMessage) -> DraftMessage:
    """Compression is declared and every buffer is stored as it is, under the length -1."""
    if message.tree["header_type"] != 1:
        for part in message.parts:
            part.data = struct.pack("<q", -1) + part.data if part.data else b""
        message.header["compression"] = {"codec": 1 if message.codec == "ZSTD" else 0}
        message.codec = ""
    return message


@_bytes("stored-mixed", "https://github.com/apache/arrow/blob/main/format/Message.fbs (BodyCompressionMethod)")
def stored_mixed(message: DraftMessage) -> DraftMessage:
    """Every second buffer is compressed, the others are stored as they are, as arrow-rs mixes them."""
    if message.tree["header_type"] == 1:
        return message
    codec = pa.Codec("zstd" if message.codec == "ZSTD" else "lz4")
    for index, part in enumerate(message.parts):
        if part.data and index % 2:
            part.data = struct.pack("<q", len(part.data)) + codec.compress(part.data, asbytes=True)
        elif part.data:
            part.data = struct.pack("<q", -1) + part.data
    message.header["compression"] = {"codec": 1 if message.codec == "ZSTD" else 0}
    message.codec = ""
    return message


def _lz4_framed(message: DraftMessage, options: Lz4Options) -> DraftMessage:
    """The message with its buffers in LZ4 frames of this form; one compressed with ZSTD is left alone."""
    if message.tree["header_type"] != 1 and message.codec != "ZSTD":
        for part in message.parts:
            part.data = struct.pack("<q", len(part.data)) + lz4_frame(part.data, options) if part.data else b""
        message.header["compression"] = {"codec": 0}
        message.codec = ""
    return message


@_bytes("lz4-checks", _LZ4)
def lz4_checks(message: DraftMessage) -> DraftMessage:
    """LZ4 frames carry the size of their content and every checksum, as the library lz4 4.4.5 writes on demand."""
    return _lz4_framed(message, Lz4Options(content_checksum=True, content_size=True, block_checksums=True))


@_bytes("lz4-linked-blocks", _LZ4)
def lz4_linked_blocks(message: DraftMessage) -> DraftMessage:
    """LZ4 frames have several blocks, each of which may refer to those before it."""
    return _lz4_framed(message, Lz4Options(linked=True, block=1_000))


@_bytes("body-padded", f"{_COL}#encapsulated-message-format")
def body_padded(message: DraftMessage) -> bytes:
    """The body ends on a multiple of 64, beyond its last buffer."""
    tree, body = message.complete()
    if tree["header_type"] == 1:
        return message.encode()
    body += bytes(-len(body) % 64)
    return frame({**tree, "bodyLength": len(body)}, body)


@_rows("nulls-not-zeroed", f"{_COL}#validity-bitmaps")
def nulls_not_zeroed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The slots under NULL in fixed-width columns hold arbitrary bits."""

    def soil(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        fixed = is_.is_int64(field.type) or is_.is_float64(field.type) or is_.is_temporal(field.type)
        if not fixed or not array.null_count or array.type.bit_width not in (32, 64):
            return field, array
        kind = np.dtype(f"<i{array.type.bit_width // 8}")
        buffers = array.buffers()
        words = np.frombuffer(buffers[1], kind, len(array), array.offset * kind.itemsize).copy()
        words[array.is_null().to_numpy(zero_copy_only=False)] = -0x5A5A5A5A
        bitmap = pa.py_buffer(np.packbits(array.is_valid().to_numpy(zero_copy_only=False), bitorder="little"))
        return field, pa.Array.from_buffers(array.type, len(array), [bitmap, pa.py_buffer(words)])

    return change_fields(batch, soil)


@_rows("range-bounds-metadata", OBSERVED_TYPES)
def bounds_with_metadata(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The bounds of a RANGE<DATETIME> have the metadata of a DATETIME column: whether the service's do is not known."""
    metadata = dict(field_metadata(Column("", BqType.DATETIME)))

    def describe(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        kind = array.type
        if sql_type(field) != "range" or not is_.is_struct(kind) or kind.field(0).type != pa.timestamp("us"):
            return field, array
        described = pa.struct([kind.field(place).with_metadata(metadata) for place in range(kind.num_fields)])
        return field.with_type(described), array.cast(described)

    return change_fields(batch, describe)


@_rows("metadata-order", f"{_COL}#extension-types")
def metadata_reversed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The pairs of a field's metadata are in another order."""

    def reverse(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        metadata = field.metadata or {}
        return field.with_metadata(dict(reversed(metadata.items())) or None), array

    return change_fields(batch, reverse)
