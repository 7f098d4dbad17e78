"""Cells of the REST API: what ``tabledata.insertAll`` takes and ``tabledata.list`` gives.

A cell is read into the value form of :class:`conformance.records.Table`, in every spelling that the service takes;
the forms become Arrow in :mod:`conformance.generate.materialise`. Source: "Data types" of the BigQuery SQL reference
and https://cloud.google.com/bigquery/docs/reference/rest/v2/tabledata.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import decimal
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from conformance.contract import mapping
from conformance.protocols.storage_read.reference import texts
from conformance.records import BqType, Column, Mode

__all__ = ["CellError", "RowReader", "cell_writer"]

_INT64: Final = range(-(1 << 63), 1 << 63)
_BIGNUMERIC_UNITS: Final = range(-(1 << 255), 1 << 255)
_FLOATS: Final = MappingProxyType(
    {"nan": "NaN", "inf": "Infinity", "infinity": "Infinity", "-inf": "-Infinity", "-infinity": "-Infinity"}
)
_JSON_SPACE: Final = re.compile(r'("(?:[^"\\]|\\.)*")|\s+', re.DOTALL)
_WKT: Final = re.compile(
    r"(POINT|LINESTRING|POLYGON|MULTIPOINT|MULTILINESTRING|MULTIPOLYGON|GEOMETRYCOLLECTION)\s*(\(.+\)|EMPTY)",
    re.IGNORECASE | re.DOTALL,
)
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_EXACT: Final = decimal.Context(prec=200, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


class CellError(Exception):
    """A cell is refused: ``location`` is the dotted path of its column, ``message`` the reason."""

    def __init__(self, location: str, message: str) -> None:
        super().__init__(f"{location}: {message}")
        self.location = location
        self.message = message


class RowReader:
    """Reads the rows of insertAll for one table as value forms, keyed by the table's own column names.

    Called with a row, raises :class:`CellError`: a value does not fit its column, a REQUIRED one is missing, or a key
    names no column.
    """

    def __init__(self, columns: Sequence[Column], *, ignore_unknown: bool = False, path: str = "") -> None:
        self._path = path
        self._known = None if ignore_unknown else frozenset(column.name.lower() for column in columns)
        self._names = frozenset(column.name for column in columns)
        self._cells = [
            (column.name, column.name.lower(), _cell_reader(column, path, ignore_unknown=ignore_unknown))
            for column in columns
        ]

    def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row, read as a value form for each column; see the class for the errors."""
        if row.keys() <= self._names:  # as the table spells them, which takes half the time
            return {name: read(row.get(name)) for name, _, read in self._cells}
        given = {key.lower(): value for key, value in row.items()}
        if self._known is not None and not given.keys() <= self._known:
            key = next(key for key in row if key.lower() not in self._known)
            raise CellError(f"{self._path}{key}", f"no such field: {self._path}{key}.")
        return {name: read(given.get(lower)) for name, lower, read in self._cells}


def _cell_reader(column: Column, path: str, *, ignore_unknown: bool) -> Callable[[Any], Any]:
    """Return the function that reads a cell of the column; it serves all rows of a table."""
    location = f"{path}{column.name}"
    value_of = _value_reader(column, location, ignore_unknown=ignore_unknown)

    def repeated(value: Any) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, list):
            raise CellError(location, "Array specified for non-repeated field is missing: expected an array.")
        if None in value:
            raise CellError(location, "Only optional fields can be set to NULL.")
        return [value_of(item) for item in value]

    def required(value: Any) -> Any:
        if value is None:
            raise CellError(location, f"Missing required field: {location}.")
        return value_of(value)

    def nullable(value: Any) -> Any:
        return None if value is None else value_of(value)

    return {Mode.REPEATED: repeated, Mode.REQUIRED: required, Mode.NULLABLE: nullable}[column.mode]


def _value_reader(column: Column, location: str, *, ignore_unknown: bool) -> Callable[[Any], Any]:
    if column.type is BqType.RECORD:
        fields = RowReader(column.fields, ignore_unknown=ignore_unknown, path=f"{location}.")

        def record(value: Any) -> dict[str, Any]:
            if not isinstance(value, dict):
                raise CellError(location, f"expected an object for a RECORD, got {value!r}")
            return fields(value)

        return record
    read = _READERS[column.type]

    def single(value: Any) -> Any:
        try:
            return read(value, column)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise CellError(location, str(error)) from None

    return single


# --- one reader per type --------------------------------------------------------------------------


def _text(value: Any, kind: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a string for {kind}, got {value!r}")
    return value


def _read_int64(value: Any, _column: Column) -> Any:
    kind = type(value)
    if kind not in (str, int, float):
        raise TypeError(f"Cannot convert value to integer: expected an integer, got {value!r}")
    number = int(value)
    if kind is float and number != value:
        raise ValueError(f"Cannot convert value to integer: {value!r} has a fraction")
    if number not in _INT64:
        raise ValueError(f"Cannot convert value to integer: {value!r} exceeds 64 bits")
    return number


def _read_float64(value: Any, _column: Column) -> Any:
    if type(value) not in (float, int, str):
        raise TypeError(f"Cannot convert value to floating point: {value!r}")
    if isinstance(value, str) and value.lower().removeprefix("+") in _FLOATS:
        return _FLOATS[value.lower().removeprefix("+")]
    number = float(value)
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    return number


def _read_bool(value: Any, _column: Column) -> Any:
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise TypeError(f"Cannot convert value to boolean: {value!r}")
    return value


def _read_string(value: Any, column: Column) -> Any:
    if type(value) in (bool, int, float):
        value = json.dumps(value)
    text = _text(value, "STRING")
    text.encode()  # a lone surrogate is no text
    if column.max_length is not None and len(text) > column.max_length:
        raise ValueError(f"expected at most {column.max_length} characters, got {len(text)}")
    return text


def _read_bytes(value: Any, column: Column) -> Any:
    text = _text(value, "BYTES (base64)")
    try:
        data = base64.b64decode(text.translate({ord("-"): "+", ord("_"): "/"}), validate=True)
    except binascii.Error as error:
        raise ValueError(f"Cannot decode base64: {error}") from None
    if column.max_length is not None and len(data) > column.max_length:
        raise ValueError(f"expected at most {column.max_length} bytes, got {len(data)}")
    return base64.b64encode(data).decode()


def _read_decimal(value: Any, column: Column) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(f"Invalid {column.type} value: {value!r}")
    try:
        number = decimal.Decimal(repr(value) if isinstance(value, float) else str(value).strip())
    except decimal.InvalidOperation:
        raise ValueError(f"Invalid {column.type} value: {value!r}") from None
    if not number.is_finite():
        raise ValueError(f"Invalid {column.type} value: {value!r}")
    precision, scale = mapping.decimal_parameters(column)
    units = _EXACT.scaleb(number, scale)
    if units != (whole := _EXACT.to_integral_value(units)):
        raise ValueError(f"Invalid {column.type} value: {value!r} has more than {scale} fractional digits")
    full_range = column.type is BqType.BIGNUMERIC and column.precision is None
    fits = int(whole) in _BIGNUMERIC_UNITS if full_range else abs(int(whole)) < 10**precision
    if not fits:
        raise ValueError(f"Invalid {column.type} value: {value!r} exceeds precision {precision} at scale {scale}")
    return f"{number:f}"


def _read_date(value: Any, _column: Column) -> Any:
    return texts.format_date(texts.read_date(_text(value, "DATE")))


def _read_time(value: Any, _column: Column) -> Any:
    return texts.format_time(texts.read_time(_text(value, "TIME")))


def _read_datetime(value: Any, _column: Column) -> Any:
    return texts.format_datetime(texts.read_datetime(_text(value, "DATETIME").removesuffix("Z")))


def _read_timestamp(value: Any, _column: Column) -> Any:
    if isinstance(value, str) and "-" in value[1:]:
        return texts.format_timestamp(texts.read_timestamp(value))
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(f"expected a TIMESTAMP as text or seconds, got {value!r}")
    seconds = decimal.Decimal(repr(value) if isinstance(value, float) else value)
    return texts.format_timestamp(int(_EXACT.to_integral_value(_EXACT.scaleb(seconds, 6))))


def _read_json(value: Any, _column: Column) -> Any:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    json.loads(value, parse_constant=_no_constant)
    return _JSON_SPACE.sub(lambda match: match.group(1) or "", value)


def _no_constant(name: str) -> None:
    raise ValueError(f"expected JSON, got {name}")


def _read_geography(value: Any, _column: Column) -> Any:
    text = _text(value, "GEOGRAPHY (WKT)").strip()
    match = _WKT.fullmatch(text)
    if match is None or text.count("(") != text.count(")"):
        raise ValueError(f"expected a GEOGRAPHY as WKT, got {text!r}")
    kind, body = match.group(1).upper(), match.group(2)
    if body.upper() == "EMPTY":
        return "GEOMETRYCOLLECTION EMPTY"
    tight = re.sub(r"\s*([()])\s*", r"\1", re.sub(r"\s+", " ", body))
    return kind + re.sub(r"\s*,\s*", ", ", tight)


def _read_interval(value: Any, _column: Column) -> Any:
    months, days, micros = texts.read_interval(_text(value, "INTERVAL"))
    return {"months": months, "days": days, "micros": micros}


def _read_range(value: Any, column: Column) -> Any:
    start, end = _bounds(value)
    assert column.range_of is not None
    read = _READERS[column.range_of]
    forms = [None if bound is None else read(bound, column) for bound in (start, end)]
    # The forms of each of these types sort as their values do, but for a fraction: compare without the final Z.
    if None not in forms and str(forms[0]).removesuffix("Z") >= str(forms[1]).removesuffix("Z"):
        raise ValueError(f"expected a RANGE that starts before its end, got {value!r}")
    return {"start": forms[0], "end": forms[1]}


def _bounds(value: Any) -> tuple[Any, Any]:
    if isinstance(value, str):
        return texts.read_range(value)
    if not isinstance(value, dict) or set(value) - {"start", "end"}:
        raise TypeError(f'expected a RANGE as {{"start", "end"}} or text, got {value!r}')
    unbounded = (None, "UNBOUNDED", "NULL")
    return tuple(None if value.get(name) in unbounded else value[name] for name in ("start", "end"))  # type: ignore[return-value]  # two names


_READERS: Final[Mapping[BqType, Callable[[Any, Column], Any]]] = MappingProxyType(
    {
        BqType.INT64: _read_int64,
        BqType.FLOAT64: _read_float64,
        BqType.BOOL: _read_bool,
        BqType.STRING: _read_string,
        BqType.BYTES: _read_bytes,
        BqType.NUMERIC: _read_decimal,
        BqType.BIGNUMERIC: _read_decimal,
        BqType.DATE: _read_date,
        BqType.TIME: _read_time,
        BqType.DATETIME: _read_datetime,
        BqType.TIMESTAMP: _read_timestamp,
        BqType.JSON: _read_json,
        BqType.GEOGRAPHY: _read_geography,
        BqType.INTERVAL: _read_interval,
        BqType.RANGE: _read_range,
    }
)


# --- writing --------------------------------------------------------------------------------------


def cell_writer(column: Column, *, int64_timestamps: bool = False) -> Callable[[Any], dict[str, Any]]:
    """Return the function that turns a stored value, as pyarrow's ``as_py`` gives it, into a cell of tabledata.list."""
    write = _value_writer(column, int64_timestamps=int64_timestamps)
    if column.mode is Mode.REPEATED:
        return lambda value: {"v": [{"v": None if item is None else write(item)} for item in value]}
    return lambda value: {"v": None if value is None else write(value)}


def _value_writer(column: Column, *, int64_timestamps: bool) -> Callable[[Any], Any]:
    if column.type is BqType.RECORD:
        fields = [(field.name, cell_writer(field, int64_timestamps=int64_timestamps)) for field in column.fields]
        return lambda value: {"f": [write(value[name]) for name, write in fields]}
    if column.type is BqType.RANGE:
        assert column.range_of is not None
        write = _value_writer(Column(column.name, column.range_of), int64_timestamps=int64_timestamps)

        def bounds(value: Any) -> str:
            start, end = ("UNBOUNDED" if (at := value[name]) is None else write(at) for name in ("start", "end"))
            return f"[{start}, {end})"

        return bounds
    if column.type is BqType.TIMESTAMP:
        return _write_micros if int64_timestamps else _write_seconds
    return _WRITERS.get(column.type, str)


def _write_micros(value: dt.datetime) -> str:
    return str((value - _EPOCH) // dt.timedelta(microseconds=1))


def _write_seconds(value: dt.datetime) -> str:
    return f"{decimal.Decimal((value - _EPOCH) // dt.timedelta(microseconds=1)).scaleb(-6, _EXACT):f}"


def _write_float64(value: float) -> str:
    return repr(value) if math.isfinite(value) else str(_FLOATS[str(value)])


def _write_decimal(value: decimal.Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_WRITERS: Final[Mapping[BqType, Callable[[Any], str]]] = MappingProxyType(
    {
        BqType.FLOAT64: _write_float64,
        BqType.BOOL: lambda value: "true" if value else "false",
        BqType.BYTES: lambda value: base64.b64encode(value).decode(),
        BqType.NUMERIC: _write_decimal,
        BqType.BIGNUMERIC: _write_decimal,
        BqType.DATE: dt.date.isoformat,
        BqType.TIME: dt.time.isoformat,
        BqType.DATETIME: dt.datetime.isoformat,
        BqType.INTERVAL: lambda value: texts.format_interval(value["months"], value["days"], value["micros"]),
    }
)
