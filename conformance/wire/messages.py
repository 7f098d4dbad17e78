"""Encapsulated messages: prefix, metadata and body, and the bytes that follow a message.

This module finds the parts of a message and decides whether its declared lengths are true.
:mod:`conformance.wire.schema` and :mod:`conformance.wire.batch` judge the header.
"""

from __future__ import annotations

import dataclasses
import enum
import struct
from typing import Final

from conformance.contain.text import many
from conformance.wire.faults import Fault, Rule, report
from conformance.wire.flatbuf import FlatTable, Verifier
from conformance.wire.foreign import magic_of
from conformance.wire.hints import byte_swapped
from conformance.wire.tables import ENUMS, UNIONS

__all__ = [
    "BEYOND_METADATA",
    "PREFIX",
    "Bytes",
    "Frame",
    "Header",
    "KeyValues",
    "Message",
    "read_apart",
    "read_frame",
    "read_messages",
    "read_pairs",
]

Bytes = bytes | bytearray | memoryview
KeyValues = tuple[tuple[str | None, str | None], ...]
"""Custom metadata in the order of the bytes; a missing key or value is None."""

PREFIX: Final = 8
"""The size of a prefix: a continuation word and a length."""
MAX_EXTRA: Final = 64
"""The number of messages listed after the first; the last entry spans the rest of the bytes."""

_NOTHING: Final = memoryview(b"")
_read_i32: Final = struct.Struct("<i").unpack_from
_VERSIONS: Final = ENUMS["MetadataVersion"].names
_V4: Final = _VERSIONS.index("V4")


class Header(enum.StrEnum):
    """The kind of a message, or of bytes that are not a message."""

    SCHEMA = "Schema"
    DICTIONARY_BATCH = "DictionaryBatch"
    RECORD_BATCH = "RecordBatch"
    TENSOR = "Tensor"
    SPARSE_TENSOR = "SparseTensor"
    UNKNOWN = "unknown"
    """A prefix, followed by no readable header."""
    END_OF_STREAM = "end of stream"
    """A prefix that declares no metadata."""
    STRAY = "stray bytes"
    """Bytes that do not begin a message."""


_HEADERS: Final = (Header.UNKNOWN, *(Header(name) for name in UNIONS["MessageHeader"][1:]))


BEYOND_METADATA: Final = frozenset(
    {
        Rule.METADATA_TRUNCATED,
        Rule.FLATBUF_ROOT,
        Rule.FLATBUF_OFFSET_OUT_OF_RANGE,
        Rule.FLATBUF_VTABLE_OUT_OF_RANGE,
        Rule.FLATBUF_VTABLE_SIZE,
        Rule.FLATBUF_TABLE_SIZE,
        Rule.FLATBUF_VECTOR_OUT_OF_RANGE,
        Rule.FLATBUF_STRING_OUT_OF_RANGE,
    }
)
"""The rules that metadata breaks if its declared length is too small, or too large for the bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """The position of an encapsulated message and its declared properties; offsets count from the first byte read.

    ``start`` to ``end`` are the bytes that are present: a truncated message ends where the bytes end.
    ``version`` is ``V1`` to ``V5``, or empty if it could not be read. ``outdated`` is True if the message says that it
    is of V1 to V3, whose tables and layouts are others: nothing below the Message table is read then. A message that
    says nothing is of V1 by the definition, and in fact of a writer that forgot the version, so it is read.
    ``body_length`` is the declared length; ``body_start`` to ``body_end`` are the bytes of the body that are present.
    """

    start: int
    end: int
    header: Header
    legacy: bool = False
    metadata_start: int = 0
    metadata_end: int = 0
    version: str = ""
    body_start: int = 0
    body_end: int = 0
    body_length: int = 0
    custom_metadata: KeyValues = ()
    outdated: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Frame:
    """A message together with its verified metadata, for the modules that read headers.

    ``header`` is the verified header table; None if it is missing, or if the message cannot be followed. ``body`` are
    the bytes of the body that are present.
    """

    message: Message
    verifier: Verifier | None = None
    root: FlatTable | None = None
    header: FlatTable | None = None
    body: memoryview = _NOTHING


def read_frame(data: memoryview, start: int, faults: list[Fault], *, shallow: bool = False) -> Frame | None:
    """Read the message that begins at ``start``, and add its faults to ``faults``; None if there are no bytes.

    A ``shallow`` read skips the header, which does not affect where the message ends.
    """
    size = len(data)
    if start >= size:
        report(faults, Rule.PREFIX_EMPTY, (start, size), "", "no bytes")
        return None
    prefix = _read_prefix(data, start, faults)
    if prefix is None:
        return Frame(Message(start, size, Header.STRAY))
    legacy, metadata_start, length = prefix
    # The end of a stream is a prefix with a metadata length of 0
    # (https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format).
    if length == 0:
        return Frame(Message(start, metadata_start, Header.END_OF_STREAM, legacy, metadata_start, metadata_start))
    metadata_end = metadata_start + length
    if metadata_end > size:
        observed = _length(length, size - metadata_start)
        report(faults, Rule.METADATA_TRUNCATED, (metadata_start, size), "metadata", observed)
        return Frame(Message(start, size, Header.UNKNOWN, legacy, metadata_start, size))
    # The format pads the metadata to 8 bytes, so that the body starts aligned
    # (https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format).
    if (metadata_end - start) & 7:
        observed = f"prefix and metadata of {many(metadata_end - start, 'byte')}"
        rule = Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8
        report(faults, rule, (metadata_start - 4, metadata_start), "prefix", observed)
    verifier = Verifier(bytes(data[metadata_start:metadata_end]), metadata_start, faults, shallow=shallow)
    return _framed(start, verifier, data[metadata_end:], legacy=legacy)


def read_apart(start: int, metadata: bytes, body: memoryview, faults: list[Fault]) -> Frame:
    """Read a message whose metadata and body a transport keeps apart, and add its faults to ``faults``.

    Offsets count as if the message began at ``start`` of a stream, with a prefix: body follows metadata.
    """
    return _framed(start, Verifier(metadata, start + PREFIX, faults), body, legacy=False)


def _read_prefix(data: memoryview, start: int, faults: list[Fault]) -> tuple[bool, int, int] | None:
    """Whether the framing is legacy, the start of the metadata, and its length; None if the prefix is unusable.

    Before Arrow 0.15 the prefix was the length alone; since then the continuation word FF FF FF FF (-1 as an integer)
    precedes it (https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format).
    """
    there = len(data) - start
    (word,) = _read_i32(data, start) if there >= 4 else (-1,)
    legacy = word != -1
    if there < 8 and not legacy:
        report(faults, Rule.PREFIX_TRUNCATED, (start, len(data)), "prefix", f"{many(there, 'byte')} and no more")
        return None
    if legacy and word >= 0:
        foreign = magic_of(data[start : start + 8])
        begins = f", which begin {foreign.name}" if foreign is not None else ""
        observed = f"the bytes {data[start : start + 4].hex(' ')}{begins}"
        report(faults, Rule.PREFIX_CONTINUATION_MISSING, (start, start + 4), "prefix", observed)
    metadata_start = start + (4 if legacy else 8)
    (length,) = (word,) if legacy else _read_i32(data, start + 4)
    if length < 0:
        place = (metadata_start - 4, metadata_start)
        observed = _length(length, len(data) - metadata_start)
        report(faults, Rule.PREFIX_LENGTH_NEGATIVE, place, "prefix", observed)
        return None
    return legacy, metadata_start, length


def _length(length: int, there: int) -> str:
    """The observation of a metadata length that is negative, or larger than the number of bytes after the prefix."""
    observed = f"a metadata length of {length}, where {many(there, 'byte')} follow the prefix"
    return observed + byte_swapped(length, 4, range(1, there + 1).__contains__)


def _ends_in_body(verifier: Verifier, lacking: int) -> bool:
    """True if the ``lacking`` last bytes of the metadata belong to no object of it, and are not padding either."""
    end = max((span[1] for span in verifier.spans), default=0)
    spare = verifier.meta[max(len(verifier.meta) - lacking, 0) :]
    return end + lacking <= len(verifier.meta) and any(spare)


def _swapped_body(length: int, there: int) -> str:
    return byte_swapped(length, 8, range(there + 1).__contains__)


def _framed(start: int, verifier: Verifier, rest: memoryview, *, legacy: bool) -> Frame:
    """The frame of a message with this metadata, and ``rest`` after it; judges version, header and body length."""
    faults, base = verifier.faults, verifier.base
    body_start, there = base + len(verifier.meta), len(rest)
    before = len(faults)
    root = verifier.root("Message")
    if not verifier.shallow:
        verifier.account()
    if root is None:
        return Frame(Message(start, body_start + there, Header.UNKNOWN, legacy, base, body_start), verifier)
    version_code, kind, header, body_length, _ = root.values
    if outdated := _is_outdated(root, verifier.faults[before:]):
        del faults[before:]
        header = None
    body_end = body_start + max(body_length, 0)
    # The body is padded to 8 bytes, so that the next message starts aligned.
    if body_length & 7 or body_length < 0:
        negative = body_length < 0
        rule = Rule.MESSAGE_BODY_LENGTH_NEGATIVE if negative else Rule.MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8
        place = base + root.place("bodyLength")
        observed = f"a body length of {body_length}{_swapped_body(body_length, there)}"
        report(faults, rule, (place, place + 8), "Message.bodyLength", observed)
    if body_end > body_start + there:
        body_end = body_start + there
        observed = f"a body of {many(there, 'byte')}, where the message declares {body_length}"
        observed += _swapped_body(body_length, there)
        lacking = body_length - there
        if _ends_in_body(verifier, lacking):
            observed += f"; with a metadata length of {len(verifier.meta) - lacking} it would be complete"
            header = None  # where the body starts is a guess
        report(faults, Rule.MESSAGE_BODY_TRUNCATED, (body_start, body_end), "body", observed)
    version = "" if version_code is None else _VERSIONS[version_code]
    if version_code is not None and version_code <= _V4:
        rule = Rule.MESSAGE_VERSION_V4 if version_code == _V4 else Rule.MESSAGE_VERSION_BEFORE_V4
        place = base + root.place("version")
        report(faults, rule, (place, place + 2), "Message.version", f"metadata version {version}")
    if kind == 0:
        place = base + root.start
        report(
            faults,
            Rule.MESSAGE_HEADER_MISSING,
            (place, place + root.size),
            "Message.header",
            "a message without a header",
        )
    message = Message(
        start=start,
        end=body_end,
        header=_HEADERS[kind] if kind < len(_HEADERS) else Header.UNKNOWN,
        legacy=legacy,
        metadata_start=base,
        metadata_end=body_start,
        version=version,
        body_start=body_start,
        body_end=body_end,
        body_length=body_length,
        custom_metadata=() if outdated else read_pairs(root, verifier),
        outdated=outdated,
    )
    return Frame(message, verifier, root, header, rest[: body_end - body_start])


def _is_outdated(root: FlatTable, faults: list[Fault]) -> bool:
    """True if the Message table says that its version is below V4; a version that cannot be read says nothing."""
    version = root["version"]
    said = root.place("version") != root.start and all(fault.path != "Message.version" for fault in faults)
    return said and version is not None and version < _V4


def read_pairs(table: FlatTable, verifier: Verifier) -> KeyValues:
    """The ``custom_metadata`` of a table; reports pairs without key or value and repeated keys."""
    entries: list[FlatTable | None] | None = table["custom_metadata"]
    if not entries:
        return ()
    pairs: list[tuple[str | None, str | None]] = []
    seen: set[str] = set()
    for entry in entries:
        if entry is None:
            continue
        key, value = entry.values
        start, end = verifier.base + entry.start, verifier.base + entry.start + entry.size
        # The position of an absent slot is 0; a short vtable has no entry for it at all.
        if not any(entry.places[:1]):
            report(verifier.faults, Rule.KEY_VALUE_KEY_MISSING, (start, end), entry.path, f"the value {value!r} alone")
        if not any(entry.places[1:2]):
            report(verifier.faults, Rule.KEY_VALUE_VALUE_MISSING, (start, end), entry.path, f"the key {key!r} alone")
        if key is not None and key in seen:
            report(verifier.faults, Rule.KEY_VALUE_KEY_REPEATED, (start, end), entry.path, f"{key!r} again")
        elif key is not None:
            seen.add(key)
        pairs.append((key, value))
    return tuple(pairs)


def read_messages(data: Bytes, *, limit: int = 4096) -> tuple[Message, ...]:
    """The encapsulated messages in ``data``, one after the other, including end-of-stream markers and stray bytes.

    The entries cover all bytes; at most ``limit`` entries are listed, the last of which spans the rest.
    """
    return read_following(memoryview(data).cast("B"), 0, limit)


def read_following(data: memoryview, start: int, limit: int = MAX_EXTRA) -> tuple[Message, ...]:
    """The messages from ``start`` on, as :func:`read_messages` lists them."""
    messages: list[Message] = []
    while start < len(data):
        frame = read_frame(data, start, [], shallow=True) if len(messages) < limit - 1 else None
        message = Message(start, len(data), Header.STRAY) if frame is None else frame.message
        messages.append(message)
        start = message.end
    return tuple(messages)


def judge_following(first: Message, extra: tuple[Message, ...], faults: list[Fault]) -> None:
    """Add a fault for each message or run of bytes after the ``first`` message.

    It adds none if the place where that message ends is a guess: after a prefix without metadata, and after metadata
    that leads beyond its own end.
    """
    if first.header is Header.END_OF_STREAM or any(fault.rule in BEYOND_METADATA for fault in faults):
        return
    for message in extra:
        span = message.end - message.start
        if message.header is Header.END_OF_STREAM:
            report(
                faults,
                Rule.MESSAGE_END_OF_STREAM,
                (message.start, message.end),
                "",
                f"an end-of-stream marker of {many(span, 'byte')} after the message",
            )
        elif message.header in (Header.STRAY, Header.UNKNOWN):
            report(
                faults,
                Rule.MESSAGE_TRAILING_BYTES,
                (message.start, message.end),
                "",
                f"{many(span, 'byte')} after the message",
            )
        else:
            observed = f"a {message.header} message of {many(span, 'byte')} after the first message"
            report(faults, Rule.MESSAGE_SECOND_MESSAGE, (message.start, message.end), "", observed)
