"""Variations of the bodies of batches: buffers, offsets, padding, unused values, compression."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from typing import Final

import numpy as np

from conformance.reference.body import FieldNode, Part
from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.register import STANDARD, variation
from conformance.reference.ipc.variations.sources import ALIGNMENT, BATCH, COL
from conformance.reference.message import DraftMessage, frame

__all__ = ["batches_of"]

_WITH_TEXT: Final = ("types.utf8", "rows.several", "nested.mixed", "types.large-utf8")
_LISTS: Final = ("types.list", "types.large-list", "types.map", "nested.mixed")
_VALIDITY: Final = f"{COL}#validity-bitmaps"
_BINARY: Final = f"{COL}#variable-size-binary-layout"
_VIEW: Final = f"{COL}#variable-size-binary-view-layout"


def batches_of(model: StreamModel) -> Iterator[DraftMessage]:
    """The dictionary batches and the record batches."""
    yield from model.dictionaries
    yield from model.batches


def _parts(model: StreamModel, role: str) -> Iterator[tuple[DraftMessage, int, Part]]:
    """Every buffer of a role, with its message and its number.

    Raises:
        LookupError: no buffer has that role.
    """
    found = [
        (message, number, part)
        for message in batches_of(model)
        for number, part in enumerate(message.parts)
        if part.role == role and part.data
    ]
    if not found:
        raise LookupError(f"no {role}")
    yield from found


def _of(message: DraftMessage, path: str) -> FieldNode:
    return next(node for node in message.nodes if node.path == path)


@variation(
    "body.bitmaps-always", _VALIDITY, on=(*STANDARD, "rows.zero", "dictionary.in-list"), choices={"validity": "always"}
)
def bitmaps_always(_: StreamModel) -> None:
    """Every field whose type has a bitmap has one, also where nothing is null."""


@variation("body.bitmap-padding-set", _VALIDITY, on=("nulls.alternating", "nulls.ninth", "rows.several"))
def bitmap_padding(model: StreamModel) -> None:
    """The bits of a bitmap beyond its last slot are set."""
    for _, _, part in _parts(model, "validity"):
        if part.slots % 8:
            part.data = part.data[:-1] + bytes([part.data[-1] | (0xFF << part.slots % 8) & 0xFF])


@variation("body.boolean-padding-set", f"{COL}#fixed-size-primitive-layout", on=("types.bool", "nulls.alternating"))
def boolean_padding(model: StreamModel) -> None:
    """The bits of booleans beyond the last slot are set."""
    for message in model.batches:
        for part in message.parts:
            node = _of(message, part.path)
            if part.role == "data" and part.unit == (1,) and len(part.data) == (node.length + 7) // 8:
                part.data = part.data[:-1] + bytes([part.data[-1] | (0xFF << node.length % 8) & 0xFF])


@variation("body.padding-dirty", ALIGNMENT)
def padding_dirty(model: StreamModel) -> None:
    """The padding between buffers is not zero."""
    for message in batches_of(model):
        tree, body = message.complete()
        header = tree["header"]["data"] if tree["header_type"] == 2 else tree["header"]
        out = bytearray(body)
        for (start, length), (after, _) in itertools.pairwise(header["buffers"]):
            if length:
                out[start + length : after] = b"\x5a" * max(0, after - start - length)
        model.rewrite(message, frame(tree, bytes(out)))


@variation("body.empty-buffers-anywhere", BATCH, on=("rows.zero", "rows.several", "nested.mixed", "dictionary.two"))
def empty_anywhere(model: StreamModel) -> None:
    """Empty buffers have offset 0, wherever they come in the order."""
    for message in batches_of(model):
        buffers, _ = message.body()
        message.batch["buffers"] = [(start if length else 0, length) for start, length in buffers]


@variation("body.buffers-reversed", BATCH, on=("dictionary.two", "dictionary.nested-list", "dictionary.of-struct"))
def buffers_reversed(model: StreamModel) -> None:
    """The buffers of dictionary batches are in reverse order; the header gives their positions."""
    for message in model.dictionaries:
        buffers, body = message.body()
        out, places = bytearray(), []
        for start, length in reversed(buffers):
            places.append((len(out), length))
            out += body[start : start + length]
            out += bytes(-len(out) % 8)
        tree, _ = message.complete()
        tree["header"] = {**tree["header"], "data": {**tree["header"]["data"], "buffers": places[::-1]}}
        model.rewrite(message, frame({**tree, "bodyLength": len(out)}, bytes(out)))


@variation(
    "body.under-nulls", _VALIDITY, on=("types.int32", "types.float64", "types.uint8", "types.decimal128", "nulls.ninth")
)
def under_nulls(model: StreamModel) -> None:
    """The slots under nulls hold arbitrary bits."""
    for message, number, part in _parts(model, "validity"):
        data = message.parts[number + 1]
        if data.role != "data" or len(data.data) % part.slots or len(data.data) < part.slots:
            continue
        rows = np.frombuffer(data.data, np.uint8).reshape(part.slots, -1).copy()
        valid = np.unpackbits(np.frombuffer(part.data, np.uint8), count=part.slots, bitorder="little")
        rows[valid == 0] = 0xA5
        data.data = rows.tobytes()


@variation(
    "body.indices-under-nulls",
    f"{COL}#dictionary-encoded-layout",
    on=("dictionary.index-int8", "dictionary.index-int64"),
)
def indices_under_nulls(model: StreamModel) -> None:
    """Under a null, a dictionary index points beyond the dictionary, or below it."""
    for message, number, part in _parts(model, "validity"):
        indices = message.parts[number + 1]
        if indices.role != "indices":
            continue
        rows = np.frombuffer(indices.data, np.uint8).reshape(part.slots, -1).copy()
        valid = np.unpackbits(np.frombuffer(part.data, np.uint8), count=part.slots, bitorder="little")
        rows[valid == 0] = 0xFF
        indices.data = rows.tobytes()


@variation("body.text-under-nulls", _BINARY, on=("types.utf8", "types.binary", "types.large-utf8"))
def text_under_nulls(model: StreamModel) -> None:
    """A null spans bytes, which are not even UTF-8."""
    for message, number, part in _parts(model, "offsets"):
        data, node = message.parts[number + 1], _of(message, part.path)
        kind = np.dtype(f"<i{part.unit[0]}")
        offsets = np.frombuffer(part.data, kind).copy()
        bitmap = message.parts[number - 1].data
        valid = np.unpackbits(np.frombuffer(bitmap, np.uint8), count=node.length, bitorder="little")
        slot = int((valid == 0).argmax())
        at = int(offsets[slot + 1])
        data.data = data.data[:at] + b"\xff\xfe\xfd" + data.data[at:]
        offsets[slot + 1 :] += 3
        part.data = offsets.tobytes()


@variation("body.first-offset", _BINARY, on=_WITH_TEXT)
def first_offset(model: StreamModel) -> None:
    """Offsets of text do not begin at 0; bytes that no value uses come before the first."""
    for message, number, part in _parts(model, "offsets"):
        data = message.parts[number + 1] if number + 1 < len(message.parts) else None
        if data is not None and data.path == part.path and data.role == "data":
            offsets = np.frombuffer(part.data, f"<i{part.unit[0]}") + 5
            part.data, data.data = offsets.astype(f"<i{part.unit[0]}").tobytes(), b"!!!!!" + data.data


@variation("body.bytes-after-text", _BINARY, on=_WITH_TEXT)
def bytes_after_text(model: StreamModel) -> None:
    """Bytes that no value uses come after the last."""
    for message, number, part in _parts(model, "offsets"):
        data = message.parts[number + 1] if number + 1 < len(message.parts) else None
        if data is not None and data.path == part.path and data.role == "data":
            data.data += b"\xff\xff\xff"


@variation("body.list-first-offset", f"{COL}#variable-size-list-layout", on=("types.list", "types.large-list"))
def list_first_offset(model: StreamModel) -> None:
    """Lists begin at their child's second slot, and the child has a slot more at the end as well."""
    for message, _, part in _parts(model, "offsets"):
        kind = f"<i{part.unit[0]}"
        part.data = (np.frombuffer(part.data, kind) + 1).astype(kind).tobytes()
        node = message.nodes[1]
        bitmap, data = message.parts[-2:]
        bits = np.unpackbits(np.frombuffer(bitmap.data, np.uint8), count=node.length, bitorder="little")
        bitmap.data = np.packbits(np.concatenate(([1], bits, [1])).astype(np.uint8), bitorder="little").tobytes()
        data.data = struct.pack("<h", 77) + data.data + struct.pack("<h", 88)
        node.length += 2


@variation("body.null-lists-span", f"{COL}#variable-size-list-layout", on=("types.list", "types.large-list"))
def null_lists_span(model: StreamModel) -> None:
    """A null list spans a slot of its child."""
    for message, number, part in _parts(model, "offsets"):
        node, child = message.nodes[0], message.nodes[1]
        kind = f"<i{part.unit[0]}"
        offsets = np.frombuffer(part.data, kind).copy()
        bitmap = message.parts[number - 1].data
        valid = np.unpackbits(np.frombuffer(bitmap, np.uint8), count=node.length, bitorder="little")
        slot = int((valid == 0).argmax())
        at = int(offsets[slot + 1])
        offsets[slot + 1 :] += 1
        part.data = offsets.astype(kind).tobytes()
        below, data = message.parts[-2:]
        bits = np.unpackbits(np.frombuffer(below.data, np.uint8), count=child.length, bitorder="little")
        below.data = np.packbits(np.insert(bits, at, 1), bitorder="little").tobytes()
        data.data = data.data[: 2 * at] + struct.pack("<h", 99) + data.data[2 * at :]
        child.length += 1


@variation(
    "body.offsets-absent", _BINARY, on=("rows.zero", "rows.empty-between", "dictionary.empty", "dictionary.all-null")
)
def offsets_absent(model: StreamModel) -> None:
    """The offsets of a field without slots are 0 bytes, in dictionaries too."""
    for message, _, part in _parts(model, "offsets"):
        if not any(part.data) and _of(message, part.path).length == 0:
            part.data = b""


@variation("body.views-unused", _VIEW, on=("types.string-view", "types.binary-view"))
def views_unused(model: StreamModel) -> None:
    """A view field has a buffer more that no view points into."""
    for message, number, part in list(_parts(model, "variadic")):
        message.parts.insert(number + 1, Part(part.path, "variadic", b"nobody points here"))


@variation("body.views-empty-buffer", _VIEW, on=("types.string-view", "types.binary-view"))
def views_empty_buffer(model: StreamModel) -> None:
    """A view field has a buffer more, which is empty."""
    for message, number, part in list(_parts(model, "variadic")):
        message.parts.insert(number + 1, Part(part.path, "variadic", b""))


@variation("body.views-apart", _VIEW, on=("types.string-view", "types.binary-view"))
def views_apart(model: StreamModel) -> None:
    """The long values are in a second buffer; the first exists and holds something else."""
    for message, number, part in list(_parts(model, "variadic")):
        views = next(each for each in message.parts if each.role == "views" and each.path == part.path)
        moved = [views.data[start : start + 16] for start in range(0, len(views.data), 16)]
        views.data = b"".join(
            each if struct.unpack_from("<i", each)[0] <= 12 else each[:8] + struct.pack("<i", 1) + each[12:]
            for each in moved
        )
        message.parts.insert(number, Part(part.path, "variadic", b"first, and of no use"))


@variation("body.views-under-nulls", _VIEW, on=("types.string-view", "types.binary-view"), grade="ambiguous")
def views_under_nulls(model: StreamModel) -> None:
    """Under a null, a view points nowhere; the format does not say whether it may."""
    for message, number, part in _parts(model, "views"):
        bitmap = message.parts[number - 1].data
        valid = np.unpackbits(np.frombuffer(bitmap, np.uint8), count=len(part.data) // 16, bitorder="little")
        slot = int((valid == 0).argmax())
        wild = struct.pack("<i4sii", 1 << 20, b"wild", 9, 1 << 20)
        part.data = part.data[: 16 * slot] + wild + part.data[16 * slot + 16 :]


@variation("body.struct-children-longer", f"{COL}#struct-layout", on=("types.struct",), grade="ambiguous")
def struct_children_longer(model: StreamModel) -> None:
    """A struct's first child has a slot more than the struct; writers make them equal, readers may expect it."""
    for message in model.batches:
        message.nodes[1].length += 1
        message.parts[2].data += bytes(4)
        node = message.nodes[1]
        bitmap = message.parts[1]
        bits = np.unpackbits(np.frombuffer(bitmap.data, np.uint8), count=node.length, bitorder="little")
        bits[-1] = 1
        bitmap.data = np.packbits(bits, bitorder="little").tobytes()


@variation(
    "body.fixed-size-child-longer", f"{COL}#fixed-size-list-layout", on=("types.fixed-size-list",), grade="ambiguous"
)
def fixed_size_child_longer(model: StreamModel) -> None:
    """The child of a fixed-size list has two slots more than its lists."""
    for message in model.batches:
        node, (bitmap, data) = message.nodes[1], message.parts[-2:]
        bits = np.unpackbits(np.frombuffer(bitmap.data, np.uint8), count=node.length, bitorder="little")
        bitmap.data = np.packbits(np.append(bits, [1, 1]), bitorder="little").tobytes()
        data.data += bytes(8)
        node.length += 2


@variation(
    "body.runs-beyond", f"{COL}#run-end-encoded-layout", on=("types.run-end-encoded-16", "types.run-end-encoded-32")
)
def runs_beyond(model: StreamModel) -> None:
    """The last run ends beyond the end of the column."""
    for message in model.batches:
        width = message.parts[1].unit[0]
        ends = np.frombuffer(message.parts[1].data, f"<i{width}").copy()
        ends[-1] += 100
        message.parts[1].data = ends.tobytes()


@variation(
    "body.run-ends-bitmap", f"{COL}#run-end-encoded-layout", on=("types.run-end-encoded-32", "types.run-end-encoded-64")
)
def run_ends_bitmap(model: StreamModel) -> None:
    """Run ends have a bitmap of ones."""
    for message in model.batches:
        message.parts[0].data = b"\x07"


@variation("body.dense-children-unused", f"{COL}#union-layout", on=("types.union-dense", "types.union-dense-ids"))
def dense_unused(model: StreamModel) -> None:
    """The first child of a dense union has a slot that no offset points to."""
    for message in model.batches:
        node, bitmap, data = message.nodes[1], message.parts[2], message.parts[3]
        bits = np.unpackbits(np.frombuffer(bitmap.data, np.uint8), count=node.length, bitorder="little")
        bitmap.data = np.packbits(np.append(bits, [1]), bitorder="little").tobytes()
        data.data += bytes(4)
        node.length += 1
