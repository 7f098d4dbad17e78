"""Functions by their BigQuery name: adding one is one decorated function.

Each takes values and returns a value; its decorator gives the number and the types of its arguments.
Source: "All functions" of the BigQuery SQL reference
(https://cloud.google.com/bigquery/docs/reference/standard-sql/functions-all).
"""

from __future__ import annotations

import base64
import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conformance.protocols.storage_read.reference.sql.arithmetic import elementwise
from conformance.protocols.storage_read.reference.sql.casts import cast
from conformance.protocols.storage_read.reference.sql.values import ARROW, SqlError, Value, raw, to_type, unify
from conformance.records import BqType, Mode

__all__ = ["FUNCTIONS", "by_pattern", "call", "in_unnest"]

_Function = Callable[..., Value]
_REGISTER: dict[str, tuple[_Function, tuple[str, ...], int]] = {}

FUNCTIONS: Final[Mapping[str, tuple[_Function, tuple[str, ...], int]]] = MappingProxyType(_REGISTER)
"""Name to function, the types of its arguments, and how many of them are required."""

_TEXTS: Final = (BqType.STRING, BqType.BYTES)
_KINDS: Final[Mapping[str, tuple[BqType, ...]]] = MappingProxyType(
    {
        "any": tuple(ARROW),
        "number": (BqType.INT64, BqType.FLOAT64, BqType.NUMERIC, BqType.BIGNUMERIC),
        "text": _TEXTS,
        "instant": (BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP, BqType.STRING),
        **{kind.value: (kind,) for kind in ARROW},
    }
)


def _function(name: str, *kinds: str, required: int | None = None) -> Callable[[_Function], _Function]:
    def register(function: _Function) -> _Function:
        _REGISTER[name] = (function, kinds, len(kinds) if required is None else required)
        return function

    return register


def call(name: str, arguments: Sequence[Value]) -> Value:
    """The result of a call.

    Raises:
        SqlError: there is no such function, or not with these arguments.
    """
    if name not in FUNCTIONS:
        raise SqlError(f"Function not found: {name}")
    function, kinds, required = FUNCTIONS[name]
    if kinds and kinds[-1].startswith("*"):
        kinds = (*kinds[:-1], *[kinds[-1][1:]] * max(len(arguments) - len(kinds) + 1, 1))
    if not required <= len(arguments) <= len(kinds):
        raise SqlError(f"expected {name} with {required} to {len(kinds)} arguments, got {len(arguments)}")
    return function(*(_argument(name, value, kind) for value, kind in zip(arguments, kinds, strict=False)))


def _argument(name: str, value: Value, kind: str) -> Value:
    if kind == "array":
        if value.column is None or value.column.mode is not Mode.REPEATED:
            raise SqlError(f"expected an array for {name}, got {value.name}")
        return value
    kinds = _KINDS[kind]
    if value.column is not None or (value.type is not None and value.type not in kinds and len(kinds) > 1):
        raise SqlError(f"expected {kind} for {name}, got {value.name}")
    if value.type is None:
        return to_type(value, kinds[0])
    return to_type(value, kinds[0]) if len(kinds) == 1 else value


# --- text -----------------------------------------------------------------------------------------


@_function("STARTS_WITH", "text", "text")
def _starts_with(value: Value, prefix: Value) -> Value:
    return _over_texts(lambda one, other: one.startswith(other), BqType.BOOL, value, prefix)


@_function("ENDS_WITH", "text", "text")
def _ends_with(value: Value, suffix: Value) -> Value:
    return _over_texts(lambda one, other: one.endswith(other), BqType.BOOL, value, suffix)


@_function("STRPOS", "text", "text")
def _strpos(value: Value, part: Value) -> Value:
    return _over_texts(lambda one, other: one.find(other) + 1, BqType.INT64, value, part)


def _over_texts(function: Callable[[Any, Any], Any], kind: BqType, one: Value, other: Value) -> Value:
    return elementwise(function, kind, *unify([one, other]))


@_function("CONCAT", "text", "*text")
def _concat(*values: Value) -> Value:
    unified = unify(values)
    empty = pa.scalar(b"" if unified[0].type is BqType.BYTES else "", unified[0].data.type)
    joined = functools.reduce(
        lambda left, right: pc.binary_join_element_wise(left, right, empty), (value.data for value in unified)
    )
    return Value(unified[0].type, joined)


@_function("REPEAT", "text", "INT64")
def _repeat(value: Value, times: Value) -> Value:
    return Value(value.type, pc.binary_repeat(value.data, times.data))


@_function("LENGTH", "text")
@_function("CHAR_LENGTH", "STRING")
@_function("CHARACTER_LENGTH", "STRING")
def _length(value: Value) -> Value:
    kernel = pc.utf8_length if value.type is BqType.STRING else pc.binary_length
    return Value(BqType.INT64, pc.cast(kernel(value.data), pa.int64()))


@_function("BYTE_LENGTH", "text")
@_function("OCTET_LENGTH", "text")
def _byte_length(value: Value) -> Value:
    return Value(BqType.INT64, pc.cast(pc.binary_length(value.data), pa.int64()))


@_function("LOWER", "STRING")
def _lower(value: Value) -> Value:
    return Value(BqType.STRING, pc.utf8_lower(value.data))


@_function("UPPER", "STRING")
def _upper(value: Value) -> Value:
    return Value(BqType.STRING, pc.utf8_upper(value.data))


@_function("TRIM", "STRING", "STRING", required=1)
def _trim(value: Value, characters: Value | None = None) -> Value:
    return elementwise(str.strip, BqType.STRING, *filter(None, (value, characters)))


@_function("LTRIM", "STRING", "STRING", required=1)
def _ltrim(value: Value, characters: Value | None = None) -> Value:
    return elementwise(str.lstrip, BqType.STRING, *filter(None, (value, characters)))


@_function("RTRIM", "STRING", "STRING", required=1)
def _rtrim(value: Value, characters: Value | None = None) -> Value:
    return elementwise(str.rstrip, BqType.STRING, *filter(None, (value, characters)))


@_function("SUBSTR", "text", "INT64", "INT64", required=2)
@_function("SUBSTRING", "text", "INT64", "INT64", required=2)
def _substr(value: Value, start: Value, length: Value | None = None) -> Value:
    return elementwise(_part, value.type or BqType.STRING, *filter(None, (value, start, length)))


def _part(text: Any, start: int, length: int | None = None) -> Any:
    if length is not None and length < 0:
        raise ValueError("the length of SUBSTR must not be negative")
    at = max(start - 1, 0) if start >= 0 else max(len(text) + start, 0)
    return text[at : None if length is None else at + length]


@_function("REGEXP_CONTAINS", "text", "text")
def _regexp_contains(value: Value, pattern: Value) -> Value:
    one, other = unify([value, pattern])
    return Value(BqType.BOOL, by_pattern(one, other, lambda text: text))


def by_pattern(value: Value, pattern: Value, regular: Callable[[str], str]) -> Any:
    """Whether each value matches its pattern, ``regular`` giving the pattern as a regular expression of RE2."""
    if pattern.constant:
        text = pattern.data.as_py()
        if text is None:
            return pa.scalar(None, pa.bool_())
        text = text.decode("latin-1") if isinstance(text, bytes) else text
        if value.constant:
            return _match(pa.array([value.data]), regular(text))[0]
        return _match(value.data, regular(text))
    matched = elementwise(
        lambda one, other: _match(pa.array([one]), regular(other))[0].as_py(), BqType.BOOL, value, pattern
    )
    return matched.data


def _match(data: pa.Array, regular: str) -> pa.Array:
    return pc.match_substring_regex(data, pattern=regular)


@_function("FROM_HEX", "STRING")
def _from_hex(value: Value) -> Value:
    return elementwise(lambda text: bytes.fromhex(text if len(text) % 2 == 0 else f"0{text}"), BqType.BYTES, value)


@_function("TO_HEX", "BYTES")
def _to_hex(value: Value) -> Value:
    return elementwise(bytes.hex, BqType.STRING, value)


@_function("FROM_BASE64", "STRING")
def _from_base64(value: Value) -> Value:
    return elementwise(lambda text: base64.b64decode(text, validate=True), BqType.BYTES, value)


@_function("TO_BASE64", "BYTES")
def _to_base64(value: Value) -> Value:
    return elementwise(lambda data: base64.b64encode(data).decode(), BqType.STRING, value)


# --- numbers --------------------------------------------------------------------------------------


@_function("ABS", "number")
def _abs(value: Value) -> Value:
    return elementwise(abs, value.type or BqType.INT64, value)


@_function("SIGN", "number")
def _sign(value: Value) -> Value:
    return elementwise(lambda item: (item > 0) - (item < 0), value.type or BqType.INT64, value)


@_function("MOD", "number", "number")
def _mod(value: Value, divisor: Value) -> Value:
    one, other = unify([value, divisor])
    if one.type is BqType.FLOAT64:
        raise SqlError("expected MOD of INT64, NUMERIC or BIGNUMERIC, got FLOAT64")
    if one.type is BqType.INT64:
        quotient = pc.divide_checked(one.data, other.data)
        return Value(BqType.INT64, pc.subtract(one.data, pc.multiply(quotient, other.data)))
    return elementwise(lambda item, by: item % by, one.type or BqType.NUMERIC, one, other)


@_function("DIV", "INT64", "INT64")
def _div(value: Value, divisor: Value) -> Value:
    return Value(BqType.INT64, pc.divide_checked(value.data, divisor.data))


@_function("FLOOR", "number")
def _floor(value: Value) -> Value:
    return _to_integral(math.floor, value)


@_function("CEIL", "number")
@_function("CEILING", "number")
def _ceil(value: Value) -> Value:
    return _to_integral(math.ceil, value)


def _to_integral(function: Callable[[Any], int], value: Value) -> Value:
    value = to_type(value, BqType.FLOAT64) if value.type is BqType.INT64 else value
    if value.type is BqType.FLOAT64:
        return elementwise(lambda item: float(function(item)) if math.isfinite(item) else item, value.type, value)
    return elementwise(lambda item: item.from_float(0) + function(item), value.type or BqType.NUMERIC, value)


@_function("IS_NAN", "FLOAT64")
def _is_nan(value: Value) -> Value:
    return Value(BqType.BOOL, pc.is_nan(value.data))


@_function("IS_INF", "FLOAT64")
def _is_inf(value: Value) -> Value:
    return Value(BqType.BOOL, pc.is_inf(value.data))


# --- NULL -----------------------------------------------------------------------------------------


@_function("COALESCE", "any", "*any")
def _coalesce(*values: Value) -> Value:
    unified = unify(values)
    return Value(unified[0].type, pc.coalesce(*(value.data for value in unified)))


@_function("IFNULL", "any", "any")
def _ifnull(value: Value, default: Value) -> Value:
    return _coalesce(value, default)


@_function("NULLIF", "any", "any")
def _nullif(value: Value, other: Value) -> Value:
    one, two = unify([value, other])
    equal = pc.fill_null(pc.equal(one.data, two.data), pa.scalar(False))  # noqa: FBT003  # SQL's FALSE
    return Value(one.type, pc.if_else(equal, pa.scalar(None, one.data.type), one.data))


# --- dates and times ------------------------------------------------------------------------------


@_function("DATE", "instant")
def _date(value: Value) -> Value:
    return cast(value, BqType.DATE)


@_function("DATETIME", "instant")
def _datetime(value: Value) -> Value:
    return cast(value, BqType.DATETIME)


@_function("TIMESTAMP", "instant")
def _timestamp(value: Value) -> Value:
    return cast(value, BqType.TIMESTAMP)


@_function("TIMESTAMP_MICROS", "INT64")
def _timestamp_micros(value: Value) -> Value:
    return elementwise(lambda micros: micros, BqType.TIMESTAMP, value)


@_function("UNIX_MICROS", "TIMESTAMP")
def _unix_micros(value: Value) -> Value:
    return elementwise(lambda micros: micros, BqType.INT64, value)


@_function("UNIX_SECONDS", "TIMESTAMP")
def _unix_seconds(value: Value) -> Value:
    return elementwise(lambda micros: micros // 1_000_000, BqType.INT64, value)


@_function("DATE_FROM_UNIX_DATE", "INT64")
def _date_from_unix_date(value: Value) -> Value:
    return elementwise(lambda days: days, BqType.DATE, value)


@_function("UNIX_DATE", "DATE")
def _unix_date(value: Value) -> Value:
    return elementwise(lambda days: days, BqType.INT64, value)


# --- arrays ---------------------------------------------------------------------------------------


@_function("ARRAY_LENGTH", "array")
def _array_length(value: Value) -> Value:
    return Value(BqType.INT64, pc.cast(pc.list_value_length(value.data), pa.int64()))


def in_unnest(value: Value, array: Value) -> Value:
    """``value IN UNNEST(array)`` for a REPEATED column of scalars, which holds no NULL."""
    column = array.column
    if column is None or column.mode is not Mode.REPEATED or array.type not in ARROW:
        raise SqlError(f"expected an array of scalars in UNNEST, got {array.name}")
    parents = pc.list_parent_indices(array.data).to_numpy()
    rows = len(array.data)
    items = Value(array.type, array.data.flatten())
    spread = value if value.constant else Value(value.type, pc.take(value.data, pa.array(parents)), value.column)
    one, other = unify([spread, items])
    equal = pc.fill_null(pc.equal(one.data, other.data), pa.scalar(False)).to_numpy(zero_copy_only=False)  # noqa: FBT003  # SQL's FALSE
    found = np.zeros(rows, dtype=bool)
    np.logical_or.at(found, parents, equal)
    # A NULL is in no empty array, and unknown in any other.
    unknown = pc.and_kleene(_broadcast_null(value, rows), pc.greater(pc.list_value_length(array.data), 0))
    return Value(BqType.BOOL, pc.if_else(unknown, pa.scalar(None, pa.bool_()), pa.array(found)))


def _broadcast_null(value: Value, rows: int) -> pa.Array:
    if value.constant:
        return pa.array([not value.data.is_valid] * rows, pa.bool_())
    return pc.is_null(value.data)


# --- geography ------------------------------------------------------------------------------------

_POINT: Final = re.compile(r"POINT\s*\(\s*(\S+)\s+(\S+?)\s*\)", re.IGNORECASE)


@_function("ST_GEOGFROMTEXT", "STRING")
@_function("ST_GEOFROMTEXT", "STRING")
def _st_geogfromtext(value: Value) -> Value:
    texts_ = raw(value)
    if any(text is not None and _POINT.fullmatch(text.strip()) is None for text in texts_):
        raise SqlError("expected the WKT of a point; the reference computes with no other geography")
    return Value(BqType.GEOGRAPHY, value.data)


@_function("ST_EQUALS", "GEOGRAPHY", "GEOGRAPHY")
def _st_equals(one: Value, other: Value) -> Value:
    return elementwise(_same_place, BqType.BOOL, one, other)


def _same_place(one: str, other: str) -> bool:
    if one == other:
        return True
    points = [_POINT.fullmatch(text.strip()) for text in (one, other)]
    if not any(points):
        raise ValueError(f"the reference cannot tell whether {one} and {other} are the same place")
    places = [None if point is None else tuple(map(float, point.groups())) for point in points]
    return places[0] == places[1]
