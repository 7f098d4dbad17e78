"""Full IPC files: a stream between two magics, and a footer that lists the positions of its batches.

This module decides whether the footer matches the stream, and reads the batches at the positions that the footer gives.
It also reads the stream from its start; for a file that conforms, both ways give the same batches.
"""

from __future__ import annotations

import collections
import dataclasses
import struct
import sys
from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa

from conformance.contain.text import many
from conformance.wire.arrow import UndecodableError
from conformance.wire.batch import BatchMessage, judge_batch
from conformance.wire.blocks import Listed, follow_blocks
from conformance.wire.compression import DecompressionBudget
from conformance.wire.decoding import decode
from conformance.wire.dictionaries import Dictionaries, DictionaryMessage
from conformance.wire.faults import Fault, Rule, Severity, WireRule, report
from conformance.wire.footer import HEAD, MAGIC, Footer, Tail, is_footer, judge_footer, read_tail
from conformance.wire.messages import Bytes, Frame, Header, Message, read_frame
from conformance.wire.stream import MAX_PER_RULE, StreamReading, read_embedded
from conformance.wire.types import Schema

__all__ = ["FileReading", "read_file"]

_ORDERED: Final = frozenset(
    {
        Rule.DICTIONARY_MISSING,
        Rule.DICTIONARY_LATE,
        Rule.DICTIONARY_INDEX_RANGE,
        Rule.DICTIONARY_DELTA_WITHOUT_BASE,
    }
)
"""Rules on the order of a stream's dictionaries; in a file, dictionary batches may be at any position."""

_LENGTH: Final = struct.Struct("<i")
_STEP: Final = 4096
"""The number of bytes per step of the search for the first nonzero byte."""


@dataclasses.dataclass(slots=True, eq=False)
class FileReading:
    """The result of reading a file: its stream, footer, batches and faults; offsets count from the file's start.

    ``stream`` is the stream between magic and footer; it is None if the leading magic is missing, because the start of
    the stream is then unknown. ``footer`` is None if it cannot be read. ``schema``, ``dictionaries`` and ``batches``
    are read through the footer, the latter two in its order.
    """

    faults: list[Fault] = dataclasses.field(default_factory=list)
    stream: StreamReading | None = None
    footer: Footer | None = None
    schema: Schema | None = None
    dictionaries: list[DictionaryMessage] = dataclasses.field(default_factory=list)
    batches: list[BatchMessage] = dataclasses.field(default_factory=list)

    @property
    def violations(self) -> list[Fault]:
        """The faults that the Arrow format forbids."""
        return [fault for fault in self.faults if fault.severity is Severity.VIOLATION]

    def to_batches(self) -> list[pa.RecordBatch]:
        """The record batches in the footer's order, each with the final dictionaries of the file.

        Raises :class:`conformance.wire.arrow.UndecodableError` if there is no footer with a schema, or if faults leave
        no safe way to decode, and :class:`~conformance.wire.arrow.UnsupportedHereError` if the installed pyarrow lacks
        something.
        """
        if self.schema is None:
            raise UndecodableError("there is no footer with a schema that batches could be read by")
        return list(decode(self.dictionaries, self.batches, [len(self.dictionaries)] * len(self.batches)))


def read_file(data: Bytes, most: int = sys.maxsize) -> FileReading:
    """Read bytes that should be one IPC file; no bytes make this function raise.

    If the stream in the file has more than ``most`` messages, only the first ``most`` are read and the blocks of the
    footer are not followed.
    """
    view = memoryview(data).cast("B")
    reading = _FileReader(view, most).read()
    end = _end_of_newer(view, reading)
    if end is None:
        return reading
    newer = _FileReader(view[:end], most).read()
    observed = f"{many(len(view) - end, 'byte')} after the closing magic: the end of an older file with its footer"
    report(newer.faults, Rule.FILE_OVERWRITTEN, (end, len(view)), "footer", observed)
    return newer


def _end_of_newer(view: memoryview, reading: FileReading) -> int | None:
    """The end of a file that was written over the beginning of an older, longer one; None if the bytes are one file.

    The stream's footer, its length and the magic then follow the stream, and bytes with another footer follow them.
    """
    footer, stream = reading.footer, reading.stream
    if footer is None or stream is None or not stream.messages or stream.end == footer.start or stream.cut:
        return None
    last = stream.messages[-1]
    start = last.end if last.header is Header.END_OF_STREAM else last.start
    rest = bytes(view[start : footer.start])
    at = rest.find(MAGIC)
    while at >= 0:
        length = at - _LENGTH.size
        if length > 0 and _LENGTH.unpack_from(rest, length)[0] == length:
            end = start + at + len(MAGIC)
            return end if is_footer(view[:end], start) else None
        at = rest.find(MAGIC, at + 1)
    return None


class _FileReader:
    def __init__(self, view: memoryview, most: int) -> None:
        self.view = view
        self.most = most
        self.reading = FileReading()
        self.counts: collections.Counter[WireRule] = collections.Counter()

    def read(self) -> FileReading:
        reading = self.reading
        found: list[Fault] = []
        tail = read_tail(self.view, found)
        behind = len(found)
        if self.head(found):
            stream = self.view[: tail.start]
            reading.stream = read_embedded(stream, self.begin(stream, found), self.most)
            if reading.stream.outdated:
                del found[:behind]  # the footer has tables of that version, too
                tail = Tail(tail.start)
            self.stream(reading.stream, tail, found)
        reading.footer = tail.footer
        self.keep(found)
        if tail.footer is not None and not (reading.stream is not None and reading.stream.cut):
            self.footer(tail, tail.footer)
        return reading

    def head(self, faults: list[Fault]) -> bool:
        """True if the file begins with the magic."""
        head = bytes(self.view[:HEAD])
        if not head.startswith(MAGIC) or len(head) < HEAD:
            observed = f"the bytes {head.hex(' ')}" if head else "no bytes"
            if head.startswith(b"\xff\xff\xff\xff"):
                observed += ", which begin a stream: the footer of a file is behind it"
            report(faults, Rule.FILE_MAGIC_START, (0, len(head)), "magic", observed)
            return False
        padding = head[len(MAGIC) :]
        if padding.strip(b"\0"):
            report(faults, Rule.FILE_MAGIC_PADDING, (len(MAGIC), HEAD), "magic", f"the bytes {padding.hex(' ')}")
        return True

    def begin(self, view: memoryview, faults: list[Fault]) -> int:
        """The start of the stream: after the magic, or after further zero bytes if a Schema message follows those.

        As part of a stream, zero bytes would be an end-of-stream marker of the framing before Arrow 0.15, and
        everything after it would be reported, too, for one cause.
        """
        # Rounded down to 8 bytes: the first bytes of a message may be zeros, too, but it starts at a multiple of 8.
        start = HEAD + _zeros(view[HEAD:]) // HEAD * HEAD
        if start == HEAD or start >= len(view):
            return HEAD
        frame = read_frame(view, start, [])
        if frame is None or frame.message.header is not Header.SCHEMA:
            return HEAD
        report(
            faults,
            Rule.FILE_STREAM_START,
            (HEAD, start),
            "magic",
            f"{many(start - HEAD, 'byte')} of padding after the magic",
        )
        return start

    def stream(self, stream: StreamReading, tail: Tail, faults: list[Fault]) -> None:
        """Add the faults of the stream, except for those that are no faults in a file."""
        for fault in stream.faults:
            if fault.rule is Rule.STREAM_END_MISSING:
                report(
                    faults,
                    Rule.FILE_END_MISSING,
                    (tail.start, tail.start),
                    "",
                    "no end-of-stream marker before the footer",
                )
            elif fault.rule is Rule.STREAM_BYTES_AFTER_END and tail.verifier is None:
                continue  # these bytes are the footer, and its own fault is that it cannot be read
            # In a file, all dictionaries apply to all batches, whatever their order.
            elif fault.rule not in _ORDERED:
                faults.append(fault)

    def footer(self, tail: Tail, footer: Footer) -> None:
        reading, stream = self.reading, self.reading.stream
        found: list[Fault] = []
        same = False
        if stream is not None and stream.messages:
            same = judge_footer(tail, stream.messages[0], stream.schema, found)
        messages = None if stream is None else stream.messages
        dictionaries, batches = follow_blocks(self.view, footer, messages, found)
        self.keep(found)
        reading.schema = footer.schema
        if footer.schema is not None:
            judge = _Judge(self.view, reading, footer, footer.schema, same=same)
            judge.dictionaries(dictionaries)
            judge.batches(batches)
            judge.indices()
            self.keep(judge.found)

    def keep(self, faults: Iterable[Fault]) -> None:
        """Add faults to the reading, at most :data:`MAX_PER_RULE` of each rule."""
        for fault in faults:
            self.counts[fault.rule] += 1
            if self.counts[fault.rule] <= MAX_PER_RULE:
                self.reading.faults.append(fault)


class _Judge:
    """Reads dictionaries and batches in the order of the footer, then judges the indices among them.

    Messages that were read with the stream are not read again if the footer has the stream's schema; ``found``
    contains the faults that reading through the footer adds.
    """

    def __init__(self, view: memoryview, reading: FileReading, footer: Footer, schema: Schema, *, same: bool) -> None:
        self.view = view
        self.reading = reading
        self.schema = schema
        self.budget = DecompressionBudget(len(view))
        self.found: list[Fault] = []
        stream = reading.stream
        self.streamed = stream is not None and stream.schema is not None
        self.before: dict[int | None, BatchMessage | DictionaryMessage] = {}
        if stream is not None and same:
            self.before.update((_start(one.batch), one) for one in stream.dictionaries)
            self.before.update((_start(one), one) for one in stream.batches)
        self.defined: list[tuple[Listed, DictionaryMessage]] = []
        start, end = footer.start, footer.end
        place = Message(start, end, Header.UNKNOWN, metadata_start=start, metadata_end=end)
        differing: list[Fault] = []
        self.known = Dictionaries(schema, Frame(place), differing)
        self.scratch = Dictionaries(schema, Frame(place), [])
        if not self.streamed:
            self.found += differing

    def dictionaries(self, listed: Sequence[Listed]) -> None:
        for each in listed:
            made = self.before.get(each.message.start)
            if not isinstance(made, DictionaryMessage):
                faults = list(each.faults)
                made = self.scratch.define(self.frame(each), faults, self.budget)
                self.keep(each, faults)
            if made is not None:
                self.defined.append((each, made))
                self.reading.dictionaries.append(made)
        self.once()
        self.in_order()

    def batches(self, listed: Sequence[Listed]) -> None:
        for each in listed:
            made = self.before.get(each.message.start)
            if not isinstance(made, BatchMessage):
                faults = list(each.faults)
                made = judge_batch(self.frame(each), self.schema, faults, self.budget)
                self.keep(each, faults)
            self.reading.batches.append(made)

    def frame(self, listed: Listed) -> Frame:
        frame = listed.frame or read_frame(self.view[: listed.message.end], listed.message.start, [])
        return frame or Frame(listed.message)

    def keep(self, listed: Listed, faults: list[Fault]) -> None:
        """Add the faults of a message, unless reading the stream has reported them already."""
        if listed.frame is not None or not self.streamed:
            self.found += [fault for fault in faults if fault.rule not in _ORDERED]

    def once(self) -> None:
        """Judge that no dictionary is defined twice: a file may append to a dictionary, but not replace it.

        Source: https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format.
        """
        stream = self.reading.stream
        made = {_start(one.batch): one for _, one in self.defined}
        made.update((_start(one.batch), one) for one in (stream.dictionaries if stream is not None else ()))
        bases: set[int] = set()
        for one in made.values():
            message = one.batch.message
            if one.delta or message is None:
                continue
            if one.id in bases:
                place = message.metadata_start, message.metadata_end
                observed = f"a second definition of dictionary {one.id}"
                report(self.found, Rule.FILE_DICTIONARY_REPLACED, place, "DictionaryBatch.isDelta", observed)
            bases.add(one.id)

    def in_order(self) -> None:
        """Judge that the footer lists a dictionary before its deltas, and the deltas in the order of the stream."""
        last: dict[int, int] = {}
        for listed, one in self.defined:
            start, observed = listed.message.start, f"a delta for dictionary {one.id}"
            if one.id not in last and one.delta:
                observed += ", which no block before it defines"
                report(self.found, Rule.DICTIONARY_DELTA_WITHOUT_BASE, listed.place, listed.path, observed)
            elif one.delta and start < last[one.id]:
                observed += f" at byte {start}, after its batch at byte {last[one.id]}"
                report(self.found, Rule.FILE_DELTA_ORDER, listed.place, listed.path, observed)
            last[one.id] = start

    def indices(self) -> None:
        """Judge the indices of dictionaries and batches against the final dictionaries of the file."""
        dictionaries = self.reading.dictionaries
        batches = [one.batch for one in dictionaries]
        before = [len(batch.faults) for batch in batches]
        self.known.settle(dictionaries)
        for batch, count in zip(batches, before, strict=True):
            self.take(batch, count)
        for batch in self.reading.batches:
            count = len(batch.faults)
            self.known.judge(batch)
            self.take(batch, count)

    def take(self, batch: BatchMessage, count: int) -> None:
        """Move the newest faults of a batch, from number ``count`` on, to the faults of the file.

        The batch may belong to the stream, where the order of dictionaries matters and the fault would be wrong.
        """
        self.found += batch.faults[count:]
        del batch.faults[count:]


def _zeros(view: memoryview) -> int:
    """The number of zero bytes at the start of ``view``."""
    for start in range(0, len(view), _STEP):
        part = bytes(view[start : start + _STEP])
        rest = part.lstrip(b"\0")
        if rest:
            return start + len(part) - len(rest)
    return len(view)


def _start(batch: BatchMessage) -> int | None:
    return None if batch.message is None else batch.message.start
