"""Full IPC streams: a schema, dictionary batches and record batches, and the end of the stream.

This module decides whether messages that are each well formed form a stream.
"""

from __future__ import annotations

import collections
import dataclasses
import sys
from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa

from conformance.contain.text import many
from conformance.wire.arrow import UndecodableError, schema_to_arrow
from conformance.wire.batch import BatchMessage, judge_batch
from conformance.wire.compression import DecompressionBudget
from conformance.wire.decoding import decode
from conformance.wire.dictionaries import Dictionaries, DictionaryMessage
from conformance.wire.faults import Fault, Rule, Severity, WireRule, report
from conformance.wire.footer import is_footer
from conformance.wire.messages import PREFIX, Bytes, Frame, Header, Message, read_apart, read_frame
from conformance.wire.schema import schema_of
from conformance.wire.types import Schema

__all__ = ["StreamReading", "read_embedded", "read_framed", "read_stream"]

MAX_PER_RULE: Final = 64
"""The number of faults kept per rule: a fault of every message must not displace a fault of a single one."""


_FOOTER: Final = "the footer of a file"
_STREAM: Final = "another stream"


@dataclasses.dataclass(slots=True, eq=False)
class StreamReading:
    """The result of reading a stream: its messages, schema and batches, and its faults; offsets count from its start.

    ``messages`` are those that could be followed, including the end-of-stream marker; ``end`` is where the stream ended
    or broke off, and ``cut`` is True if the limit on messages stopped the read. ``schema`` is None if the first message
    has none by which batches can be read. ``defined`` has, for each record batch, the number of ``dictionaries`` before
    it. ``followed`` is True if another stream begins at ``end``. Of a stream whose first message is of a version below
    V4, only that message is read.
    """

    faults: list[Fault] = dataclasses.field(default_factory=list)
    messages: list[Message] = dataclasses.field(default_factory=list)
    schema: Schema | None = None
    dictionaries: list[DictionaryMessage] = dataclasses.field(default_factory=list)
    batches: list[BatchMessage] = dataclasses.field(default_factory=list)
    defined: list[int] = dataclasses.field(default_factory=list)
    end: int = 0
    cut: bool = False
    followed: bool = False

    @property
    def violations(self) -> list[Fault]:
        """The faults that the Arrow format forbids."""
        return [fault for fault in self.faults if fault.severity is Severity.VIOLATION]

    @property
    def outdated(self) -> bool:
        """True if the first message says that its version is below V4."""
        return bool(self.messages) and self.messages[0].outdated

    def to_batches(self) -> list[pa.RecordBatch]:
        """The record batches, decoded from verified buffers without pyarrow's IPC reader.

        A dictionary-encoded column becomes a :class:`pyarrow.DictionaryArray` with the dictionary that applied at its
        batch. A message that could not be framed as a record batch is left out; ``violations`` give the reason.

        Raises :class:`conformance.wire.arrow.UndecodableError` if there is no schema, or if faults leave no safe way to
        decode, and :class:`~conformance.wire.arrow.UnsupportedHereError` if the installed pyarrow lacks something.
        """
        if self.schema is None:
            raise UndecodableError("there is no schema that batches could be read by")
        return list(decode(self.dictionaries, self.batches, self.defined))

    def to_arrow(self) -> pa.Table:
        """All rows as one table; raises the errors of :meth:`to_batches`."""
        batches = self.to_batches()
        schema = schema_to_arrow(self.schema) if self.schema is not None else None
        return pa.Table.from_batches(batches, schema)


def read_stream(data: Bytes, most: int = sys.maxsize) -> StreamReading:
    """Read bytes that should be one IPC stream; no bytes make this function raise.

    At most ``most`` messages are read.
    """
    return read_embedded(memoryview(data).cast("B"), 0, most)


def read_embedded(view: memoryview, start: int, most: int = sys.maxsize) -> StreamReading:
    """Read the stream that begins at ``start``, like :func:`read_stream`; offsets count from the view's start."""
    return _StreamReader(start, len(view)).read(view, most)


def read_framed(messages: Sequence[tuple[bytes, memoryview]]) -> StreamReading:
    """Read the messages of a stream whose transport frames them, each as its metadata, padded, and its body.

    A message that cannot be followed does not hide those after it, no message reaches into the next one, and the
    transport ends the stream instead of a marker. Offsets count as if the messages with their prefixes were joined.
    """
    size = sum(PREFIX + len(metadata) + len(body) for metadata, body in messages)
    return _StreamReader(0, size).framed(messages)


class _StreamReader:
    """``size`` is the offset at which the bytes end."""

    def __init__(self, start: int, size: int) -> None:
        self.size = size
        self.view: memoryview | None = None
        self.reading = StreamReading(end=start)
        self.budget = DecompressionBudget(size)
        self.dictionaries: Dictionaries | None = None
        self.counts: collections.Counter[WireRule] = collections.Counter()

    def read(self, view: memoryview, most: int) -> StreamReading:
        reading, size, self.view = self.reading, self.size, view
        found: list[Fault] = []
        # Without any bytes the loop runs once, so that the missing schema is reported.
        while reading.end < size or not reading.messages:
            if len(reading.messages) >= most:
                reading.cut = True
                return reading
            frame = read_frame(view, reading.end, found)
            if frame is not None and frame.root is None and frame.message.legacy:
                found = [self.named(fault) for fault in found]
            goes_on = frame is not None and self.message(frame, found)
            self.keep(found)
            if not goes_on:
                return reading
            found = []
        report(found, Rule.STREAM_END_MISSING, (size, size), "", "the bytes end after a message")
        self.keep(found)
        return reading

    def framed(self, messages: Iterable[tuple[bytes, memoryview]]) -> StreamReading:
        for metadata, body in messages:
            found: list[Fault] = []
            end = self.reading.end + PREFIX + len(metadata) + len(body)
            self.message(read_apart(self.reading.end, metadata, body, found), found)
            start, self.reading.end = self.reading.end, end
            if start < end:
                observed = f"{many(end - start, 'byte')} after the body"
                report(found, Rule.MESSAGE_TRAILING_BYTES, (start, end), "", observed)
            self.keep(found)
            if self.reading.outdated:
                break
        return self.reading

    def message(self, frame: Frame, faults: list[Fault]) -> bool:
        """Judge one message; True if another can be read after it."""
        reading, message = self.reading, frame.message
        reading.messages.append(message)
        reading.end = message.end
        first = reading.messages[0]
        if message.header is not Header.STRAY and message.legacy is not first.legacy:
            observed = "a prefix without a continuation word" if message.legacy else "a prefix with a continuation word"
            report(faults, Rule.STREAM_FRAMING_MIXED, (message.start, message.start + 4), "prefix", observed)
        if message.header is Header.END_OF_STREAM:
            self.ended(message, faults)
            return False
        if message is first:
            return self.schema(frame, faults)
        self.batch(frame, faults)
        return frame.root is not None

    def named(self, fault: Fault) -> Fault:
        """The fault that no message begins, with words about a footer if one is there instead."""
        if fault.rule is not Rule.PREFIX_CONTINUATION_MISSING or self.behind(fault.start) != _FOOTER:
            return fault
        return dataclasses.replace(fault, observed=f"{fault.observed}, which begin {_FOOTER}")

    def behind(self, start: int) -> str:
        """What begins at ``start``, behind the messages of the stream, in words; empty if that is unknown."""
        if self.view is None:
            return ""
        if is_footer(self.view, start):
            return _FOOTER
        frame = read_frame(self.view, start, [], shallow=True)
        return _STREAM if frame is not None and frame.message.header is Header.SCHEMA else ""

    def ended(self, message: Message, faults: list[Fault]) -> None:
        if message is self.reading.messages[0]:
            report(faults, Rule.STREAM_SCHEMA_FIRST, (message.start, message.end), "", "an end-of-stream marker")
        if message.end < self.size:
            place, behind = (message.end, self.size), self.behind(message.end)
            self.reading.followed = behind == _STREAM
            observed = f"{many(place[1] - place[0], 'byte')} after the marker{f', {behind}' if behind else ''}"
            report(faults, Rule.STREAM_BYTES_AFTER_END, place, "", observed)

    def schema(self, frame: Frame, faults: list[Fault]) -> bool:
        message = frame.message
        if message.header is Header.SCHEMA:
            schema = schema_of(frame, faults)
            self.reading.schema = schema
            if schema is not None:
                self.dictionaries = Dictionaries(schema, frame, faults)
        elif message.header not in (Header.STRAY, Header.UNKNOWN):
            place = message.metadata_start, message.metadata_end
            report(faults, Rule.STREAM_SCHEMA_FIRST, place, "Message.header", f"a {message.header} message")
        return frame.root is not None and not message.outdated

    def batch(self, frame: Frame, faults: list[Fault]) -> None:
        reading, message = self.reading, frame.message
        place = message.metadata_start, message.metadata_end
        if message.header is Header.SCHEMA:
            report(
                faults,
                Rule.STREAM_SECOND_SCHEMA,
                place,
                "Message.header",
                f"a second schema, in message {len(reading.messages)}",
            )
        elif message.header in (Header.TENSOR, Header.SPARSE_TENSOR):
            report(faults, Rule.STREAM_MESSAGE_KIND, place, "Message.header", f"a {message.header} message")
        elif reading.schema is None or self.dictionaries is None:
            return
        elif message.header is Header.DICTIONARY_BATCH:
            made = self.dictionaries.define(frame, faults, self.budget)
            if made is not None:
                reading.dictionaries.append(made)
        elif message.header is Header.RECORD_BATCH:
            batch = judge_batch(frame, reading.schema, faults, self.budget)
            reading.batches.append(batch)
            reading.defined.append(len(reading.dictionaries))
            # A dictionary may use another one that is defined later, but only up to the next record batch.
            self.keep(self.dictionaries.judge(batch))

    def keep(self, faults: list[Fault]) -> None:
        """Add faults to the reading, at most :data:`MAX_PER_RULE` of each rule."""
        for fault in faults:
            self.counts[fault.rule] += 1
            if self.counts[fault.rule] <= MAX_PER_RULE:
                self.reading.faults.append(fault)
