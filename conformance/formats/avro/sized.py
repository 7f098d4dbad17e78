"""The columns of texts, bytes, decimals and DATETIMEs: a length, as many bytes, and what these bytes have to be."""

from __future__ import annotations

import abc
import array
import datetime as dt
import re
from typing import Final

from conformance.contain.text import many
from conformance.formats.avro.columnbuilders import LeafColumn
from conformance.formats.avro.cursor import Cursor
from conformance.formats.avro.rules import AvroRule
from conformance.formats.avro.types import AvroPrimitive, PrimitiveKind
from conformance.wire.closed import RegionKind
from conformance.wire.preview import decimal_text, shorten

__all__ = ["DateTimeColumn", "DecimalColumn", "SizedColumn"]

_SHOWN: Final = 24
"""Bytes of a value that an observation or the dump shows."""
_BITS: Final = 256
"""Bits of the widest decimal: those of a BIGNUMERIC."""
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # a civil time has no zone
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_DATETIME: Final = re.compile(rb"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?")


class _SizedColumn(LeafColumn):
    """Values that follow their own length."""

    noun = "text"

    def read(self, cursor: Cursor) -> None:
        """Read a length and as many bytes."""
        raw = cursor.sized(self.path, self.noun)
        start = cursor.at - len(raw)
        if cursor.regions is not None and raw:
            cursor.show(start, self.path, self.noun, self.shown(raw), RegionKind.STRING)
        self.add(cursor, start, raw)

    @abc.abstractmethod
    def add(self, cursor: Cursor, start: int, raw: bytes) -> None:
        """Keep the value of the bytes at ``start``."""

    def shown(self, raw: bytes) -> str:
        """The value in the dump."""
        if self.type.kind is PrimitiveKind.STRING:
            return repr(shorten(raw[: 4 * _SHOWN].decode(errors="replace")))
        return shorten(raw[:_SHOWN].hex(" ") + ("…" if len(raw) > _SHOWN else ""))


class SizedColumn(_SizedColumn):
    """Bytes and texts: ``lengths`` has the bytes of each value, ``data`` the bytes of all; a text that is not UTF-8
    cannot be read, and is empty.
    """

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path, type_)
        self.noun = "text" if type_.kind is PrimitiveKind.STRING else "bytes"
        self.lengths = array.array("q")
        self.data = bytearray()

    def add(self, cursor: Cursor, start: int, raw: bytes) -> None:
        """Keep the bytes."""
        if self.type.kind is PrimitiveKind.STRING and not raw.isascii():
            try:
                raw.decode()
            except UnicodeDecodeError as error:
                wrong = raw[error.start : error.start + _SHOWN].hex(" ")
                observed = f"{wrong} at byte {error.start} of a text of {many(len(raw), 'byte')}"
                cursor.report(AvroRule.UTF8, start, self.path, observed)
                cursor.unreadable += 1
                raw = b""
        self.lengths.append(len(raw))
        self.data += raw

    def cut(self, count: int) -> None:
        """Forget all but the first values."""
        del self.lengths[count:]
        del self.data[sum(self.lengths) :]


class DateTimeColumn(_SizedColumn):
    """DATETIMEs, as microseconds since 1970; a text that is no DATETIME cannot be read, and is 0."""

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path, type_)
        self.values = array.array("q")

    def add(self, cursor: Cursor, start: int, raw: bytes) -> None:
        """Keep the microseconds."""
        self.values.append(self.value(cursor, start, raw))

    def cut(self, count: int) -> None:
        """Forget all but the first values."""
        del self.values[count:]

    def value(self, cursor: Cursor, start: int, raw: bytes) -> int:
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


class DecimalColumn(_SizedColumn):
    """Decimals, as integers without their point, of ``width`` bytes in little-endian order; one with more bits than its
    Arrow type cannot be read, and is 0.
    """

    noun = "decimal"

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path, type_)
        self.bound = 10**type_.precision
        self.width = 16 if type_.precision <= 38 else _BITS // 8
        self.room = 1 << (8 * self.width - 1)
        self.values = bytearray()

    def shown(self, raw: bytes) -> str:
        """The number, unless it is much too long."""
        value = int.from_bytes(raw, "big", signed=True)
        return decimal_text(value, self.type.scale) if value.bit_length() < _BITS else super().shown(raw)

    def add(self, cursor: Cursor, start: int, raw: bytes) -> None:
        """Keep the unscaled integer."""
        self.values += self.value(cursor, start, raw).to_bytes(self.width, "little", signed=True)

    def cut(self, count: int) -> None:
        """Forget all but the first values."""
        del self.values[count * self.width :]

    def value(self, cursor: Cursor, start: int, raw: bytes) -> int:
        """The unscaled integer in the bytes at ``start``; its width is the writer's choice."""
        if not raw:
            cursor.report(AvroRule.DECIMAL_EMPTY, start, self.path, "a decimal without bytes")
            return 0
        value = int.from_bytes(raw, "big", signed=True)
        fits, exact = -self.room <= value < self.room, -self.bound < value < self.bound
        if fits and exact:
            return value
        shown = many(len(str(abs(value))), "digit") if value.bit_length() <= _BITS else f"more than {_BITS} bits"
        rule = AvroRule.DECIMAL_RANGE if exact else AvroRule.DECIMAL_DIGITS
        cursor.report(rule, start, self.path, f"a decimal of {shown} with a precision of {self.type.precision}")
        if fits:
            return value
        cursor.unreadable += 1
        return 0
