"""What the strict readers know of a protocol: its protobuf messages, and how they carry Arrow data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from conformance._protobuftables import MessageSpec
from conformance.wire.faults import Fault
from conformance.wire.messages import Bytes, Header
from conformance.wire.protobufmessages import ProtoField

__all__ = ["Content", "WirePlugin"]


@dataclasses.dataclass(frozen=True, slots=True)
class Content:
    """The IPC message inside a protobuf message, with its prefix.

    ``back`` converts a range of ``data`` to the range in the protobuf message. ``fields`` are the offsets at which the
    fields with the content start. ``place`` is the kind of message that belongs there, and ``field`` the name of its
    field, if the protocol decides them.
    """

    data: bytes
    back: Callable[[int, int], tuple[int, int]]
    fields: frozenset[int]
    place: Header | None = None
    field: str = ""

    @classmethod
    def of(cls, field: ProtoField, place: Header | None = None, name: str = "") -> Content:
        """The content of a field of bytes, which has all of it."""
        assert isinstance(field.value, memoryview), "a field of bytes"
        shift = field.value_start
        return cls(
            bytes(field.value), lambda start, end: (start + shift, end + shift), frozenset({field.start}), place, name
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WirePlugin:
    """A protocol for the strict readers.

    ``messages`` are the descriptions of its protobuf messages, by name. ``carrier`` is the name of the one that carries
    Arrow data, and ``is_carrier`` tells whether bytes look like it. ``contents`` gives the IPC messages in the bytes of
    a message, a schema ahead of the rows that it is for, and ``faults`` those of the message itself. With
    ``carries_bare``, each is a schema message or the message of one batch, and has its place.
    """

    LAYER: ClassVar[str] = "wire"

    messages: Mapping[str, MessageSpec]
    carrier: str
    is_carrier: Callable[[bytes], bool]
    contents: Callable[[Bytes, MessageSpec], Sequence[Content]]
    faults: Callable[[Bytes, MessageSpec], Sequence[Fault]]
    carries_bare: bool = False
