"""The annotated dump of a protobuf message, and of the IPC message that a message of Flight carries.

Every byte belongs to one region. Offsets are those of the protobuf message, also inside the IPC message, whose metadata
and body are in two fields of a ``FlightData``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Final

from conformance._protobuftables import FieldKind, MessageSpec
from conformance.contain.text import many
from conformance.wire.closed import RegionKind, SectionKind
from conformance.wire.dissect import Dissection, Section, judge_alone, section_of
from conformance.wire.faults import Fault
from conformance.wire.flightdata import join_flight
from conformance.wire.messages import Bytes, Frame, Header, Message, read_frame
from conformance.wire.preview import shorten
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufmessages import ProtoField, ProtoMessage
from conformance.wire.regions import Region, cover, message_claims
from conformance.wire.types import Schema

__all__ = ["Content", "content_of", "dissect_protobuf"]

_SCHEMA_FIELDS: Final = {"FlightInfo": "schema", "SchemaResult": "schema"}
"""The fields that contain an IPC message with its prefix."""
_SHOWN: Final = 32
"""The number of bytes of a value that are shown as text."""


@dataclasses.dataclass(frozen=True, slots=True)
class Content:
    """The IPC message inside a protobuf message, with its prefix.

    ``back`` converts a range of ``data`` to the range in the protobuf message. ``fields`` are the offsets at which the
    fields with the content start.
    """

    data: bytes
    back: Callable[[int, int], tuple[int, int]]
    fields: frozenset[int]


def content_of(data: Bytes, spec: MessageSpec) -> Content | None:
    """The IPC message in the bytes of a message of Flight; None if it carries none."""
    if spec.name == "FlightData":
        stream = join_flight([data])
        (part,) = stream.parts
        there = [part.reading.message.last(name) for name in ("data_header", "data_body")]
        starts = frozenset(field.start for field in there if field is not None)
        return Content(stream.data, part.back, starts) if stream.data else None
    name = _SCHEMA_FIELDS.get(spec.name)
    field = read_protobuf(data, spec).message.last(name) if name is not None else None
    if field is None or not isinstance(field.value, memoryview) or not field.value:
        return None
    shift = field.value_start
    return Content(bytes(field.value), lambda start, end: (start + shift, end + shift), frozenset({field.start}))


def dissect_protobuf(data: Bytes, spec: MessageSpec, schema: Schema | None = None) -> Dissection:
    """Dissect bytes that should be one message of ``spec``; no bytes make this function raise.

    ``schema`` is the schema for a record batch inside the message.
    """
    view = memoryview(data).cast("B")
    reading, content = read_protobuf(view, spec), content_of(view, spec)
    own = join_flight([view]).parts[0].faults if spec.name == "FlightData" else reading.faults
    faults = [*own, *(one.note for one in reading.observations)]
    sections = [Section(0, len(view), SectionKind.OTHER, f"{spec.name}, bytes 0 to {len(view)}")]
    messages: list[Message] = []
    claims = list(_claims(reading.message, spec.name, content.fields if content is not None else frozenset()))
    if content is not None:
        found: list[Fault] = []
        inner = memoryview(content.data)
        frame = read_frame(inner, 0, found) or Frame(Message(0, len(inner), Header.STRAY))
        judged, schema = judge_alone(frame, inner, schema, found)
        frame = _moved(frame, content)
        claims += message_claims(view, frame, judged)
        messages.append(frame.message)
        section = section_of(frame.message, 1)
        sections = [dataclasses.replace(sections[0], end=section.start), section]
        places = [content.back(fault.start, fault.end) for fault in found]
        faults += [dataclasses.replace(one, start=at, end=end) for one, (at, end) in zip(found, places, strict=True)]
    regions = tuple(cover(claims, 0, len(view), view))
    return Dissection(view, spec.name, regions, tuple(sections), tuple(messages), tuple(faults), schema)


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
            yield from _claims(value, f"{path}.{field.name}", frozenset())
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
