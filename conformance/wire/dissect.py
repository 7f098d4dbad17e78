"""The annotated dump: the meaning of every byte of a message, stream, file or tensor.

The regions cover all bytes exactly once and in order. Broken bytes are dissected as far as they could be followed; the
rest becomes a region of kind ``unknown``, and the dump lists the faults. :mod:`conformance.wire.regions` decides the
parts of a message, and :mod:`conformance.wire.dump` formats regions as text.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from conformance.contain.text import many, safe_values
from conformance.wire.batch import BatchMessage, judge_batch
from conformance.wire.closed import Kind, RegionKind, SectionKind
from conformance.wire.compression import DecompressionBudget
from conformance.wire.faults import Fault
from conformance.wire.file import read_file
from conformance.wire.footer import HEAD, Tail, read_tail
from conformance.wire.messages import Bytes, Frame, Header, Message, read_frame
from conformance.wire.regions import MAX_REGIONS, Judged, Region, cover, head_claims, message_claims, tail_claims
from conformance.wire.schema import schema_of
from conformance.wire.sniff import sniff
from conformance.wire.stream import StreamReading, read_stream
from conformance.wire.tensors import judge_tensor
from conformance.wire.types import Schema

__all__ = ["DissectedSection", "Dissection", "Region", "RegionKind", "dissect", "judge_alone", "section_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class DissectedSection:
    """Bytes ``start`` to ``end`` (exclusive) under one heading."""

    start: int
    end: int
    kind: SectionKind
    title: str


@dataclasses.dataclass(frozen=True, slots=True)
class Dissection:
    """All bytes as regions, the sections and messages that they form, and the faults.

    ``kind`` is a :class:`Kind`, or the name of a protobuf message.
    """

    data: memoryview
    kind: str
    regions: tuple[Region, ...]
    sections: tuple[DissectedSection, ...]
    messages: tuple[Message, ...]
    faults: tuple[Fault, ...]
    schema: Schema | None

    def to_json(self, *, only: Collection[SectionKind] = ()) -> dict[str, Any]:
        """The dump as JSON values, with all faults, and with the first 64 bytes of each region.

        Control characters in texts are escaped; see :func:`conformance.contain.text.safe`.
        """
        made = {
            "size": len(self.data),
            "kind": self.kind,
            "sections": [dataclasses.asdict(section) for section in self.chosen(only)],
            "messages": [dataclasses.asdict(message) for message in self.messages],
            "regions": [
                {name: getattr(region, name) for name in _OF_REGION}  # asdict would copy each value deeply
                | {"bytes": self.data[region.start : min(region.end, region.start + 64)].hex()}
                for region in self.within(only)
            ],
            "faults": [
                dataclasses.asdict(fault) | {"severity": fault.severity, "source": fault.rule.source}
                for fault in self.faults
            ],
        }
        return cast(dict[str, Any], safe_values(made))

    def chosen(self, only: Collection[SectionKind]) -> list[DissectedSection]:
        """The sections of the kinds ``only``; all sections if ``only`` is empty."""
        return [section for section in self.sections if not only or section.kind in only]

    def within(self, only: Collection[SectionKind]) -> Sequence[Region]:
        """The regions inside the sections of the kinds ``only``; all regions if ``only`` is empty."""
        if not only:
            return self.regions
        sections, found = iter(self.chosen(only)), []
        section = next(sections, None)
        for region in self.regions:
            while section is not None and region.start >= section.end:
                section = next(sections, None)
            if section is None:
                break
            if region.start >= section.start:
                found.append(region)
        return found


_OF_REGION: Final = tuple(field.name for field in dataclasses.fields(Region))

MAX_MESSAGES: Final = 4096
"""The number of messages that are read and dissected; the bytes after them become one region."""


def dissect(data: Bytes, schema: Schema | None = None, kind: Kind | None = None) -> Dissection:
    """Dissect any bytes; no bytes make this function raise.

    ``kind`` is the expected form of the bytes; by default :func:`conformance.wire.sniff` guesses it. ``schema`` is the
    schema for record batches without a Schema message; if it is given, the bytes count as bare messages by default.
    Streams and files always use their own schema.
    """
    view = memoryview(data).cast("B")
    made = _Dissector(view, kind or (Kind.MESSAGE if schema is not None else sniff(view)))
    match made.kind:
        case Kind.FILE:
            made.file()
        case Kind.STREAM:
            made.stream(read_stream(view, MAX_MESSAGES), 0, len(view))
        case Kind.TENSOR | Kind.MESSAGE:
            made.message_by_message(schema)
    return made.made()


class _Dissector:
    def __init__(self, view: memoryview, kind: Kind) -> None:
        self.view = view
        self.kind = kind
        self.regions: list[Region] = []
        self.sections: list[DissectedSection] = []
        self.messages: list[Message] = []
        self.faults: list[Fault] = []
        self.schema: Schema | None = None

    def made(self) -> Dissection:
        """The finished dissection."""
        regions, messages, faults = tuple(self.regions), tuple(self.messages), tuple(self.faults)
        return Dissection(self.view, self.kind, regions, tuple(self.sections), messages, faults, self.schema)

    # --- bare messages ------------------------------------------------------------------------------

    def message_by_message(self, schema: Schema | None) -> None:
        """Add bare messages, each judged by the last schema before it."""
        at, size = 0, len(self.view)
        while at < size and len(self.messages) < MAX_MESSAGES:
            found: list[Fault] = []
            frame = read_frame(self.view, at, found)
            if frame is None:
                break
            judged, schema = judge_alone(frame, self.view, schema, found)
            self.message(frame, judged)
            self.faults += found
            at = frame.message.end
        self.schema = schema
        self.rest(at, size, "not read")

    def message(self, frame: Frame, judged: Judged) -> None:
        """Add the parts of one message."""
        message = frame.message
        self.messages.append(message)
        self.sections.append(section_of(message, len(self.messages)))
        most = self.left
        claims = message_claims(self.view, frame, judged, most=most)
        self.regions += cover(claims, message.start, message.end, self.view, most=most)

    @property
    def left(self) -> int:
        """The number of regions that may still be added; what has none is added as one."""
        return max(0, MAX_REGIONS - len(self.regions))

    def rest(self, start: int, end: int, meaning: str) -> None:
        """Add bytes that were not read."""
        if start < end:
            self.sections.append(DissectedSection(start, end, SectionKind.OTHER, f"{meaning}, bytes {start} to {end}"))
            self.regions.append(Region(start, end, RegionKind.UNKNOWN, "", meaning, many(end - start, "byte")))

    # --- streams and files --------------------------------------------------------------------------

    def stream(self, reading: StreamReading, start: int, end: int) -> None:
        """Add a stream from ``start`` on, and the bytes after it up to ``end``."""
        self.schema = reading.schema
        self.faults += reading.faults
        judged = _judged([one.batch for one in reading.dictionaries], reading.batches)
        at = self.following(reading.messages, judged, start, end)
        ended = bool(reading.messages) and reading.messages[-1].header is Header.END_OF_STREAM
        self.rest(at, end, "after the end of the stream" if ended and at == reading.end else "not read")

    def following(self, messages: Sequence[Message], judged: Mapping[int, BatchMessage], start: int, end: int) -> int:
        """Add messages that have been read before, and the bytes between them; returns the end of the last message."""
        at = start
        # A message ends before the next one starts, even if it declares a longer body.
        for message, limit in zip(messages, [*(each.start for each in messages[1:]), end], strict=False):
            if message.start < at or len(self.messages) >= MAX_MESSAGES:
                continue
            self.rest(at, message.start, "not read")
            frame = read_frame(self.view[:limit], message.start, [])
            if frame is not None:
                self.message(frame, judged.get(message.start))
                at = frame.message.end
        return at

    def file(self) -> None:
        """Add a file: its head, its stream, the messages that only its footer points to, and its tail."""
        reading, tail = read_file(self.view, MAX_MESSAGES), read_tail(self.view, [])
        stream, at = reading.stream, 0
        ended: int | None = None
        self.faults += reading.faults
        self.schema = reading.schema
        judged = _judged([one.batch for one in reading.dictionaries], reading.batches)
        messages = [one.message for _, one in sorted(judged.items()) if one.message is not None]
        if stream is not None:
            judged = _judged([one.batch for one in stream.dictionaries], stream.batches) | judged
            # If the stream breaks off, only the footer still leads to the messages after that point.
            last = stream.messages[-1] if stream.messages else None
            broken = last is not None and last.header in (Header.STRAY, Header.UNKNOWN)
            reach = last.start if last is not None and broken else stream.end
            messages = [*stream.messages, *(one for one in messages if one.start >= reach)]
            self.schema = self.schema or stream.schema
            self.sections.append(DissectedSection(0, HEAD, SectionKind.OTHER, f"head of the file, bytes 0 to {HEAD}"))
            self.regions += head_claims()
            at = HEAD
            if stream.messages and stream.messages[-1].header is Header.END_OF_STREAM:
                ended = stream.end
        at = self.following(messages, judged, at, tail.start)
        self.rest(at, tail.start, "after the end of the stream" if at == ended else "not read")
        self.tail(tail)

    def tail(self, tail: Tail) -> None:
        start, end = tail.start, len(self.view)
        if start < end:
            title = f"footer of the file, bytes {start} to {end}"
            self.sections.append(DissectedSection(start, end, SectionKind.FOOTER, title))
            known = {message.start: message for message in self.messages}
            most = self.left
            claims = list(itertools.islice(tail_claims(self.view, tail, known), most))
            self.regions += cover(claims, start, end, self.view, most=most)


def judge_alone(
    frame: Frame, view: memoryview, schema: Schema | None, faults: list[Fault]
) -> tuple[Judged, Schema | None]:
    """Judge a message without the stream that it belongs to; returns its content, and the schema for the next one."""
    header = frame.message.header
    if header is Header.SCHEMA:
        return None, schema_of(frame, faults) or schema
    if header is Header.RECORD_BATCH and schema is not None:
        return judge_batch(frame, schema, faults, DecompressionBudget(len(view))), schema
    if header in (Header.TENSOR, Header.SPARSE_TENSOR):
        return judge_tensor(frame, view, faults), schema
    return None, schema


def _judged(*batches: Iterable[BatchMessage]) -> dict[int, BatchMessage]:
    """The batches by the position at which their messages start."""
    return {one.message.start: one for each in batches for one in each if one.message is not None}


_SECTIONS: Final = {
    Header.SCHEMA: SectionKind.SCHEMA,
    Header.DICTIONARY_BATCH: SectionKind.DICTIONARIES,
    Header.RECORD_BATCH: SectionKind.BATCHES,
}


def section_of(message: Message, number: int) -> DissectedSection:
    """The section of a message, with its number in the dump."""
    kind = _SECTIONS.get(message.header, SectionKind.OTHER)
    place = f"bytes {message.start} to {message.end}"
    if message.header in (Header.END_OF_STREAM, Header.STRAY):
        title = f"{number}. {message.header}, {place}"
    else:
        version = f" {message.version}" if message.version else ""
        title = f"{number}. {message.header} message{version}{', legacy framing' if message.legacy else ''}, {place}"
    return DissectedSection(message.start, message.end, kind, title)
