"""Protobuf messages as they were written: every occurrence of every field, with its bytes.

A message keeps what a generated class drops: the order of fields, repeated and merged fields, unknown fields, and
whether a value was absent or written as its default.
"""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

from conformance._protobuftables import FieldSpec, MessageSpec, WireType
from conformance.wire.faults import Fault, Severity
from conformance.wire.protobufrules import EncodingNote

__all__ = ["ProtoField", "ProtoMessage", "ProtoValue", "ProtobufReading"]

ProtoValue: TypeAlias = "int | float | bool | str | memoryview | ProtoMessage | tuple[int | float | bool, ...]"
"""The value of one occurrence of a field; a tuple contains packed values."""


@dataclasses.dataclass(frozen=True, slots=True)
class ProtoField:
    """One occurrence of a field: its tag is at ``start``, and its value is from ``value_start`` to ``end``.

    ``spec`` is None if the message declares no field of this number, or if the field has another wire type than its
    declaration; ``value`` is then the number, or the bytes, as they were written.
    """

    spec: FieldSpec | None
    number: int
    wire_type: WireType
    start: int
    value_start: int
    end: int
    value: ProtoValue

    @property
    def name(self) -> str:
        """The declared name; ``#`` and the number for a field without a declaration."""
        return self.spec.name if self.spec is not None else f"#{self.number}"


@dataclasses.dataclass(frozen=True, slots=True)
class ProtoMessage:
    """A message as it was written: all occurrences of its fields in the order of the bytes.

    ``read_to`` is ``end``, or the offset at which a fault ended the walk of this message. The methods apply the rules
    by which parsers make one value of several: the last scalar counts, messages are merged.
    """

    spec: MessageSpec
    start: int
    end: int
    read_to: int
    fields: tuple[ProtoField, ...]

    def all(self, name: str) -> list[ProtoField]:
        """Every occurrence of the field ``name`` in the order of the bytes."""
        spec = self.spec.named(name)
        return [field for field in self.fields if field.spec is spec]

    def last(self, name: str) -> ProtoField | None:
        """The occurrence that counts: the last one, unless another field of its oneof follows it."""
        spec = self.spec.named(name)
        for field in reversed(self.fields):
            if field.spec is spec:
                return field
            if spec.oneof and field.spec is not None and field.spec.oneof == spec.oneof:
                return None
        return None

    def has(self, name: str) -> bool:
        """True if the field is in the bytes, also with its default value."""
        return self.last(name) is not None

    def number(self, name: str) -> int:
        """The value of a singular integer, boolean or enumeration; 0 if it is absent."""
        field = self.last(name)
        return int(field.value) if field is not None and isinstance(field.value, int) else 0

    def numbers(self, name: str) -> list[int]:
        """The values of a repeated integer field, packed or not."""
        found: list[int] = []
        for field in self.all(name):
            values = field.value if isinstance(field.value, tuple) else (field.value,)
            found += [int(value) for value in values if isinstance(value, int)]
        return found

    def real(self, name: str) -> float:
        """The value of a singular floating-point field; 0.0 if it is absent."""
        field = self.last(name)
        return field.value if field is not None and isinstance(field.value, float) else 0.0

    def text(self, name: str) -> str:
        """The value of a singular string; empty if it is absent."""
        field = self.last(name)
        return field.value if field is not None and isinstance(field.value, str) else ""

    def data(self, name: str) -> memoryview:
        """The value of a singular bytes field, as a view of the bytes that were read; empty if it is absent."""
        field = self.last(name)
        return field.value if field is not None and isinstance(field.value, memoryview) else memoryview(b"")

    def message(self, name: str) -> ProtoMessage | None:
        """The value of a singular message field, merged from all its occurrences; None if it is absent."""
        if self.last(name) is None:
            return None
        found = self.messages(name)
        if len(found) == 1:
            return found[0]
        fields = tuple(field for each in found for field in each.fields)
        return ProtoMessage(found[0].spec, found[0].start, found[-1].end, found[-1].read_to, fields)

    def messages(self, name: str) -> list[ProtoMessage]:
        """The values of a repeated message field."""
        return [field.value for field in self.all(name) if isinstance(field.value, ProtoMessage)]

    def texts(self, name: str) -> list[str]:
        """The values of a repeated string field."""
        return [field.value for field in self.all(name) if isinstance(field.value, str)]


@dataclasses.dataclass(frozen=True, slots=True)
class ProtobufReading:
    """The result of a walk: the message, the rules that its bytes break, and what is permitted but rare."""

    message: ProtoMessage
    faults: list[Fault]
    observations: list[EncodingNote]
    cut: bool = False
    """True if the message has more fields than are read: of the rest, nobody knows what it says."""

    @property
    def violations(self) -> list[Fault]:
        """The faults that the encoding forbids: all but those that this reader's limits cause."""
        return [fault for fault in self.faults if fault.severity is Severity.VIOLATION]
