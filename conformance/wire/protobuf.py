"""A strict walk of protobuf messages: every field with its bytes, every fault, and what is permitted but rare.

The walk needs a description of the message (:mod:`conformance._protobuftables`) and no generated code. No bytes
make it raise. Each byte is visited once, values of bytes fields are views and not copies, and the number of fields and
their depth are limited.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from conformance._protobuftables import FieldKind, FieldSpec, MessageSpec, WireType
from conformance.contain.text import many
from conformance.wire.faults import Fault, report
from conformance.wire.messages import Bytes
from conformance.wire.protobufmessages import ProtobufReading, ProtoField, ProtoMessage, ProtoValue
from conformance.wire.protobufrules import MAX_OBSERVATIONS, EncodingNote, PermittedEncoding, ProtobufRule

__all__ = ["MAX_DEPTH", "MAX_FIELDS", "read_protobuf"]

MAX_DEPTH: Final = 100
"""How deep messages and groups nest: the default limit of the parsers of C++, Java and Python."""
MAX_FIELDS: Final = 1 << 18
"""The number of fields and packed values that are read: a field of 2 bytes becomes an object of some 200."""


def read_protobuf(data: Bytes, spec: MessageSpec) -> ProtobufReading:
    r"""Walk bytes that should be one message of ``spec``; no bytes make this function raise.

    >>> from conformance._protobuftables import declare
    >>> spec = declare("https://example.com/x.proto", {"Row": ("2 header bytes", "3 note bytes")})["Row"]
    >>> reading = read_protobuf(b"\x1a\x02hi\x12\x04head", spec)
    >>> bytes(reading.message.data("note")), [str(one.sort) for one in reading.observations]
    (b'hi', ['protobuf.field-order'])
    """
    view = memoryview(data).cast("B")
    walk = _ProtobufWalk(view)
    message = walk.message(_Part(spec, 0, len(view), spec.name, 1))
    return ProtobufReading(message, walk.faults, walk.observations, walk.cut)


_FIXED: Final = {
    FieldKind.FIXED64: struct.Struct("<Q"),
    FieldKind.SFIXED64: struct.Struct("<q"),
    FieldKind.DOUBLE: struct.Struct("<d"),
    FieldKind.FIXED32: struct.Struct("<I"),
    FieldKind.SFIXED32: struct.Struct("<i"),
    FieldKind.FLOAT: struct.Struct("<f"),
}
_BITS: Final = {
    FieldKind.INT32: 32,
    FieldKind.ENUM: 32,
    FieldKind.INT64: 64,
    FieldKind.UINT32: 32,
    FieldKind.UINT64: 64,
    FieldKind.SINT32: 32,
    FieldKind.SINT64: 64,
}
"""The bits of each kind of varint but booleans."""
_SIGNED: Final = frozenset({FieldKind.INT32, FieldKind.INT64, FieldKind.ENUM})
_ZIGZAG: Final = frozenset({FieldKind.SINT32, FieldKind.SINT64})
_MASK_64: Final = (1 << 64) - 1
_LARGEST_NUMBER: Final = (1 << 29) - 1
_WIRE_TYPES: Final = tuple(WireType)
_LONGEST: Final = 10
_LONGEST_32: Final = 5


class _BrokenError(Exception):
    """The walk of a message cannot go on, because nobody knows what follows; the fault has been reported."""


class _Part(NamedTuple):
    """The message that is walked: its description and its bytes, the path to it, and how deep it is."""

    spec: MessageSpec
    start: int
    end: int
    path: str
    depth: int


class _FieldPlace(NamedTuple):
    """The bytes of a field: its tag is at ``start``, its value from ``value_start`` to ``end``."""

    start: int
    value_start: int
    end: int


class _ProtobufWalk:
    """One walk: the faults and observations, and how many fields may still be read."""

    __slots__ = ("_left", "cut", "faults", "observations", "view")

    def __init__(self, view: memoryview) -> None:
        self.view = view
        self.faults: list[Fault] = []
        self.observations: list[EncodingNote] = []
        self._left = MAX_FIELDS
        self.cut = False

    # --- messages and fields ----------------------------------------------------------------------------

    def message(self, part: _Part) -> ProtoMessage:
        """Walk the fields of ``part``, up to the first byte whose meaning is unknown."""
        fields: list[ProtoField] = []
        at, highest = part.start, 0
        try:
            while at < part.end:
                field = self.field(part, at)
                if field.number < highest:
                    place = field.start, field.end
                    observed = f"field {field.number} after field {highest}"
                    self.note(PermittedEncoding.FIELD_ORDER, place, f"{part.path}.{field.name}", observed)
                highest = max(highest, field.number)
                fields.append(field)
                at = field.end
        except _BrokenError:
            pass
        self.repetitions(fields, part.path)
        return ProtoMessage(part.spec, part.start, part.end, at, tuple(fields))

    def field(self, part: _Part, start: int) -> ProtoField:
        """The field whose tag is at ``start``."""
        number, wire_type, at = self.tag(start, part.end, part.path)
        declared = part.spec.fields.get(number)
        path = f"{part.path}.{declared.name if declared is not None else f'#{number}'}"
        if wire_type is WireType.EGROUP:
            raise self.broken(ProtobufRule.GROUP_NOT_STARTED, (start, at), path, f"the end of group {number}")
        raw, value_start, end = self.raw(wire_type, number, at, part, path)
        place = _FieldPlace(start, value_start, end)
        if declared is None:
            self.unknown(number, wire_type, place, path)
        elif wire_type is declared.wire_type or (declared.packable and wire_type is WireType.LEN):
            value = self.value(part, declared, raw, place, path)
            return ProtoField(declared, number, wire_type, *place, value)
        else:
            observed = f"wire type {wire_type} ({wire_type.name}) for a field of type {declared.kind}"
            self.fault(ProtobufRule.WIRE_TYPE_DIFFERS, (start, end), path, observed)
        return ProtoField(None, number, wire_type, *place, raw)

    def tag(self, start: int, end: int, path: str) -> tuple[int, WireType, int]:
        """The field number and the wire type of the tag at ``start``, and the offset after it."""
        self.count(start, end, path)
        tag, at = self.varint(start, end, path, _LONGEST_32)
        number, code = tag >> 3, tag & 7
        if not 0 < number <= _LARGEST_NUMBER:
            raise self.broken(ProtobufRule.FIELD_NUMBER, (start, at), path, f"field number {number}")
        if code > WireType.I32:
            raise self.broken(ProtobufRule.WIRE_TYPE_UNKNOWN, (start, at), path, f"wire type {code} of field {number}")
        return number, _WIRE_TYPES[code], at

    def count(self, start: int, end: int, path: str) -> None:
        """Count one field or packed value."""
        if not self._left:
            self.cut = True
            observed = f"{many(end - start, 'byte')} after {MAX_FIELDS} fields"
            raise self.broken(ProtobufRule.FIELDS, (start, end), path, observed)
        self._left -= 1

    def raw(
        self, wire_type: WireType, number: int, at: int, part: _Part, path: str
    ) -> tuple[int | memoryview, int, int]:
        """The value of the field at ``path`` as its wire type alone gives it, where it starts and where it ends.

        A varint or a fixed-width value becomes an unsigned number, any other value a view of its bytes.
        """
        end = part.end
        if wire_type is WireType.VARINT:
            value, after = self.varint(at, end, path)
            return value, at, after
        if wire_type is WireType.LEN:
            length, start = self.varint(at, end, path, _LONGEST_32)
            if length > end - start:
                observed = f"a length of {length}, where {many(end - start, 'byte')} follow"
                raise self.broken(ProtobufRule.LENGTH_BEYOND, (at, start), path, observed)
            return self.view[start : start + length], start, start + length
        if wire_type is WireType.SGROUP:
            after = self.group(number, at, part, path)
            return self.view[at:after], at, after
        width = 8 if wire_type is WireType.I64 else 4
        if width > end - at:
            raise self.broken(ProtobufRule.FIXED_TRUNCATED, (at, end), path, f"{many(end - at, 'byte')} of {width}")
        return int.from_bytes(self.view[at : at + width], "little"), at, at + width

    def group(self, number: int, start: int, part: _Part, path: str) -> int:
        """Skip the group whose first field is at ``start``; returns the offset after its end."""
        started, at = [number], start
        while started:
            if at >= part.end:
                observed = f"no end of group {started[-1]}"
                raise self.broken(ProtobufRule.GROUP_NOT_ENDED, (start, part.end), path, observed)
            if part.depth + len(started) - 1 > MAX_DEPTH:
                observed = f"{part.depth + len(started) - 1} messages and groups in one another"
                raise self.broken(ProtobufRule.DEPTH, (at, part.end), path, observed)
            inner, wire_type, after = self.tag(at, part.end, path)
            if wire_type is WireType.SGROUP:
                started.append(inner)
            elif wire_type is not WireType.EGROUP:
                _, _, after = self.raw(wire_type, inner, after, part, path)
            elif inner == started[-1]:
                started.pop()
            else:
                observed = f"the end of group {inner} in group {started[-1]}"
                raise self.broken(ProtobufRule.GROUP_NOT_ENDED, (at, after), path, observed)
            at = after
        return at

    # --- values -----------------------------------------------------------------------------------------

    def varint(self, start: int, end: int, path: str, longest: int = _LONGEST) -> tuple[int, int]:
        """The unsigned varint at ``start``, and the offset after it."""
        view, value, shift, at = self.view, 0, 0, start
        if start < end and view[start] < 0x80:  # most are one byte
            return view[start], start + 1
        last = min(end, start + longest)
        while at < last:
            byte = view[at]
            value |= (byte & 0x7F) << shift
            at += 1
            if byte < 0x80:
                if not byte and shift:
                    self.note(PermittedEncoding.VARINT_OVERLONG, (start, at), path, f"{value} in {at - start} bytes")
                if value > _MASK_64:
                    self.fault(ProtobufRule.VARINT_OVERFLOW, (start, at), path, f"a tenth byte of {byte:#04x}")
                return value & _MASK_64, at
            shift += 7
        if at == end:
            observed = f"{many(at - start, 'byte')}, none of which is the last of a varint"
            raise self.broken(ProtobufRule.VARINT_TRUNCATED, (start, at), path, observed)
        raise self.broken(ProtobufRule.VARINT_TOO_LONG, (start, at), path, f"more than {longest} bytes")

    def value(self, part: _Part, field: FieldSpec, raw: int | memoryview, place: _FieldPlace, path: str) -> ProtoValue:
        """The value of a declared field; reports what its type forbids."""
        whole = place.start, place.end
        made: ProtoValue
        if isinstance(raw, int):
            if field.repeated:
                self.note(PermittedEncoding.PACKING, whole, path, "one value, not packed")
            made = self.scalar(part.spec, field, raw, place[1:], path)
        elif field.kind is FieldKind.MESSAGE:
            if part.depth >= MAX_DEPTH:
                self.fault(ProtobufRule.DEPTH, whole, path, f"{part.depth + 1} messages in one another")
                return raw
            return self.message(_Part(part.spec.types[field.of], *place[1:], path, part.depth + 1))
        elif field.kind is FieldKind.STRING:
            made = self.string(raw, place.value_start, path)
        elif field.kind is FieldKind.BYTES:
            made = raw
        else:
            return self.packed(part.spec, field, place, path)
        if field.implicit and not made:
            self.note(PermittedEncoding.DEFAULT_WRITTEN, whole, path, "the default value")
        return made

    def string(self, raw: memoryview, start: int, path: str) -> str:
        """A string, with replacement characters where its bytes are no UTF-8."""
        try:
            return str(raw, "utf-8")
        except UnicodeDecodeError as error:
            observed = f"the bytes {bytes(raw[error.start : error.end]).hex(' ')}"
            self.fault(ProtobufRule.STRING_NOT_UTF8, (start + error.start, start + error.end), path, observed)
            return str(raw, "utf-8", "replace")

    def scalar(
        self, spec: MessageSpec, field: FieldSpec, raw: int, place: tuple[int, int], path: str
    ) -> int | float | bool:
        """The number that the unsigned ``raw`` is in the field's type."""
        kind = field.kind
        if kind in _FIXED:
            fixed: int | float
            (fixed,) = _FIXED[kind].unpack(raw.to_bytes(_FIXED[kind].size, "little"))
            return fixed
        if kind is FieldKind.BOOL:
            if raw > 1:
                self.note(PermittedEncoding.VALUE_TRUNCATED, place, path, f"{raw} for a boolean")
            return raw != 0
        bits = _BITS[kind]
        kept = raw & ((1 << bits) - 1)
        if kind in _ZIGZAG:
            made = kept >> 1 ^ -(kept & 1)
        else:
            made = kept - (1 << bits) if kind in _SIGNED and kept >> (bits - 1) else kept
        # Writers extend the sign of a negative number of 32 bits to 64 bits.
        if raw != (made & _MASK_64 if kind in _SIGNED else kept):
            self.note(PermittedEncoding.VALUE_TRUNCATED, place, path, f"{raw} for a field of type {kind}")
        if kind is FieldKind.ENUM and made not in spec.enums[field.of]:
            self.note(PermittedEncoding.ENUM_UNKNOWN, place, path, f"{made} for {field.of}")
        return made

    def packed(
        self, spec: MessageSpec, field: FieldSpec, place: _FieldPlace, path: str
    ) -> tuple[int | float | bool, ...]:
        """The values of a packed field, up to a fault."""
        _, at, end = place
        values: list[int | float | bool] = []
        width = _FIXED[field.kind].size if field.kind in _FIXED else 0
        if width and (end - at) % width:
            observed = f"{many(end - at, 'byte')} of values of {width} bytes"
            self.fault(ProtobufRule.PACKED_SIZE, (at, end), path, observed)
            end -= (end - at) % width
        try:
            while at < end:
                self.count(at, end, path)
                if width:
                    raw, after = int.from_bytes(self.view[at : at + width], "little"), at + width
                else:
                    raw, after = self.varint(at, end, path)
                values.append(self.scalar(spec, field, raw, (at, after), path))
                at = after
        except _BrokenError:
            pass
        return tuple(values)

    # --- reports ----------------------------------------------------------------------------------------

    def repetitions(self, fields: list[ProtoField], path: str) -> None:
        """Note singular fields that occur again, and fields of a oneof after another one of it."""
        seen: set[int] = set()
        oneofs: dict[str, str] = {}
        for field in fields:
            spec, place = field.spec, (field.start, field.end)
            if spec is None or spec.repeated:
                continue
            if spec.number in seen:
                sort = (
                    PermittedEncoding.MESSAGE_MERGED
                    if spec.kind is FieldKind.MESSAGE
                    else PermittedEncoding.FIELD_REPEATED
                )
                self.note(sort, place, f"{path}.{spec.name}", f"{spec.name} again")
            seen.add(spec.number)
            other = oneofs.get(spec.oneof, spec.name)
            if other != spec.name:
                self.note(PermittedEncoding.ONEOF_REPEATED, place, f"{path}.{spec.name}", f"{spec.name} after {other}")
            if spec.oneof:
                oneofs[spec.oneof] = spec.name

    def unknown(self, number: int, wire_type: WireType, place: _FieldPlace, path: str) -> None:
        """Note a field that the message does not declare."""
        whole = place.start, place.end
        size = many(place.end - place.start, "byte")
        observed = f"field {number} of wire type {wire_type} ({wire_type.name}), {size}"
        self.note(PermittedEncoding.FIELD_UNKNOWN, whole, path, observed)
        if wire_type is WireType.SGROUP:
            self.note(PermittedEncoding.GROUP, whole, path, f"a group of {size}")

    def note(self, sort: PermittedEncoding, place: tuple[int, int], path: str, observed: str) -> None:
        """Add an observation, unless there are :data:`MAX_OBSERVATIONS`."""
        if len(self.observations) < MAX_OBSERVATIONS:
            self.observations.append(EncodingNote(sort, *place, path, observed))

    def fault(self, rule: ProtobufRule, place: tuple[int, int], path: str, observed: str) -> None:
        """Add a fault after which the walk goes on."""
        report(self.faults, rule, place, path, observed)

    def broken(self, rule: ProtobufRule, place: tuple[int, int], path: str, observed: str) -> _BrokenError:
        """Add a fault that ends the walk of the message that contains it; returns the exception to raise."""
        self.fault(rule, place, path, observed)
        return _BrokenError()
