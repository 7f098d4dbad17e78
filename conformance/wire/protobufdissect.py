"""The annotated dump of a protobuf message, and of the IPC message that it carries.

Every byte belongs to one region. Offsets are those of the protobuf message, also inside the IPC message, whose metadata
and body may be in two fields.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Final

from conformance._protobuftables import FieldKind, MessageSpec
from conformance.contain.text import many
from conformance.wire.closed import RegionKind, SectionKind
from conformance.wire.dissect import MAX_MESSAGES, DissectedSection, Dissection, judge_alone, section_of
from conformance.wire.faults import Fault
from conformance.wire.messages import Bytes, Frame, Header, Message, read_frame
from conformance.wire.plugin import Content, WirePlugin
from conformance.wire.preview import shorten
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufmessages import ProtoField, ProtoMessage
from conformance.wire.regions import MAX_REGIONS, Region, cover, message_claims
from conformance.wire.types import Schema

__all__ = ["dissect_protobuf"]

_SHOWN: Final = 32
"""The number of bytes of a value that are shown as text."""


def dissect_protobuf(data: Bytes, spec: MessageSpec, protocol: WirePlugin, schema: Schema | None = None) -> Dissection:
    """Dissect bytes that should be one message of ``spec``, of ``protocol``; no bytes make this function raise.

    ``schema`` is the schema for a record batch inside the message.
    """
    view = memoryview(data).cast("B")
    reading, contents = read_protobuf(view, spec), protocol.contents(view, spec)
    faults = [*protocol.faults(view, spec), *(one.note for one in reading.observations)]
    sections = [DissectedSection(0, len(view), SectionKind.OTHER, f"{spec.name}, bytes 0 to {len(view)}")]
    messages: list[Message] = []
    fields = _claims(reading.message, spec.name, frozenset().union(*(one.fields for one in contents)))
    claims = list(itertools.islice(fields, MAX_REGIONS))
    for content in contents:
        inner, found = memoryview(content.data), list[Fault]()
        for frame in _frames(inner, found):
            judged, schema = judge_alone(frame, inner, schema, found)
            moved = _moved(frame, content)
            claims += message_claims(view, moved, judged, most=MAX_REGIONS - len(claims))
            messages.append(moved.message)
            sections.append(section_of(moved.message, len(messages)))
        places = [content.back(fault.start, fault.end) for fault in found]
        faults += [dataclasses.replace(one, start=at, end=end) for one, (at, end) in zip(found, places, strict=True)]
    if messages:
        sections[0] = dataclasses.replace(sections[0], end=min(one.start for one in messages))
    regions = tuple(cover(claims, 0, len(view), view))
    return Dissection(view, spec.name, regions, tuple(sections), tuple(messages), tuple(faults), schema)


def _frames(data: memoryview, faults: list[Fault]) -> Iterator[Frame]:
    """The message at the beginning of ``data``, and those that follow it where a whole stream is in its place."""
    first = read_frame(data, 0, faults) or Frame(Message(0, len(data), Header.STRAY))
    yield first
    at = first.message.end
    for _ in range(MAX_MESSAGES - 1):
        noted: list[Fault] = []
        frame = read_frame(data, at, noted) if at < len(data) else None
        if frame is None or frame.message.header in (Header.STRAY, Header.UNKNOWN):
            return
        faults += noted
        yield frame
        at = frame.message.end


def _moved(frame: Frame, content: Content) -> Frame:
    """The frame at the offsets of the protobuf message."""
    message = frame.message
    start, end = content.back(message.start, message.end)
    if message.header is Header.STRAY:
        return Frame(Message(start, end, Header.STRAY))
    metadata_start, metadata_end = content.back(message.metadata_start, message.metadata_end)
    body_start, body_end = metadata_end, metadata_end
    if message.body_end > message.body_start:
        body_start, body_end = content.back(message.body_start, message.body_end)
    if frame.verifier is not None:
        frame.verifier.base = metadata_start
    moved = dataclasses.replace(
        message,
        start=start,
        end=max(end, body_end),
        metadata_start=metadata_start,
        metadata_end=metadata_end,
        body_start=body_start,
        body_end=body_end,
    )
    return dataclasses.replace(frame, message=moved)


def _claims(message: ProtoMessage, path: str, inside: frozenset[int]) -> Iterator[Region]:
    """The regions of the fields of a message; those that start at ``inside`` contain an IPC message."""
    for field in message.fields:
        value, number = field.value, f"field {field.number}, {field.wire_type.name}"
        if not isinstance(value, ProtoMessage | memoryview | str | tuple):
            shown = f"{number}: {_text(field, message.spec)}"
            yield Region(field.start, field.end, RegionKind.FIELD, path, field.name, shown)
            continue
        size = f"{number} of {many(field.end - field.value_start, 'byte')}"
        yield Region(field.start, field.value_start, RegionKind.FIELD, path, field.name, size)
        if isinstance(value, ProtoMessage):
            yield from _claims(value, f"{path}.{field.name}", inside)
        elif field.start not in inside and field.end > field.value_start:
            yield Region(field.value_start, field.end, RegionKind.FIELD, path, "value", _text(field, message.spec))


def _text(field: ProtoField, spec: MessageSpec) -> str:
    """A value for people."""
    value = field.value
    if isinstance(value, memoryview):
        return shorten(repr(bytes(value[:_SHOWN])), 48)
    if isinstance(value, str):
        return shorten(repr(value), 48)
    if isinstance(value, bool):
        return str(value).lower()
    if field.spec is not None and field.spec.kind is FieldKind.ENUM and isinstance(value, int):
        return f"{value} {spec.enums[field.spec.of].get(value, 'unknown')}"
    return shorten(str(value), 48)
