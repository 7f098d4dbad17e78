"""The columns of primitive types: each reads one value, and judges what its logical type says about it."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from conformance.contain.text import many
from conformance.formats.avro.columns import AvroColumn
from conformance.formats.avro.cursor import Cursor
from conformance.formats.avro.rules import AvroRule
from conformance.formats.avro.types import AvroPrimitive, PrimitiveKind
from conformance.wire.closed import RegionKind
from conformance.wire.preview import date_text, decimal_text, moment_text, shorten

__all__ = ["DateTimeColumn", "DecimalColumn", "LeafColumn", "NullColumn", "leaf_of"]

_SHOWN: Final = 24
"""Bytes of a value that an observation or the dump shows."""
_BITS: Final = 256
"""Bits of the widest decimal: those of a BIGNUMERIC."""
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # a civil time has no zone
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_DATETIME: Final = re.compile(rb"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?")


class LeafColumn(AvroColumn):
    """The values of a primitive type, in order."""

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path)
        self.type = type_
        self.values: list[Any] = []

    def cut(self, count: int) -> None:
        """Forget all but the first values."""
        del self.values[count:]


class NullColumn(LeafColumn):
    """Null outside a union, which takes no bytes."""

    minimum = 0
    free = 1

    def read(self, cursor: Cursor) -> None:  # noqa: ARG002  # the signature of every column
        """Nothing is there to be read."""
        self.values.append(None)


class BooleanColumn(LeafColumn):
    """Booleans; a byte other than 0 and 1 counts as true."""

    def read(self, cursor: Cursor) -> None:
        """Read a byte."""
        start = cursor.at
        value = cursor.byte(self.path, "boolean")
        if value > 1:
            cursor.report(AvroRule.BOOLEAN, start, self.path, f"the byte {value:02x}")
        if cursor.regions is not None:
            cursor.show(start, self.path, "boolean", "true" if value else "false")
        self.values.append(bool(value))


class RealColumn(LeafColumn):
    """Numbers with a binary point, of 4 or 8 bytes in little-endian order."""

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path, type_)
        self.minimum = 8 if type_.kind is PrimitiveKind.DOUBLE else 4
        self.form = struct.Struct("<d" if self.minimum == 8 else "<f")

    def read(self, cursor: Cursor) -> None:
        """Read a value, whose bits are kept."""
        start = cursor.at
        raw = cursor.fixed(self.minimum, self.path, self.type.kind.value)
        if cursor.regions is not None:
            cursor.show(start, self.path, self.type.kind.value, str(*self.form.unpack(raw)), RegionKind.BUFFER)
        self.values.append(raw)


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


class SizedColumn(LeafColumn):
    """Bytes and texts, kept as bytes; a text that is not UTF-8 cannot be read, and is empty."""

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path, type_)
        self.noun = "text" if type_.kind is PrimitiveKind.STRING else "bytes"

    def read(self, cursor: Cursor) -> None:
        """Read a length and as many bytes."""
        raw = cursor.sized(self.path, self.noun)
        start = cursor.at - len(raw)
        if cursor.regions is not None and raw:
            cursor.show(start, self.path, self.noun, self.shown(raw), RegionKind.STRING)
        self.values.append(self.value(cursor, start, raw))

    def shown(self, raw: bytes) -> str:
        """The value in the dump."""
        if self.type.kind is PrimitiveKind.STRING:
            return repr(shorten(raw[: 4 * _SHOWN].decode(errors="replace")))
        return shorten(raw[:_SHOWN].hex(" ") + ("…" if len(raw) > _SHOWN else ""))

    def value(self, cursor: Cursor, start: int, raw: bytes) -> Any:
        """The value of the bytes at ``start``."""
        if self.type.kind is PrimitiveKind.STRING and not raw.isascii():
            try:
                raw.decode()
            except UnicodeDecodeError as error:
                wrong = raw[error.start : error.start + _SHOWN].hex(" ")
                observed = f"{wrong} at byte {error.start} of a text of {many(len(raw), 'byte')}"
                cursor.report(AvroRule.UTF8, start, self.path, observed)
                cursor.unreadable += 1
                return b""
        return raw


class DateTimeColumn(SizedColumn):
    """DATETIMEs, as microseconds since 1970; a text that is no DATETIME cannot be read, and is 0."""

    def value(self, cursor: Cursor, start: int, raw: bytes) -> Any:
        """The microseconds of the text at ``start``."""
        if found := _DATETIME.fullmatch(raw):
            *parts, fraction = found.groups()
            try:
                moment = dt.datetime(*map(int, parts))  # type: ignore[arg-type]  # noqa: DTZ001  # no zone, on purpose
            except ValueError:
                pass
            else:
                return (moment - _EPOCH) // _MICROSECOND + int((fraction or b"").ljust(6, b"0"))
        observed = repr(shorten(raw[: 4 * _SHOWN].decode(errors="replace")))
        cursor.report(AvroRule.DATETIME_TEXT, start, self.path, f"the text {observed}")
        cursor.unreadable += 1
        return 0


class DecimalColumn(SizedColumn):
    """Decimals, as integers without their point; one that exceeds 256 bits cannot be read, and is 0."""

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path, type_)
        self.noun = "decimal"
        self.bound = 10**type_.precision

    def shown(self, raw: bytes) -> str:
        """The number, unless it is much too long."""
        value = int.from_bytes(raw, "big", signed=True)
        return decimal_text(value, self.type.scale) if value.bit_length() < _BITS else super().shown(raw)

    def value(self, cursor: Cursor, start: int, raw: bytes) -> Any:
        """The unscaled integer in the bytes at ``start``; its width is the writer's choice."""
        if not raw:
            cursor.report(AvroRule.DECIMAL_EMPTY, start, self.path, "a decimal without bytes")
            return 0
        value = int.from_bytes(raw, "big", signed=True)
        if -self.bound < value < self.bound:
            return value
        fits = value.bit_length() < _BITS
        digits = many(len(str(abs(value))), "digit") if fits else f"more than {_BITS} bits"
        observed = f"a decimal of {digits} with a precision of {self.type.precision}"
        cursor.report(AvroRule.DECIMAL_DIGITS, start, self.path, observed)
        # Decimals of 128 bits are kept if they fit, although they have too many digits.
        if value.bit_length() < (128 if self.type.precision <= 38 else _BITS):
            return value
        cursor.unreadable += 1
        return 0


_LEAVES: Final[Mapping[PrimitiveKind, type[LeafColumn]]] = MappingProxyType(
    {
        PrimitiveKind.NULL: NullColumn,
        PrimitiveKind.BOOLEAN: BooleanColumn,
        PrimitiveKind.INT: NumberColumn,
        PrimitiveKind.LONG: NumberColumn,
        PrimitiveKind.FLOAT: RealColumn,
        PrimitiveKind.DOUBLE: RealColumn,
        PrimitiveKind.BYTES: SizedColumn,
        PrimitiveKind.STRING: SizedColumn,
    }
)


def leaf_of(made: AvroPrimitive, path: str) -> LeafColumn:
    """An empty column of a primitive type."""
    if made.logical == "decimal":
        return DecimalColumn(path, made)
    if made.logical == "datetime":
        return DateTimeColumn(path, made)
    return _LEAVES[made.kind](path, made)
