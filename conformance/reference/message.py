"""A message as a model: metadata tree and body parts, open to change before it becomes bytes.

The reference serializer builds the correct model; a mutant or a legal variation changes one thing in it;
:meth:`Message.encode` writes the model as it then is.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.reference.body import FieldNode, Part, walk
from conformance.reference.flatbuffers import DEFAULT, TableLayout, write
from conformance.reference.types import field_tree, metadata_tree

__all__ = [
    "CONTINUATION",
    "END_OF_STREAM",
    "DraftMessage",
    "batch_message",
    "dictionary_message",
    "frame",
    "schema_message",
]

CONTINUATION: Final = b"\xff\xff\xff\xff"
END_OF_STREAM: Final = CONTINUATION + bytes(4)
V5: Final = 4
_CODECS: Final[Mapping[str, tuple[str, int]]] = {"LZ4_FRAME": ("lz4", 0), "ZSTD": ("zstd", 1)}


@dataclasses.dataclass(slots=True)
class DraftMessage:
    """An encapsulated message that has not been written yet.

    ``tree`` is the ``Message`` table; for a record batch or a dictionary batch, ``nodes`` and ``parts`` are written
    into its header and body by :meth:`encode` unless the tree already carries ``nodes`` and ``buffers`` of its own.
    ``alignment`` is that of metadata end and buffers; ``codec`` is ``""``, ``LZ4_FRAME`` or ``ZSTD``.
    A buffer is stored as it is where compression saves less than the part ``savings`` of its size, or nothing at all.
    ``schema`` is that of the served table, for mutants that put another message in place of this one; None if the
    message is part of a stream or file.
    """

    tree: dict[str, Any]
    nodes: list[FieldNode] = dataclasses.field(default_factory=list)
    parts: list[Part] = dataclasses.field(default_factory=list)
    codec: str = ""
    alignment: int = 8
    continuation: bytes = CONTINUATION
    layout: TableLayout = DEFAULT
    savings: float = 0.0
    schema: pa.Schema | None = None

    @property
    def header(self) -> dict[str, Any]:
        """The header table: Schema, RecordBatch …"""
        header: dict[str, Any] = self.tree["header"]
        return header

    @property
    def batch(self) -> dict[str, Any]:
        """The RecordBatch table: the header itself, or a dictionary batch's data.

        Raises:
            LookupError: the message has none.
        """
        if self.tree["header_type"] not in (_RECORD_BATCH, _DICTIONARY_BATCH):
            raise LookupError("neither a record batch nor a dictionary batch")
        batch: dict[str, Any] = self.header["data"] if self.tree["header_type"] == _DICTIONARY_BATCH else self.header
        return batch

    def part(self, role: str, path: str | None = None) -> Part:
        """The first part of that role that is not empty (at ``path``, if given).

        Raises:
            LookupError: the message has none.
        """
        for part in self.parts:
            if part.role == role and part.data and path in (None, part.path):
                return part
        raise LookupError(f"no {role} buffer" + (f" at {path}" if path else ""))

    def body(self) -> tuple[list[tuple[int, int]], bytes]:
        """The ``Buffer`` structs (offset, length) and the body that the parts make."""
        out, buffers = bytearray(), []
        for part in self.parts:
            data = self._compressed(part.data)
            buffers.append((len(out), len(data)))
            out += data
            out += bytes(-len(out) % self.alignment)
        return buffers, bytes(out)

    def _variadic(self) -> dict[str, list[int]]:
        """The number of data buffers behind each view field, if there are view fields."""
        counts: list[int] = []
        for part in self.parts:
            if part.role == "views":
                counts.append(0)
            elif part.role == "variadic":
                counts[-1] += 1
        return {"variadicBufferCounts": counts} if counts else {}

    def _compressed(self, data: bytes) -> bytes:
        if not self.codec or not data:
            return data
        squeezed: bytes = pa.Codec(_CODECS[self.codec][0]).compress(data, asbytes=True)
        # -1 declares bytes stored as they are (Message.fbs, BodyCompressionMethod.BUFFER).
        if len(squeezed) >= len(data) or len(squeezed) > (1 - self.savings) * len(data):
            return struct.pack("<q", -1) + data
        return struct.pack("<q", len(data)) + squeezed

    def encode(self) -> bytes:
        """The bytes of the encapsulated message."""
        tree, body = self.complete()
        return frame(tree, body, alignment=self.alignment, continuation=self.continuation, layout=self.layout)

    def complete(self) -> tuple[dict[str, Any], bytes]:
        """The whole ``Message`` tree, nodes, buffers and body length filled in, and the body."""
        tree = dict(self.tree)
        dictionary = tree["header_type"] == _DICTIONARY_BATCH and "data" in tree["header"]
        if tree["header_type"] != _RECORD_BATCH and not dictionary:
            return tree, b""
        buffers, body = self.body()
        filled = {
            "nodes": [(node.length, node.null_count) for node in self.nodes],
            "buffers": buffers,
            **({"compression": {"codec": _CODECS[self.codec][1]}} if self.codec else {}),
            **self._variadic(),
        }
        if dictionary:
            tree["header"] = {**tree["header"], "data": {**filled, **tree["header"]["data"]}}
        else:
            tree["header"] = {**filled, **tree["header"]}
        return {"bodyLength": len(body), **tree}, body


_SCHEMA: Final = 1
_DICTIONARY_BATCH: Final = 2
_RECORD_BATCH: Final = 3


def frame(
    tree: Mapping[str, Any],
    body: bytes,
    *,
    alignment: int = 8,
    continuation: bytes = CONTINUATION,
    layout: TableLayout = DEFAULT,
) -> bytes:
    """A ``Message`` tree and a body as one encapsulated message."""
    metadata = write("Message", tree, layout=layout)
    prefix = len(continuation) + 4
    metadata += bytes(-(prefix + len(metadata)) % alignment)
    return continuation + struct.pack("<i", len(metadata)) + metadata + body


def schema_message(schema: pa.Schema, ids: Sequence[int] | None = None) -> DraftMessage:
    """The Schema message of ``schema``: V5, little endian, no body.

    ``ids`` are the ids of its dictionaries, in pre-order; without them, no field may be dictionary-encoded.
    """
    numbers = None if ids is None else iter(ids)
    header: dict[str, Any] = {"fields": [field_tree(field, numbers) for field in schema]}
    if schema.metadata:
        header["custom_metadata"] = metadata_tree(schema.metadata)
    return DraftMessage({"version": V5, "header_type": _SCHEMA, "header": header})


def batch_message(batch: pa.RecordBatch, *, codec: str = "") -> DraftMessage:
    """The RecordBatch message of ``batch``: V5, buffers in order, aligned to 8, no bitmap where nothing is null."""
    nodes, parts = walk(batch)
    tree = {"version": V5, "header_type": _RECORD_BATCH, "header": {"length": batch.num_rows}}
    return DraftMessage(tree, nodes, parts, codec)


def dictionary_message(number: int, values: pa.Array, *, delta: bool = False, codec: str = "") -> DraftMessage:
    """The DictionaryBatch message that defines dictionary ``number``, or with ``delta`` appends to it."""
    message = batch_message(pa.record_batch([values], names=["dictionary"]), codec=codec)
    header = {"id": number, "data": message.header, "isDelta": int(delta)}
    message.tree = {"version": V5, "header_type": _DICTIONARY_BATCH, "header": header}
    return message
