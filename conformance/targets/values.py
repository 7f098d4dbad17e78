"""Cells in the forms of BigQuery's REST API: those that insertAll accepts, and those that tabledata.list returns.

The second direction protects the Storage API from blame: a value that was changed while it was *inserted* must not
count against *reading*. The comparison is therefore exact for types with an exact text in REST. It never guesses: if
the form of a type's text is free, only the NULLs of its columns, and of the items of arrays, are compared.

Sources: https://cloud.google.com/bigquery/docs/reference/rest/v2/tabledata (insertAll, list; ``useInt64Timestamp``),
https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types (canonical texts of INTERVAL and RANGE).
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import enum
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from conformance.contain.parse import ForeignJsonError, parse_json
from conformance.records import BqType, Column, Mode

__all__ = [
    "Instants",
    "Unreadable",
    "case_value",
    "interval_text",
    "listed_cell",
    "listed_value",
    "rest_schema",
    "rest_value",
    "without_absent_arrays",
]

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # civil time on purpose: a DATETIME has no zone
_INTERVAL: Final = re.compile(r"([+-]?)(\d+)-(\d+) ([+-]?\d+) ([+-]?)(\d+):(\d+):(\d+)(?:\.(\d{1,6}))?")
_RANGE: Final = re.compile(r"\[(.+), (.+)\)")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?")
_LONG_TEXTS: Final = frozenset({BqType.STRING, BqType.BYTES, BqType.JSON, BqType.GEOGRAPHY})
_SHORT_TEXT: Final = 200
"""Characters of a number, an instant or a range: a BIGNUMERIC has 78, a RANGE of timestamps about 70."""
_JSON_DEPTH: Final = 100
"""Levels of a JSON value that is compared; BigQuery accepts 500, too many for Python's stack."""
_JSON_VALUES: Final = 100_000
_EXACT_DOUBLES: Final = 1 << 51
"""Microseconds up to which a double of seconds can represent each microsecond."""
_UNBOUNDED: Final = frozenset({"UNBOUNDED", "NULL"})


class Instants(enum.StrEnum):
    """The forms of instants, which REST leaves open in part; a table that fits one of them is accepted."""

    MICROS = "micros"
    """Whole numbers are microseconds, as ``useInt64Timestamp`` requests; other numbers are seconds."""
    SECONDS = "seconds"
    """Whole numbers are seconds: the server ignores ``useInt64Timestamp``."""
    DOUBLES = "doubles"
    """As micros, but via a double of seconds: instants that it cannot represent are compared by their sign alone."""


class Unreadable(ValueError):  # noqa: N818  # describes the text
    """A REST text without a known way to its exact value."""


# --- inserting ------------------------------------------------------------------------------------


def rest_schema(column: Column) -> dict[str, Any]:
    """The TableFieldSchema of ``column``; its numbers are strings, because Google's JSON writes int64 as strings."""
    field: dict[str, Any] = {"name": column.name, "type": column.type.value, "mode": column.mode.value}
    if column.fields:
        field["fields"] = [rest_schema(child) for child in column.fields]
    if column.range_of is not None:
        field["rangeElementType"] = {"type": column.range_of.value}
    limits = {"precision": column.precision, "scale": column.scale, "maxLength": column.max_length}
    return field | {key: str(limit) for key, limit in limits.items() if limit is not None}


def rest_value(column: Column, value: Any) -> Any:
    """``value`` (the JSON form of a case's cell) in the form for insertAll."""
    if column.mode is Mode.REPEATED:
        return [_rest_item(column, item) for item in value or ()]
    return None if value is None else _rest_item(column, value)


def _rest_item(column: Column, value: Any) -> Any:
    if column.fields:
        written = {child.name: rest_value(child, value.get(child.name)) for child in column.fields}
        return written if len(value) == len(written) else without_absent_arrays(column.fields, value, written)
    write = _REST.get(column.type)
    return value if write is None else write(value)


def without_absent_arrays(columns: Sequence[Column], row: Mapping[str, Any], written: dict[str, Any]) -> dict[str, Any]:
    """``written`` without the arrays that ``row`` does not have: BigQuery makes them empty, and so must a server."""
    absent = {column.name for column in columns if column.mode is Mode.REPEATED and column.name not in row}
    return {name: value for name, value in written.items() if name not in absent}


def interval_text(value: Mapping[str, int]) -> str:
    """``{"months", "days", "micros"}`` as ``[-]Y-M [-]D [-]H:M:S[.F]``: each part has its own sign."""
    months, days, micros = value.get("months", 0), value.get("days", 0), value.get("micros", 0)
    years, month = divmod(abs(months), 12)
    seconds, fraction = divmod(abs(micros), 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    time = f"{'-' if micros < 0 else ''}{hour}:{minute}:{second}" + (f".{fraction:06d}" if fraction else "")
    return f"{'-' if months < 0 else ''}{years}-{month} {days} {time}"


_REST: Final[Mapping[BqType, Callable[[Any], str]]] = {BqType.INT64: str, BqType.INTERVAL: interval_text}
"""Types whose form for insertAll differs from that of a case."""


# --- listing --------------------------------------------------------------------------------------


def case_value(column: Column, value: Any, instants: Instants = Instants.MICROS) -> Hashable:
    """``value`` of a case in a form that compares equal exactly if BigQuery's values are equal.

    Raises :class:`Unreadable` if that would cost too much, for example for JSON of a hundred levels.
    """
    if column.mode is Mode.REPEATED:
        return tuple(_case_item(column, item, instants) for item in value or ())
    return None if value is None else _case_item(column, value, instants)


def _case_item(column: Column, value: Any, instants: Instants) -> Hashable:
    if column.type is BqType.RECORD:
        return tuple(case_value(child, value.get(child.name), instants) for child in column.fields)
    if column.type is BqType.RANGE:
        assert column.range_of is not None
        ends = (value.get("start"), value.get("end"))
        return tuple(None if end is None else _case_text(column.range_of, end, instants) for end in ends)
    return _case_text(column.type, value, instants)


def _case_text(kind: BqType, value: Any, instants: Instants) -> Hashable:
    return _instant(value, instants) if kind is BqType.TIMESTAMP else _CASE[kind](value)


def listed_cell(column: Column, value: Any) -> Any:
    """The ``tabledata.list`` cell of ``value`` of a case, as BigQuery writes most of them.

    A cell that is equal to it holds the value. A different cell may hold the same value in another spelling.
    """
    if column.mode is Mode.REPEATED:
        return {"v": [{"v": _written(column, item)} for item in value or ()]}
    return {"v": None if value is None else _written(column, value)}


def _written(column: Column, value: Any) -> Any:
    if column.fields:
        return {"f": [listed_cell(child, value.get(child.name)) for child in column.fields]}
    write = _WRITTEN.get(column.type)
    return value if write is None else write(value)


def listed_value(column: Column, cell: Any, instants: Instants = Instants.MICROS) -> Hashable:
    """The value in a tabledata.list ``cell`` (``{"v": …}``), in the form of :func:`case_value`.

    Raises :class:`Unreadable` if the text has no known form.
    """
    value = cell["v"] if isinstance(cell, Mapping) and "v" in cell else cell
    if column.mode is Mode.REPEATED:
        if not isinstance(value, list | None):
            raise Unreadable(f"expected a list but got {type(value).__name__}")
        return tuple(
            _listed_item(column, item["v"] if isinstance(item, Mapping) and "v" in item else item, instants)
            for item in value or ()
        )
    return _listed_item(column, value, instants)


def _listed_item(column: Column, value: Any, instants: Instants) -> Hashable:
    if value is None:  # also as an item of an array: no table of a case has it there, so the server changed a value
        return None
    if column.type is BqType.RECORD:
        cells = value.get("f") if isinstance(value, Mapping) else None
        if not isinstance(cells, list) or len(cells) != len(column.fields):
            raise Unreadable(f"expected an object with {len(column.fields)} cells")
        return tuple(listed_value(child, cell, instants) for child, cell in zip(column.fields, cells, strict=True))
    if not isinstance(value, str):
        raise Unreadable(f"expected text but got {type(value).__name__}")
    if len(value) > _SHORT_TEXT and column.type not in _LONG_TEXTS:
        raise Unreadable(f"expected at most {_SHORT_TEXT} characters but got {len(value)}")
    try:
        if column.type is BqType.RANGE:
            assert column.range_of is not None
            return _range(column.range_of, value, instants)
        return _text(column.type, value, instants)
    except (ValueError, binascii.Error, OverflowError, ZeroDivisionError) as error:
        raise Unreadable(str(error)) from None


def _text(kind: BqType, text: str, instants: Instants) -> Hashable:
    return _timestamp(text, instants) if kind is BqType.TIMESTAMP else _LISTED[kind](text)


def _range(kind: BqType, text: str, instants: Instants) -> Hashable:
    matched = _RANGE.fullmatch(text)
    if matched is None:
        raise Unreadable(f"expected [start, end) but got {text!r}")
    return tuple(None if end.upper() in _UNBOUNDED else _text(kind, end, instants) for end in matched.groups())


def _float(value: Any) -> Hashable:
    number = float(value)
    return repr(number)  # distinguishes -0.0 from 0.0, and makes NaN equal to itself


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise Unreadable(f"expected true or false but got {text!r}")
    return text.lower() == "true"


def _micros(value: dt.datetime) -> int:
    return (value - _EPOCH) // dt.timedelta(microseconds=1)


def _datetime(text: str) -> int:
    return _micros(dt.datetime.fromisoformat(text))


def _instant(text: str, instants: Instants) -> Hashable:
    return _moment(_utc_micros(text), instants)


def _utc_micros(text: str) -> int:
    value = dt.datetime.fromisoformat(text)
    zone = value.tzinfo or dt.UTC
    return _micros(value.replace(tzinfo=zone).astimezone(dt.UTC).replace(tzinfo=None))


def _moment(micros: int, instants: Instants) -> Hashable:
    """An instant as the double that REST writes by default; both sides are rounded to it."""
    if instants is Instants.DOUBLES and abs(micros) > _EXACT_DOUBLES:
        return "far future" if micros > 0 else "far past"
    return micros / 1e6


def _timestamp(text: str, instants: Instants) -> Hashable:
    if re.fullmatch(r"-?\d+", text) and instants is not Instants.SECONDS:
        return _moment(int(text), instants)
    try:
        seconds = float(text)
    except ValueError:
        return _instant(text, instants)
    return _moment(round(seconds * 1e6), instants) if instants is Instants.DOUBLES else seconds


def _interval(text: str) -> Hashable:
    matched = _INTERVAL.fullmatch(text)
    if matched is None:
        raise Unreadable(f"expected an INTERVAL but got {text!r}")
    sign, years, months, days, time_sign, hours, minutes, seconds, fraction = matched.groups()
    micros = ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 1_000_000 + int((fraction or "0").ljust(6, "0"))
    whole = int(years) * 12 + int(months)
    return (-whole if sign == "-" else whole, int(days), -micros if time_sign == "-" else micros)


def _number(text: str) -> Fraction:
    """The exact number; refuses large exponents, because 1e999999999 has as many digits."""
    if not _NUMBER.fullmatch(text):
        raise Unreadable("expected a number with an exponent of four digits or fewer")
    return Fraction(text)


def _json(text: str) -> Hashable:
    """A JSON text without regard to white space, key order and the spelling of numbers."""
    try:
        return _frozen(parse_json(text.encode(), depth=_JSON_DEPTH, values=_JSON_VALUES, numbers=_number))
    except ForeignJsonError as error:
        raise Unreadable(str(error)) from None


def _frozen(value: Any) -> Hashable:
    if isinstance(value, dict):
        return ("object", frozenset((key, _frozen(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(_frozen(item) for item in value))
    return (type(value).__name__, value)


def _free(text: str) -> Hashable:
    raise Unreadable(f"{text!r} is free in form")


_WRITTEN: Final[Mapping[BqType, Callable[[Any], str]]] = {
    BqType.INT64: str,
    BqType.FLOAT64: lambda value: value if isinstance(value, str) else repr(float(value)),
    BqType.BOOL: lambda value: "true" if value else "false",
    BqType.TIMESTAMP: lambda text: str(_utc_micros(text)),
    BqType.INTERVAL: interval_text,
}
"""Types whose texts in a listing are not those of a case; a RANGE is read."""

_ALIKE: Final[Mapping[BqType, Callable[[Any], Hashable]]] = {
    BqType.INT64: int,
    BqType.FLOAT64: _float,
    BqType.STRING: str,
    BqType.BYTES: _bytes,
    BqType.DATE: dt.date.fromisoformat,
    BqType.DATETIME: _datetime,
    BqType.TIME: dt.time.fromisoformat,
    BqType.NUMERIC: _number,
    BqType.BIGNUMERIC: _number,
    BqType.JSON: _json,
}
"""Types whose texts in a case and in ``tabledata.list`` are so similar that one function reads both."""

_CASE: Final[Mapping[BqType, Callable[[Any], Hashable]]] = {
    **_ALIKE,
    BqType.BOOL: bool,
    BqType.GEOGRAPHY: str,
    BqType.INTERVAL: lambda value: (value.get("months", 0), value.get("days", 0), value.get("micros", 0)),
}

_LISTED: Final[Mapping[BqType, Callable[[str], Hashable]]] = {
    **_ALIKE,
    BqType.BOOL: _bool,
    BqType.GEOGRAPHY: _free,
    BqType.INTERVAL: _interval,
}
