"""Encapsulated messages: prefix, metadata, body, and what else the bytes hold.

This module decides where a message's parts lie and whether their announced lengths are true.
What the header says belongs to :mod:`conformance.wire.schema` and :mod:`conformance.wire.batch`.
"""

from __future__ import annotations

import dataclasses
import enum
import struct
from typing import Final

from conformance.wire.faults import Fault, Rule, report
from conformance.wire.flatbuf import Table, Verifier
from conformance.wire.tables import ENUMS, UNIONS

__all__ = ["Bytes", "Frame", "Header", "KeyValues", "Message", "read_frame", "read_messages", "read_pairs"]

Bytes = bytes | bytearray | memoryview
KeyValues = tuple[tuple[str | None, str | None], ...]
"""Custom metadata in the order of the bytes; a key or value that is absent is None."""

MAX_EXTRA: Final = 64
"""Messages listed after the first: the last entry spans the rest of the bytes."""

_read_i32: Final = struct.Struct("<i").unpack_from
_VERSIONS: Final = ENUMS["MetadataVersion"].names
_V4: Final = _VERSIONS.index("V4")


class Header(enum.StrEnum):
    """The kind of a message, or of bytes that are none."""

    SCHEMA = "Schema"
    DICTIONARY_BATCH = "DictionaryBatch"
    RECORD_BATCH = "RecordBatch"
    TENSOR = "Tensor"
    SPARSE_TENSOR = "SparseTensor"
    UNKNOWN = "unknown"
    """A prefix was there, but no header that could be read."""
    END_OF_STREAM = "end of stream"
    """A prefix that announces no metadata."""
    STRAY = "stray bytes"
    """Bytes that do not begin a message."""


_HEADERS: Final = (Header.UNKNOWN, *(Header(name) for name in UNIONS["MessageHeader"][1:]))


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """Where an encapsulated message lies and what it says of itself; offsets count from the first byte read.

    ``start`` to ``end`` is everything that is there of it: a truncated message ends where the bytes end.
    ``version`` is ``V1`` to ``V5``, or empty where it could not be read.
    ``body_length`` is what the message announces, ``body_start`` to ``body_end`` what is there.
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


@dataclasses.dataclass(frozen=True, slots=True)
class Frame:
    """A message together with its verified metadata, for the readers of headers.

    ``header`` is the verified header table; None where there is none, or where the message cannot be followed.
    """

    message: Message
    verifier: Verifier | None = None
    root: Table | None = None
    header: Table | None = None


def read_frame(data: memoryview, start: int, faults: list[Fault], *, shallow: bool = False) -> Frame | None:
    """Reads the message that begins at ``start``, adding what is wrong with it to ``faults``; None for no bytes.

    A ``shallow`` reading leaves the header unread, in which nothing says where the message ends.
    """
    size = len(data)
    if start >= size:
        report(faults, Rule.PREFIX_EMPTY, (start, size), "", "no bytes")
        return None
    prefix = _read_prefix(data, start, faults)
    if prefix is None:
        return Frame(Message(start, size, Header.STRAY))
    legacy, metadata_start, length = prefix
    if length == 0:
        return Frame(Message(start, metadata_start, Header.END_OF_STREAM, legacy, metadata_start, metadata_start))
    metadata_end = metadata_start + length
    if metadata_end > size:
        observed = f"{size - metadata_start} of {length} bytes"
        report(faults, Rule.METADATA_TRUNCATED, (metadata_start, size), "metadata", observed)
        return Frame(Message(start, size, Header.UNKNOWN, legacy, metadata_start, size))
    if (metadata_end - start) & 7:
        observed = f"{metadata_end - start} bytes"
        rule = Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8
        report(faults, rule, (metadata_start - 4, metadata_start), "prefix", observed)
    verifier = Verifier(bytes(data[metadata_start:metadata_end]), metadata_start, faults, shallow=shallow)
    root = verifier.root("Message")
    if not shallow:
        verifier.account()
    if root is None:
        return Frame(Message(start, size, Header.UNKNOWN, legacy, metadata_start, metadata_end), verifier)
    return _framed(data, start, verifier, root, legacy=legacy)


def _read_prefix(data: memoryview, start: int, faults: list[Fault]) -> tuple[bool, int, int] | None:
    """Whether the framing is legacy, where the metadata begins and how long it is; None where nothing says so."""
    there = len(data) - start
    word = _read_i32(data, start)[0] if there >= 4 else -1
    legacy = word != -1
    if there < 8 and not legacy:
        report(faults, Rule.PREFIX_TRUNCATED, (start, len(data)), "prefix", f"{there} bytes")
        return None
    if legacy and word >= 0:
        observed = f"the bytes {data[start : start + 4].hex(' ')}"
        report(faults, Rule.PREFIX_CONTINUATION_MISSING, (start, start + 4), "prefix", observed)
    metadata_start = start + (4 if legacy else 8)
    length = word if legacy else _read_i32(data, start + 4)[0]
    if length < 0:
        place = (metadata_start - 4, metadata_start)
        report(faults, Rule.PREFIX_LENGTH_NEGATIVE, place, "prefix", f"a length of {length}")
        return None
    return legacy, metadata_start, length


def _framed(data: memoryview, start: int, verifier: Verifier, root: Table, *, legacy: bool) -> Frame:
    faults, base = verifier.faults, verifier.base
    version_code, kind, header, body_length, _ = root.values
    body_start = base + len(verifier.meta)
    body_end = body_start + max(body_length, 0)
    if body_length & 7 or body_length < 0:
        negative = body_length < 0
        rule = Rule.MESSAGE_BODY_LENGTH_NEGATIVE if negative else Rule.MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8
        place = base + root.place("bodyLength")
        report(faults, rule, (place, place + 8), "Message.bodyLength", f"{body_length}")
    if body_end > len(data):
        body_end = len(data)
        observed = f"{body_end - body_start} of {body_length} bytes"
        report(faults, Rule.MESSAGE_BODY_TRUNCATED, (body_start, body_end), "body", observed)
    version = "" if version_code is None else _VERSIONS[version_code]
    if version_code is not None and version_code <= _V4:
        rule = Rule.MESSAGE_VERSION_V4 if version_code == _V4 else Rule.MESSAGE_VERSION_BEFORE_V4
        place = base + root.place("version")
        report(faults, rule, (place, place + 2), "Message.version", version)
    if kind == 0:
        place = base + root.start
        report(faults, Rule.MESSAGE_HEADER_MISSING, (place, place + root.size), "Message.header", "no header")
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
        custom_metadata=read_pairs(root, verifier),
    )
    return Frame(message, verifier, root, header)


def read_pairs(table: Table, verifier: Verifier) -> KeyValues:
    """The ``custom_metadata`` of a table, noting pairs without key or value and keys that stand twice."""
    entries: list[Table | None] | None = table["custom_metadata"]
    if not entries:
        return ()
    pairs: list[tuple[str | None, str | None]] = []
    seen: set[str] = set()
    for entry in entries:
        if entry is None:
            continue
        key, value = entry.values
        start, end = verifier.base + entry.start, verifier.base + entry.start + entry.size
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
    """The encapsulated messages that follow each other in ``data``, end-of-stream markers and stray bytes among them.

    The entries cover the bytes from the first to the last; at most ``limit`` are listed, the last spanning the rest.
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


def judge_following(extra: tuple[Message, ...], faults: list[Fault]) -> None:
    """Adds a fault for each thing that follows the first message."""
    for message in extra:
        span = message.end - message.start
        if message.header is Header.END_OF_STREAM:
            report(faults, Rule.MESSAGE_END_OF_STREAM, (message.start, message.end), "", f"a marker of {span} bytes")
        elif message.header in (Header.STRAY, Header.UNKNOWN):
            report(faults, Rule.MESSAGE_TRAILING_BYTES, (message.start, message.end), "", f"{span} bytes more")
        else:
            observed = f"a {message.header} message of {span} bytes more"
            report(faults, Rule.MESSAGE_SECOND_MESSAGE, (message.start, message.end), "", observed)
