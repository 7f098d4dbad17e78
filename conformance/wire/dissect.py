"""The annotated dump: what every byte of a message, stream, file or tensor is.

Regions cover all bytes once and in order. Of broken bytes they cover what could be followed; the rest is named as what
it is, with the faults beside it. What the parts of a message are is decided in :mod:`conformance.wire.regions`, and how
regions are set as text in :mod:`conformance.wire.dump`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from conformance.contain.text import safe_values
from conformance.wire.batch import BatchMessage, judge_batch
from conformance.wire.closed import Kind, RegionKind, SectionKind
from conformance.wire.faults import Fault
from conformance.wire.file import read_file
from conformance.wire.footer import HEAD, Tail, read_tail
from conformance.wire.messages import Bytes, Frame, Header, Message, read_frame
from conformance.wire.regions import Judged, Region, cover, head_claims, message_claims, tail_claims
from conformance.wire.schema import schema_of
from conformance.wire.sniff import sniff
from conformance.wire.stream import StreamReading, read_stream
from conformance.wire.tensors import judge_tensor
from conformance.wire.types import Schema

__all__ = ["Dissection", "Region", "RegionKind", "Section", "dissect"]


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """Bytes ``start`` to ``end`` (exclusive) that belong together, under a heading."""

    start: int
    end: int
    kind: SectionKind
    title: str


@dataclasses.dataclass(frozen=True, slots=True)
class Dissection:
    """All bytes as regions, the sections and messages they form, and what is wrong with them."""

    data: memoryview
    kind: Kind
    regions: tuple[Region, ...]
    sections: tuple[Section, ...]
    messages: tuple[Message, ...]
    faults: tuple[Fault, ...]
    schema: Schema | None

    def to_json(self, *, only: Collection[SectionKind] = ()) -> dict[str, Any]:
        """The dump as JSON values; the bytes of a region are cut to its first 64. All faults are among them.

        Texts are safe, as :func:`conformance.contain.text.safe` has it.
        """
        made = {
            "size": len(self.data),
            "kind": self.kind,
            "sections": [dataclasses.asdict(section) for section in self.chosen(only)],
            "messages": [dataclasses.asdict(message) for message in self.messages],
            "regions": [
                dataclasses.asdict(region)
                | {"bytes": self.data[region.start : min(region.end, region.start + 64)].hex()}
                for region in self.within(only)
            ],
            "faults": [
                dataclasses.asdict(fault) | {"severity": fault.severity, "source": fault.rule.source}
                for fault in self.faults
            ],
        }
        return cast(dict[str, Any], safe_values(made))

    def chosen(self, only: Collection[SectionKind]) -> list[Section]:
        """The sections of some kinds, or all of them for none."""
        return [section for section in self.sections if not only or section.kind in only]

    def within(self, only: Collection[SectionKind]) -> Sequence[Region]:
        """The regions inside the sections of some kinds, or all of them for none."""
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


MAX_MESSAGES: Final = 4096
"""Messages dissected, the rest of the bytes being one region."""


def dissect(data: Bytes, schema: Schema | None = None, kind: Kind | None = None) -> Dissection:
    """Dissects any bytes; never raises on what they hold.

    ``kind`` says what the bytes should be; without one that is guessed (:func:`conformance.wire.sniff`). ``schema`` is
    what the record batches of bare messages are read by, and makes the bytes such; without one, and in streams and
    files always, their own schema is.
    """
    view = memoryview(data).cast("B")
    made = _Dissector(view, kind or (Kind.MESSAGE if schema is not None else sniff(view)))
    match made.kind:
        case Kind.FILE:
            made.file()
        case Kind.STREAM:
            made.stream(read_stream(view), 0, len(view))
        case Kind.TENSOR | Kind.MESSAGE:
            made.message_by_message(schema)
    return made.made()


class _Dissector:
    def __init__(self, view: memoryview, kind: Kind) -> None:
        self.view = view
        self.kind = kind
        self.regions: list[Region] = []
        self.sections: list[Section] = []
        self.messages: list[Message] = []
        self.faults: list[Fault] = []
        self.schema: Schema | None = None

    def made(self) -> Dissection:
        """What has been dissected."""
        regions, messages, faults = tuple(self.regions), tuple(self.messages), tuple(self.faults)
        return Dissection(self.view, self.kind, regions, tuple(self.sections), messages, faults, self.schema)

    # --- bare messages ------------------------------------------------------------------------------

    def message_by_message(self, schema: Schema | None) -> None:
        at, size = 0, len(self.view)
        while at < size and len(self.messages) < MAX_MESSAGES:
            found: list[Fault] = []
            frame = read_frame(self.view, at, found)
            if frame is None:
                break
            judged: Judged = None
            header = frame.message.header
            if header is Header.SCHEMA:
                schema = schema_of(frame, found) or schema
            elif header is Header.RECORD_BATCH and schema is not None:
                judged = judge_batch(frame, self.view, schema, found)
            elif header in (Header.TENSOR, Header.SPARSE_TENSOR):
                judged = judge_tensor(frame, self.view, found)
            self.message(frame, judged)
            self.faults += found
            at = frame.message.end
        self.schema = schema
        self.rest(at, size, "not read")

    def message(self, frame: Frame, judged: Judged) -> None:
        """Adds the parts of one message."""
        message = frame.message
        self.messages.append(message)
        self.sections.append(_section(message, len(self.messages)))
        self.regions += cover(message_claims(self.view, frame, judged), message.start, message.end, self.view)

    def rest(self, start: int, end: int, meaning: str) -> None:
        """Adds bytes that nothing has read."""
        if start < end:
            self.sections.append(Section(start, end, SectionKind.OTHER, f"{meaning}, bytes {start} to {end}"))
            self.regions.append(Region(start, end, RegionKind.UNKNOWN, "", meaning, f"{end - start} bytes"))

    # --- streams and files --------------------------------------------------------------------------

    def stream(self, reading: StreamReading, start: int, end: int) -> None:
        """Adds a stream from ``start`` on, and what follows it up to ``end``."""
        self.schema = reading.schema
        self.faults += reading.faults
        judged = _judged([one.batch for one in reading.dictionaries], reading.batches)
        at = self.following(reading.messages, judged, start, end)
        ended = bool(reading.messages) and reading.messages[-1].header is Header.END_OF_STREAM
        self.rest(at, end, "after the end of the stream" if ended and at == reading.end else "not read")

    def following(self, messages: Sequence[Message], judged: Mapping[int, BatchMessage], start: int, end: int) -> int:
        """Adds messages that have been read before, and what lies between them; where they end."""
        at = start
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
        reading, tail = read_file(self.view), read_tail(self.view, [])
        stream, at, ended = reading.stream, 0, -1
        self.faults += reading.faults
        self.schema = reading.schema
        judged = _judged([one.batch for one in reading.dictionaries], reading.batches)
        messages = [one.message for _, one in sorted(judged.items()) if one.message is not None]
        if stream is not None:
            judged = _judged([one.batch for one in stream.dictionaries], stream.batches) | judged
            # What only the footer leads to: of a file in which the stream breaks off.
            last = stream.messages[-1] if stream.messages else None
            broken = last is not None and last.header in (Header.STRAY, Header.UNKNOWN)
            reach = last.start + 1 if last is not None and broken else stream.end
            messages = [*stream.messages, *(one for one in messages if one.start >= reach)]
            self.schema = self.schema or stream.schema
            self.sections.append(Section(0, HEAD, SectionKind.OTHER, f"head of the file, bytes 0 to {HEAD}"))
            self.regions += cover(list(head_claims(self.view)), 0, HEAD, self.view)
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
            self.sections.append(Section(start, end, SectionKind.FOOTER, title))
            known = {message.start: message for message in self.messages}
            self.regions += cover(list(tail_claims(self.view, tail, known)), start, end, self.view)


def _judged(*batches: Iterable[BatchMessage]) -> dict[int, BatchMessage]:
    """Batches by where their messages start."""
    return {one.message.start: one for each in batches for one in each if one.message is not None}


_SECTIONS: Final = {
    Header.SCHEMA: SectionKind.SCHEMA,
    Header.DICTIONARY_BATCH: SectionKind.DICTIONARIES,
    Header.RECORD_BATCH: SectionKind.BATCHES,
}


def _section(message: Message, number: int) -> Section:
    kind = _SECTIONS.get(message.header, SectionKind.OTHER)
    place = f"bytes {message.start} to {message.end}"
    if message.header in (Header.END_OF_STREAM, Header.STRAY):
        title = f"{number}. {message.header}, {place}"
    else:
        version = f" {message.version}" if message.version else ""
        title = f"{number}. {message.header} message{version}{', legacy framing' if message.legacy else ''}, {place}"
    return Section(message.start, message.end, kind, title)
