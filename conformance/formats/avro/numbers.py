"""The columns of null, booleans and numbers: each reads one value, and judges its range by its logical type."""

from __future__ import annotations

import array
import dataclasses
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from conformance.formats.avro.columnbuilders import LeafColumn
from conformance.formats.avro.cursor import Cursor
from conformance.formats.avro.rules import AvroRule
from conformance.formats.avro.types import AvroPrimitive, PrimitiveKind
from conformance.wire.closed import RegionKind
from conformance.wire.preview import date_text, moment_text

__all__ = ["BooleanColumn", "NullColumn", "NumberColumn", "RealColumn"]


class NullColumn(LeafColumn):
    """Null outside a union, which takes no bytes."""

    minimum = 0
    free = 1

    def read(self, cursor: Cursor) -> None:
        """Nothing is there to be read, and nothing to be kept."""

    def cut(self, count: int) -> None:
        """Nothing was kept."""


class BooleanColumn(LeafColumn):
    """Booleans, as a byte each; a byte other than 0 and 1 counts as true."""

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path, type_)
        self.values = bytearray()

    def read(self, cursor: Cursor) -> None:
        """Read a byte."""
        start = cursor.at
        value = cursor.byte(self.path, "boolean")
        if value > 1:
            cursor.report(AvroRule.BOOLEAN, start, self.path, f"the byte {value:02x}")
        if cursor.regions is not None:
            cursor.show(start, self.path, "boolean", "true" if value else "false")
        self.values.append(value > 0)

    def cut(self, count: int) -> None:
        """Forget all but the first values."""
        del self.values[count:]


class RealColumn(LeafColumn):
    """Numbers with a binary point, of 4 or 8 bytes in little-endian order; ``values`` has these bytes."""

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path, type_)
        self.minimum = 8 if type_.kind is PrimitiveKind.DOUBLE else 4
        self.form = struct.Struct("<d" if self.minimum == 8 else "<f")
        self.values = bytearray()

    def read(self, cursor: Cursor) -> None:
        """Read a value, whose bits are kept."""
        start = cursor.at
        raw = cursor.fixed(self.minimum, self.path, self.type.kind.value)
        if cursor.regions is not None:
            cursor.show(start, self.path, self.type.kind.value, str(*self.form.unpack(raw)), RegionKind.BUFFER)
        self.values += raw

    def cut(self, count: int) -> None:
        """Forget all but the first values."""
        del self.values[count * self.minimum :]


@dataclasses.dataclass(frozen=True, slots=True)
class _Range:
    """The values that a logical type has, both ends included, the rule on them, and how one is shown."""

    low: int
    high: int
    rule: AvroRule
    noun: str
    text: Callable[[int], str]


_LONG: Final = _Range(-(1 << 63), (1 << 63) - 1, AvroRule.VARINT_OVERFLOW, "long", str)
_RANGES: Final[Mapping[str, _Range]] = MappingProxyType(
    {
        "date": _Range(-719_162, 2_932_896, AvroRule.DATE_RANGE, "date", lambda value: date_text(value, "day")),
        "time-micros": _Range(
            0, 86_399_999_999, AvroRule.TIME_RANGE, "time", lambda value: moment_text(value, 1_000_000, skip=11)
        ),
        "timestamp-micros": _Range(
            -62_135_596_800_000_000,
            253_402_300_799_999_999,
            AvroRule.TIMESTAMP_RANGE,
            "timestamp",
            lambda value: moment_text(value, 1_000_000),
        ),
        "timestamp-nanos": dataclasses.replace(_LONG, text=lambda value: moment_text(value, 1_000_000_000)),
    }
)


class NumberColumn(LeafColumn):
    """Ints and longs; an int that has more than 32 bits cannot be read, and is 0."""

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path, type_)
        self.range = _RANGES.get(type_.logical, _LONG)
        self.narrow = type_.kind is PrimitiveKind.INT
        self.values = array.array("q")

    def read(self, cursor: Cursor) -> None:
        """Read a variable-length number."""
        start = cursor.at
        value = cursor.long(self.path, self.type.kind.value)
        if cursor.regions is not None:
            text = "" if self.range is _LONG else f" ({self.range.text(value)})"
            cursor.show(start, self.path, self.type.logical or self.type.kind.value, f"{value}{text}")
        if self.narrow and not -(1 << 31) <= value < 1 << 31:
            cursor.report(AvroRule.INT_RANGE, start, self.path, f"the int {value}")
            cursor.unreadable += 1
            value = 0
        elif not self.range.low <= value <= self.range.high:
            cursor.report(self.range.rule, start, self.path, f"the {self.range.noun} {value}")
        self.values.append(value)

    def cut(self, count: int) -> None:
        """Forget all but the first values."""
        del self.values[count:]
