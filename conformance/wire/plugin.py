"""What the strict readers know of a protocol: its protobuf messages, and how they carry Arrow data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from conformance._protobuftables import MessageSpec
from conformance.wire.faults import Fault
from conformance.wire.messages import Bytes

__all__ = ["Content", "WirePlugin"]


@dataclasses.dataclass(frozen=True, slots=True)
class Content:
    """The IPC message inside a protobuf message, with its prefix.

    ``back`` converts a range of ``data`` to the range in the protobuf message. ``fields`` are the offsets at which the
    fields with the content start.
    """

    data: bytes
    back: Callable[[int, int], tuple[int, int]]
    fields: frozenset[int]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WirePlugin:
    """A protocol for the strict readers.

    ``messages`` are the descriptions of its protobuf messages, by name. ``carrier`` is the name of the one that carries
    Arrow data, and ``is_carrier`` tells whether bytes look like it. ``content`` gives the IPC message in the bytes of a
    message, None if it carries none, and ``faults`` those of the message itself.
    """

    LAYER: ClassVar[str] = "wire"

    messages: Mapping[str, MessageSpec]
    carrier: str
    is_carrier: Callable[[bytes], bool]
    content: Callable[[Bytes, MessageSpec], Content | None]
    faults: Callable[[Bytes, MessageSpec], Sequence[Fault]]
