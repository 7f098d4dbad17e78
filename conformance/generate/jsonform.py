"""The JSON form of a value, both ways: one row per BigQuery type.

The forms are those of :class:`conformance.records.Table`. This module defines how a single value of a scalar type is
read into the raw form that Arrow stores, and how it is shown again; other modules handle rows and nesting.
Everything is exact: decimals are integers of their unscaled digits, times are integers of microseconds.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import datetime as dt
import decimal
import json
import math
import re
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa

from conformance.contract.mapping import decimal_parameters
from conformance.records import BqType, Column

__all__ = ["FORMS", "JsonForm", "NotAValueError"]


class NotAValueError(ValueError):
    """The JSON value is not a value of its type; ``expected`` describes one."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


@dataclasses.dataclass(frozen=True, slots=True)
class JsonForm:
    """The functions that read and show the values of one type.

    ``dtype`` is numpy's type of a raw value of fixed width; None means bytes of any length.
    ``read`` returns the raw value of a JSON value and raises :class:`NotAValueError`;
    ``show`` returns the JSON value of pyarrow's Python value for the array viewed as ``shown_as`` (None: not
    viewed).
    """

    dtype: str | None
    read: Callable[[Column, Any], Any]
    show: Callable[[Any], Any] = lambda value: value
    shown_as: pa.DataType | None = None


INT64_MIN: Final = -(1 << 63)
INT64_MAX: Final = (1 << 63) - 1
EPOCH: Final = dt.date(1970, 1, 1).toordinal()
DAY: Final = 86_400_000_000
"""The microseconds of a day."""

_DATE = r"(\d{4})-(\d\d)-(\d\d)"
_TIME = r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?"
_DATE_TEXT: Final = re.compile(_DATE)
_TIME_TEXT: Final = re.compile(_TIME)
_DATETIME_TEXT: Final = re.compile(f"{_DATE}T{_TIME}")
_TIMESTAMP_TEXT: Final = re.compile(f"{_DATE}T{_TIME}Z")

_FLOAT_NAMES: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _int64(_column: Column, value: Any) -> int:
    if type(value) is int and INT64_MIN <= value <= INT64_MAX:
        return value
    raise NotAValueError("an integer of 64 bits")


def _float64(_column: Column, value: Any) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is int and abs(value) <= 1 << 53:
        return float(value)
    if isinstance(value, str) and value in _FLOAT_NAMES:
        return _FLOAT_NAMES[value]
    raise NotAValueError('a number, "NaN", "Infinity" or "-Infinity"')


def _show_float64(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return next(name for name, named in _FLOAT_NAMES.items() if named == value or math.isnan(value))


def _bool(_column: Column, value: Any) -> bool:
    if type(value) is bool:
        return value
    raise NotAValueError("true or false")


def _string(column: Column, value: Any) -> bytes:
    if type(value) is not str:
        raise NotAValueError("a string")
    if column.max_length is not None and len(value) > column.max_length:
        raise NotAValueError(f"a string of at most {column.max_length} characters")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise NotAValueError("a string without lone surrogates") from None


def _json_text(column: Column, value: Any) -> bytes:
    text = _string(column, value)
    try:
        json.loads(text)
    except ValueError:
        raise NotAValueError("a string that holds a JSON text") from None
    return text


def _bytes(column: Column, value: Any) -> bytes:
    try:
        raw = base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise NotAValueError("base64 text") from None
    if column.max_length is not None and len(raw) > column.max_length:
        raise NotAValueError(f"base64 text of at most {column.max_length} bytes")
    return raw


def _groups(pattern: re.Pattern[str], value: Any, expected: str) -> list[str]:
    match = pattern.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise NotAValueError(expected)
    return [group or "" for group in match.groups()]


def _days(groups: list[str], expected: str) -> int:
    try:
        return dt.date(*map(int, groups)).toordinal() - EPOCH
    except ValueError:
        raise NotAValueError(expected) from None


def _micros(groups: list[str], expected: str) -> int:
    hours, minutes, seconds = map(int, groups[:3])
    if hours > 23 or minutes > 59 or seconds > 59:
        raise NotAValueError(expected)
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + int(groups[3].ljust(6, "0"))


def _date(_column: Column, value: Any) -> int:
    expected = "a date as YYYY-MM-DD"
    return _days(_groups(_DATE_TEXT, value, expected), expected)


def _time(_column: Column, value: Any) -> int:
    expected = "a time as HH:MM:SS[.ffffff]"
    return _micros(_groups(_TIME_TEXT, value, expected), expected)


def _instant(pattern: re.Pattern[str], expected: str) -> Callable[[Column, Any], int]:
    def read(_column: Column, value: Any) -> int:
        groups = _groups(pattern, value, expected)
        return _days(groups[:3], expected) * DAY + _micros(groups[3:], expected)

    return read


def _show_date(days: int) -> str:
    return dt.date.fromordinal(days + EPOCH).isoformat()


def _show_time(micros: int) -> str:
    seconds, fraction = divmod(micros, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{clock}.{fraction:06}" if fraction else clock


def _show_datetime(micros: int) -> str:
    days, rest = divmod(micros, DAY)
    return f"{_show_date(days)}T{_show_time(rest)}"


def _unscaled(column: Column, value: Any, *, least: int, most: int) -> int:
    """Return the digits of a decimal string as one integer; refuses values that would have to be rounded."""
    precision, scale = decimal_parameters(column)
    expected = f"a decimal string within precision {precision} and scale {scale}"
    try:
        sign, digits, exponent = decimal.Decimal(value if isinstance(value, str) else "").as_tuple()
    except decimal.InvalidOperation:
        raise NotAValueError(expected) from None
    if not isinstance(exponent, int) or max(abs(exponent), len(digits)) > 10 * precision:
        raise NotAValueError(expected)
    whole: int = int("".join(map(str, digits)) or "0") * (-1 if sign else 1)
    places = exponent + scale
    power: int = 10 ** abs(places)
    unscaled, rest = (whole * power, 0) if places >= 0 else divmod(whole, power)
    if rest or not least <= unscaled <= most:
        raise NotAValueError(expected)
    return unscaled


def _numeric(column: Column, value: Any) -> bytes:
    most = 10 ** decimal_parameters(column)[0] - 1
    return _unscaled(column, value, least=-most, most=most).to_bytes(16, "little", signed=True)


def _bignumeric(column: Column, value: Any) -> bytes:
    # Without parameters the type holds every 256-bit integer over 10^38, so its 77th digit cannot have every value.
    most = (1 << 255) - 1 if column.precision is None else 10**column.precision - 1
    least = -(1 << 255) if column.precision is None else -most
    return _unscaled(column, value, least=least, most=most).to_bytes(32, "little", signed=True)


def _show_decimal(value: decimal.Decimal) -> str:
    shown = format(value, "f")
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


_INTERVAL_KEYS: Final = ("months", "days", "micros")
_MAX_MICROS: Final = INT64_MAX // 1000
"""The service sends an interval's time as nanoseconds; a time that exceeds 64 bits of them has no Arrow form."""


def _interval(_column: Column, value: Any) -> bytes:
    expected = f"an object of integers {', '.join(_INTERVAL_KEYS)} (micros at most {_MAX_MICROS} either way)"
    if not isinstance(value, Mapping) or set(value) != set(_INTERVAL_KEYS):
        raise NotAValueError(expected)
    months, days, micros = (value[key] for key in _INTERVAL_KEYS)
    if any(type(part) is not int for part in (months, days, micros)) or abs(micros) > _MAX_MICROS:
        raise NotAValueError(expected)
    try:
        return struct.pack("<iiq", months, days, micros * 1000)
    except struct.error:
        raise NotAValueError(expected) from None


def _show_interval(value: Any) -> dict[str, int]:
    months, days, nanos = value
    return dict(zip(_INTERVAL_KEYS, (months, days, nanos // 1000), strict=True))


_DATETIME = _instant(_DATETIME_TEXT, "a datetime as YYYY-MM-DDTHH:MM:SS[.ffffff]")
_TIMESTAMP = _instant(_TIMESTAMP_TEXT, "a timestamp as YYYY-MM-DDTHH:MM:SS[.ffffff]Z")

FORMS: Final[Mapping[BqType, JsonForm]] = MappingProxyType(
    {
        BqType.INT64: JsonForm("<i8", _int64),
        BqType.FLOAT64: JsonForm("<f8", _float64, _show_float64),
        BqType.BOOL: JsonForm("?", _bool),
        BqType.STRING: JsonForm(None, _string),
        BqType.BYTES: JsonForm(None, _bytes, lambda value: base64.b64encode(value).decode()),
        BqType.DATE: JsonForm("<i4", _date, _show_date, pa.int32()),
        BqType.DATETIME: JsonForm("<i8", _DATETIME, _show_datetime, pa.int64()),
        BqType.TIME: JsonForm("<i8", _time, _show_time, pa.int64()),
        BqType.TIMESTAMP: JsonForm("<i8", _TIMESTAMP, lambda micros: _show_datetime(micros) + "Z", pa.int64()),
        BqType.NUMERIC: JsonForm("V16", _numeric, _show_decimal),
        BqType.BIGNUMERIC: JsonForm("V32", _bignumeric, _show_decimal),
        BqType.JSON: JsonForm(None, _json_text),
        BqType.GEOGRAPHY: JsonForm(None, _string),
        BqType.INTERVAL: JsonForm("V16", _interval, _show_interval),
    }
)
"""The forms of every scalar type; RANGE and RECORD consist of these."""
