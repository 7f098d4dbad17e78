"""The regions of the annotated dump: the meaning of every byte of a message, a footer or a body.

Regions of the metadata come from the rows of :mod:`conformance.wire.tables`, regions of a body from the judged buffers.
"""

from __future__ import annotations

import dataclasses
import itertools
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from conformance.contain.text import many
from conformance.wire.batch import BatchMessage
from conformance.wire.closed import BufferRole, RegionKind, SpanKind
from conformance.wire.flatbuf import FlatTable, Span, Verifier
from conformance.wire.footer import HEAD, MAGIC, Tail
from conformance.wire.layout import Op
from conformance.wire.messages import Frame, Header, Message
from conformance.wire.preview import preview, preview_values, shorten
from conformance.wire.tables import CODES, ENUMS, STRUCTS, UNIONS, WIDTHS, Slot, SlotKind
from conformance.wire.tensors import TensorReading

__all__ = ["MAX_REGIONS", "NOT_ANNOTATED", "Judged", "Region", "cover", "head_claims", "message_claims", "tail_claims"]

MAX_REGIONS: Final = 1 << 17
"""The regions of a dump that have a meaning of their own: each becomes an object of some 500 bytes, and a line."""
NOT_ANNOTATED: Final = "not annotated"
"""The meaning of the bytes behind them."""
Judged: TypeAlias = BatchMessage | TensorReading | None
"""The result of reading a message's body."""


@dataclasses.dataclass(frozen=True, slots=True)
class Region:
    """Bytes ``start`` to ``end`` (exclusive): a part of ``path``, with a meaning and, for some parts, a value."""

    start: int
    end: int
    kind: RegionKind
    path: str
    meaning: str
    value: str = ""


def cover(claims: list[Region], start: int, end: int, data: memoryview, *, most: int = MAX_REGIONS) -> Iterator[Region]:
    """The claims in order, clipped where they overlap; the bytes between them become padding or unknown bytes.

    If there are ``most`` claims, more were left out: the bytes between them are said to be not annotated.
    """
    between = NOT_ANNOTATED if len(claims) >= most else ""
    covered = start
    for claim in sorted(claims, key=lambda region: (region.start, region.end)):
        if claim.end <= max(covered, claim.start) or claim.start >= end:
            continue
        if claim.start > covered:
            yield _gap(covered, claim.start, data, between)
        first, last = max(claim.start, covered), min(claim.end, end)
        yield claim if (first, last) == (claim.start, claim.end) else dataclasses.replace(claim, start=first, end=last)
        covered = last
    if covered < end:
        yield _gap(covered, end, data, between)


def _gap(start: int, end: int, data: memoryview, meaning: str) -> Region:
    size = end - start
    if meaning:
        return Region(start, end, RegionKind.UNKNOWN, "", meaning, many(size, "byte"))
    if size < 64 and not bytes(data[start:end]).strip(b"\0"):
        return Region(start, end, RegionKind.PADDING, "", "padding", many(size, "byte"))
    return Region(start, end, RegionKind.UNKNOWN, "", "bytes of no known part", many(size, "byte"))


def message_claims(data: memoryview, frame: Frame, judged: Judged, *, most: int = MAX_REGIONS) -> list[Region]:
    """The regions that the parts of a framed message claim: prefix, metadata and body; the first ``most`` of them.

    A message that begins with its metadata has no prefix, because a transport frames it.
    """
    return list(itertools.islice(_message_claims(data, frame, judged), most))


def _message_claims(data: memoryview, frame: Frame, judged: Judged) -> Iterator[Region]:
    message = frame.message
    bare = message.header is not Header.STRAY and message.metadata_start == message.start
    if not bare:
        yield from _prefix(data, message)
    if frame.verifier is not None:
        yield from _Metadata(frame.verifier, judged if isinstance(judged, BatchMessage) else None).all()
        if frame.root is None:
            end = message.metadata_end
            yield Region(end, message.end, RegionKind.UNKNOWN, "", "not read", "the metadata does not say")
    elif message.metadata_start and message.metadata_end > message.metadata_start:
        start, end = message.metadata_start, message.metadata_end
        yield Region(start, end, RegionKind.UNKNOWN, "metadata", "metadata, cut short")
    if message.body_end > message.body_start:
        yield from _tensor(message, judged) if isinstance(judged, TensorReading) else _body(message, judged)


def head_claims() -> Iterator[Region]:
    """The parts of the start of a file whose head is complete."""
    yield Region(0, len(MAGIC), RegionKind.PREFIX, "head", "magic", "ARROW1")
    yield Region(len(MAGIC), HEAD, RegionKind.PADDING, "head", "padding", many(HEAD - len(MAGIC), "byte"))


def tail_claims(data: memoryview, tail: Tail, messages: Mapping[int, Message]) -> Iterator[Region]:
    """The parts of a file's end: footer, its length and the magic; ``messages`` are those that blocks may point to."""
    if tail.verifier is not None:
        yield from _Metadata(tail.verifier, None, messages).all()
    if tail.length_at is not None:
        (length,) = struct.unpack_from("<i", data, tail.length_at)
        end = tail.length_at + 4
        yield Region(tail.length_at, end, RegionKind.PREFIX, "tail", "length of the footer", many(length, "byte"))
        yield Region(end, end + len(MAGIC), RegionKind.PREFIX, "tail", "magic", "ARROW1")


def _prefix(data: memoryview, message: Message) -> Iterator[Region]:
    at = message.start
    if message.header is Header.STRAY and not message.metadata_start:
        yield Region(at, message.end, RegionKind.UNKNOWN, "", "no message begins here", many(message.end - at, "byte"))
        return
    if not message.legacy:
        yield Region(at, at + 4, RegionKind.PREFIX, "prefix", "continuation word", "Arrow 0.15 and later")
        at += 4
    (length,) = struct.unpack_from("<i", data, at)
    value = "end of stream" if length == 0 else many(length, "byte")
    meaning = "metadata length, with no continuation word before it" if message.legacy else "metadata length"
    yield Region(at, at + 4, RegionKind.PREFIX, "prefix", meaning, value)


def _body(message: Message, batch: BatchMessage | None) -> Iterator[Region]:
    base = message.body_start
    body = batch.body if batch is not None else None
    if batch is None:
        yield Region(base, message.body_end, RegionKind.UNKNOWN, "body", f"body of a {message.header} message")
        return
    for number, (offset, length) in enumerate(batch.buffers):
        if offset < 0 or length <= 0 or offset + length > message.body_end - base:
            continue
        owner = body.owner(number) if body is not None else None
        path, meaning, value = "body", f"buffer {number}", ""
        if body is not None and owner is not None:
            op, role = owner
            path, meaning = op.path, role
            content = body.contents[number]
            value = "cannot be read" if content is None else _shown(batch, op, role, content)
        yield Region(base + offset, base + offset + length, RegionKind.BUFFER, path, meaning, value)


def _tensor(message: Message, reading: TensorReading) -> Iterator[Region]:
    base, body = message.body_start, reading.body
    for part, content in zip(reading.parts, body.contents if body is not None else (), strict=True):
        offset, length = part.range
        if content is None and (min(offset, length) < 0 or offset + length > message.body_end - base):
            continue
        shown = "cannot be read" if content is None else preview_values(content, part.type)
        yield Region(base + offset, base + offset + length, RegionKind.BUFFER, part.role, str(part.type), shown)


def _shown(batch: BatchMessage, op: Op, role: str, content: memoryview) -> str:
    if batch.body is None:
        return ""
    known = BufferRole(role) if role in _ROLES else None
    shown = preview(batch.body, op, known, content)
    return f"{batch.codec}, {many(len(content), 'byte')}: {shown}" if batch.codec else shown


_ROLES: Final = frozenset(BufferRole)


class _Metadata:
    """Converts verified spans of the metadata to regions."""

    def __init__(
        self, verifier: Verifier, batch: BatchMessage | None, messages: Mapping[int, Message] | None = None
    ) -> None:
        self.verifier = verifier
        self.meta = verifier.meta
        self.base = verifier.base
        self.batch = batch
        self.messages = messages or {}
        self.elements = len(verifier.meta)
        self.targets = {span[0]: span for span in verifier.spans if span[2] is not SpanKind.VTABLE}

    def all(self) -> Iterator[Region]:
        """The regions of every verified part; a shared part counts once."""
        seen: set[tuple[int, int, SpanKind]] = set()
        for span in self.verifier.spans:
            if span[:3] not in seen:
                seen.add(span[:3])
                yield from self.claims(span)

    def claims(self, span: Span) -> Iterable[Region]:
        start, end, kind, path, thing = span
        if kind is SpanKind.ROOT:
            return [self.region((0, 4), RegionKind.TABLE, path, "root table", self.target(0))]
        if kind is SpanKind.VTABLE:
            return self.vtable(thing)
        if kind is SpanKind.TABLE:
            return self.table(thing)
        if kind is SpanKind.VECTOR:
            return self.vector(start, end, path, thing)
        return self.string(start, end, path, thing)

    def region(self, place: tuple[int, int], kind: RegionKind, path: str, meaning: str, value: str = "") -> Region:
        return Region(self.base + place[0], self.base + place[1], kind, path, meaning, value)

    def vtable(self, table: FlatTable) -> Iterator[Region]:
        at, spec, path = table.vtable, table.spec, f"vtable of {_label(table)}"
        yield self.region((at, at + 2), RegionKind.VTABLE, path, "size of the vtable", many(table.vtable_size, "byte"))
        yield self.region((at + 2, at + 4), RegionKind.VTABLE, path, "size of the table", many(table.size, "byte"))
        for number, (slot, place) in enumerate(zip(spec.slots, table.places, strict=False)):
            value = f"at +{place - table.start}" if place else "absent"
            entry = at + 4 + 2 * number
            yield self.region((entry, entry + 2), RegionKind.VTABLE, path, f"slot {number} {slot.name}", value)
        known, end = at + 4 + 2 * len(table.places), at + table.vtable_size
        if end > known:
            yield self.region((known, end), RegionKind.VTABLE, path, "slots of no known name")

    def table(self, table: FlatTable) -> Iterator[Region]:
        at, path = table.start, _label(table)
        back = f"at {self.base + table.vtable:#06x}"
        yield self.region((at, at + 4), RegionKind.TABLE, path, "its vtable", back)
        for number, (slot, place) in enumerate(zip(table.spec.slots, table.places, strict=False)):
            if table.start + 4 <= place and place + slot.size <= table.start + table.size:
                value = self.slot(table, number, slot, place)
                yield self.region((place, place + slot.size), RegionKind.TABLE, path, slot.name, value)

    def slot(self, table: FlatTable, number: int, slot: Slot, place: int) -> str:
        if slot.kind is SlotKind.SCALAR:
            value = self.number(slot.of, place)
            if slot.name.endswith("_type"):
                members = UNIONS[table.spec.slots[number + 1].of]
                return members[value] if value < len(members) else f"{value}, unknown"
            if slot.enum:
                names = ENUMS[slot.enum].names
                return names[value] if 0 <= value < len(names) else f"{value}, unknown"
            return ("false", "true")[value] if slot.of == "bool" and value < 2 else str(value)
        if slot.kind is SlotKind.STRUCT:
            return self.struct(slot.of, place)
        return self.target(place)

    def number(self, of: str, at: int) -> int:
        """The scalar of type ``of`` at ``at``."""
        number: int
        (number,) = struct.unpack_from("<" + CODES[of], self.meta, at)
        return number

    def struct(self, name: str, place: int) -> str:
        fields = STRUCTS[name].fields
        return ", ".join(f"{field} {self.number(of, place + offset)}" for field, of, offset in fields)

    def target(self, place: int) -> str:
        """The target of the reference at ``place``, as text."""
        (distance,) = struct.unpack_from("<I", self.meta, place)
        to = place + distance
        span = self.targets.get(to)
        arrow = f"→ {self.base + to:#06x}"
        if span is None:
            return arrow
        if span[2] is SpanKind.STRING:
            return f"{arrow} {shorten(repr(span[4].decode(errors='replace')), 48)}"
        if span[2] is SpanKind.TABLE:
            return f"{arrow} {span[4].spec.name}"
        return f"{arrow} {span[2]}"

    def vector(self, start: int, end: int, path: str, slot: Slot) -> Iterator[Region]:
        size = STRUCTS[slot.of].size if slot.of in STRUCTS else WIDTHS.get(slot.of, 4)
        count = (end - start - 4) // size
        yield self.region((start, start + 4), RegionKind.VECTOR, path, f"count of {slot.of}", str(count))
        self.elements -= count
        # A few bytes can be the elements of any number of vectors; all vectors together list at most one element per
        # byte of the metadata.
        if self.elements < 0:
            yield self.region((start + 4, end), RegionKind.VECTOR, path, "elements", "shared with others")
            return
        for number in range(count):
            at = start + 4 + number * size
            if slot.kind is SlotKind.STRUCTS:
                shown = self.block(at) if slot.of == "Block" else self.struct(slot.of, at)
                value = f"{shown}{self.owner(slot.of, number, at)}"
            elif slot.kind is SlotKind.SCALARS:
                value = str(self.number(slot.of, at))
            else:
                value = self.target(at)
            yield self.region((at, at + size), RegionKind.VECTOR, path, f"[{number}]", value)

    def block(self, at: int) -> str:
        """A block in short form: with field names, the row would have no space for the kind of the message."""
        offset, metadata, body = struct.unpack_from("<qi4xq", self.meta, at)
        return f"at {offset}, metadata {metadata}, body {body}"

    def owner(self, struct_name: str, number: int, at: int) -> str:
        """The owner of a node, buffer or block in a vector, as text; empty if it is unknown."""
        if struct_name == "Block":
            message = self.messages.get(self.number("i64", at))
            return "  · no message" if message is None else f"  · {message.header}"
        body = self.batch.body if self.batch is not None else None
        if body is None:
            return ""
        if struct_name == "FieldNode":
            return f"  · {body.plan.ops[number].path}" if number < len(body.plan.ops) else ""
        owner = body.owner(number)
        return f"  · {owner[0].path} {owner[1]}" if owner is not None else ""

    def string(self, start: int, end: int, path: str, text: bytes) -> Iterator[Region]:
        yield self.region((start, start + 4), RegionKind.STRING, path, "length of the string", many(len(text), "byte"))
        if text:
            shown = repr(shorten(text.decode(errors="replace"), 56))
            yield self.region((start + 4, end - 1), RegionKind.STRING, path, "text", shown)
        yield self.region((end - 1, end), RegionKind.STRING, path, "terminator")


def _label(table: FlatTable) -> str:
    """A table's path with its kind and, for a field, its name."""
    kind = table.spec.name
    if kind == table.path:
        return kind
    name = f" {shorten(repr(table['name']), 40)}" if kind == "Field" else ""
    return f"{table.path} ({kind}{name})"
