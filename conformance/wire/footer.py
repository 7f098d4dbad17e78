"""The end of an IPC file: the footer's table with its blocks, its length, and the magic.

This module finds and reads the footer, and compares its schema and metadata with the stream's first message.
:mod:`conformance.wire.blocks` and :mod:`conformance.wire.file` decide whether its blocks match the file.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import Final

from conformance.contain.text import many
from conformance.wire.faults import Fault, Rule, report
from conformance.wire.flatbuf import FlatTable, VectorRun, Verifier
from conformance.wire.foreign import MAGIC
from conformance.wire.hints import byte_swapped
from conformance.wire.messages import KeyValues, Message, read_pairs
from conformance.wire.schema import schema_from
from conformance.wire.tables import ENUMS, STRUCTS
from conformance.wire.types import Field, Schema

__all__ = ["HEAD", "MAGIC", "Block", "Footer", "Tail", "is_footer", "judge_footer", "read_tail"]

HEAD: Final = 8
"""Bytes before the stream: the magic, padded to 8 bytes."""

_LENGTH: Final = struct.Struct("<i")
# Struct Block of File.fbs: after the int32 follow 4 bytes of padding, because an int64 is aligned to 8 bytes.
_BLOCK: Final = struct.Struct("<qi4xq")
_VERSIONS: Final = ENUMS["MetadataVersion"].names
# A file ends with the footer, its length as int32, and the magic
# (https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format).
_END: Final = _LENGTH.size + len(MAGIC)


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """The position of a message according to the footer: its start in the file, and the lengths of its two parts.

    ``metadata_length`` counts prefix, metadata and padding. ``place`` is the offset of the block itself in the file.
    """

    offset: int
    metadata_length: int
    body_length: int
    place: int


@dataclasses.dataclass(frozen=True, slots=True)
class Footer:
    """The footer from ``start`` to ``end``; ``schema`` is None if it is missing or batches cannot be read by it.

    ``version`` is ``V1`` to ``V5``, or empty if it could not be read; a list of blocks that could not be read is None.
    """

    start: int
    end: int
    version: str
    schema: Schema | None
    dictionaries: tuple[Block, ...] | None
    batches: tuple[Block, ...] | None
    metadata: KeyValues


@dataclasses.dataclass(frozen=True, slots=True)
class Tail:
    """The bytes after the stream, which ends at ``start`` at the latest.

    ``length_at`` is the offset of the footer's length, None if the trailing magic is missing. ``verifier`` has walked
    the footer's bytes; it is None if their position is unknown.
    """

    start: int
    length_at: int | None = None
    verifier: Verifier | None = None
    root: FlatTable | None = None
    footer: Footer | None = None


def read_tail(view: memoryview, faults: list[Fault]) -> Tail:
    """Read a file from its end, and add the faults found there to ``faults``."""
    size = len(view)
    if bytes(view[-len(MAGIC) :]) != MAGIC:
        place = max(size - len(MAGIC), 0), size
        report(faults, Rule.FILE_MAGIC_END, place, "magic", f"the bytes {view[place[0] :].hex(' ') or 'of nothing'}")
        return Tail(size)
    length_at = size - _END
    if length_at < HEAD:
        report(faults, Rule.FOOTER_OUT_OF_RANGE, (0, size), "footer", f"a file of {many(size, 'byte')}")
        return Tail(max(length_at, min(HEAD, size)))
    # The length counts the footer alone, without itself and the magic.
    (length,) = _LENGTH.unpack_from(view, length_at)
    start, place = length_at - length, (length_at, length_at + _LENGTH.size)
    if start < HEAD or length <= 0:
        rule = Rule.FOOTER_LENGTH_NOT_POSITIVE if length <= 0 else Rule.FOOTER_OUT_OF_RANGE
        hint = byte_swapped(length, 4, range(1, length_at - HEAD + 1).__contains__)
        report(faults, rule, place, "footer", f"a footer length of {length} in a file of {many(size, 'byte')}{hint}")
        return Tail(length_at, length_at)
    verifier = Verifier(bytes(view[start:length_at]), start, faults)
    root = verifier.root("Footer")
    verifier.account()
    footer = _footer(root, verifier) if root is not None else None
    return Tail(start, length_at, verifier, root, footer)


def is_footer(view: memoryview, start: int) -> bool:
    """True if the bytes from ``start`` to the end are a footer and its length, with the magic behind it or without."""
    for end in (len(view) - _END, len(view) - _LENGTH.size):
        if end <= start or (end == len(view) - _END and bytes(view[-len(MAGIC) :]) != MAGIC):
            continue
        if _LENGTH.unpack_from(view, end)[0] == end - start:
            root = Verifier(bytes(view[start:end]), start, []).root("Footer")
            return root is not None and root["schema"] is not None
    return False


def _footer(root: FlatTable, verifier: Verifier) -> Footer:
    code, header, dictionaries, batches, _ = root.values
    version = "" if code is None else _VERSIONS[code]
    start, end = verifier.base, verifier.base + len(verifier.meta)
    if root.place("schema") == root.start:
        place = start + root.start, start + root.start + root.size
        report(verifier.faults, Rule.FOOTER_SCHEMA_MISSING, place, "Footer.schema", "a footer without a schema")
    return Footer(
        start=start,
        end=end,
        version=version,
        schema=None if header is None else schema_from(header, verifier, version),
        dictionaries=_blocks(root, "dictionaries", dictionaries, verifier),
        batches=_blocks(root, "recordBatches", batches, verifier),
        metadata=read_pairs(root, verifier),
    )


def _blocks(root: FlatTable, name: str, run: VectorRun | None, verifier: Verifier) -> tuple[Block, ...] | None:
    if run is None:
        return () if root.place(name) == root.start else None
    size = STRUCTS["Block"].size
    places = range(run.start, run.start + size * run.count, size)
    return tuple(_block(_BLOCK.unpack_from(verifier.meta, at), verifier.base + at) for at in places)


def _block(values: tuple[int, int, int], place: int) -> Block:
    offset, metadata_length, body_length = values
    return Block(offset, metadata_length, body_length, place)


def judge_footer(tail: Tail, first: Message, schema: Schema | None, faults: list[Fault]) -> bool:
    """Compare the footer with the stream's first message; True if both schemas are readable and equal."""
    footer, root = tail.footer, tail.root
    if footer is None or root is None:
        return False

    def differs(rule: Rule, name: str, observed: str) -> None:
        at = footer.start + root.place(name)
        report(faults, rule, (at, at + 4), f"Footer.{name}", observed)

    if footer.version and first.version and footer.version != first.version:
        absent = " (absent)" if root.place("version") == root.start else ""
        observed = f"metadata version {footer.version}{absent}, where the stream's schema has {first.version}"
        differs(Rule.FOOTER_VERSION_DIFFERS, "version", observed)
    # A file may have metadata of its own in the footer: File.fbs calls it user-defined.
    there = set(footer.metadata)
    if missing := [pair for pair in first.custom_metadata if pair not in there]:
        observed = f"{many(len(missing), 'pair')} of the stream's first message missing, the first {missing[0]}"
        differs(Rule.FOOTER_METADATA_DIFFERS, "custom_metadata", observed)
    if footer.schema is None or schema is None:
        return False
    difference = _difference(footer.schema, schema)
    if difference:
        differs(Rule.FOOTER_SCHEMA_DIFFERS, "schema", difference)
    return not difference


def _difference(footer: Schema, stream: Schema) -> str:
    """The first difference between the footer's schema and the stream's, as text; empty if they are equal."""
    if footer.endianness is not stream.endianness:
        return f"{footer.endianness}-endian; the stream is {stream.endianness}-endian"
    if len(footer.fields) != len(stream.fields):
        return f"{len(footer.fields)} fields; the stream's schema has {len(stream.fields)}"
    for number, (ours, theirs) in enumerate(zip(footer.fields, stream.fields, strict=True)):
        if ours != theirs and _normal(ours) != _normal(theirs):
            return f"field {number} is {ours}; in the stream it is {theirs}{_unseen(ours, theirs)}"
    if sorted(map(repr, footer.metadata)) != sorted(map(repr, stream.metadata)):
        return f"custom metadata {footer.metadata[:2]}; the stream's schema has {stream.metadata[:2]}"
    if sorted(footer.features) != sorted(stream.features):
        return f"features {footer.features[:4]}; the stream's schema has {stream.features[:4]}"
    return ""


def _normal(field: Field) -> tuple[object, ...]:
    """A field for comparison, without the order of its metadata, which has no meaning."""
    pairs = tuple(sorted(map(repr, field.metadata)))
    return field.name, field.type, field.nullable, pairs, field.dictionary, tuple(map(_normal, field.children))


def _unseen(ours: Field, theirs: Field) -> str:
    return ", with other metadata" if str(ours) == str(theirs) else ""
