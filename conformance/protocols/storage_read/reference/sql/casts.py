"""CAST and SAFE_CAST between scalar types.

Source: "Conversion functions" of the BigQuery SQL reference
(https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_functions).
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from conformance.protocols.storage_read.reference import texts
from conformance.protocols.storage_read.reference.sql.values import (
    EXACT,
    SqlError,
    Value,
    from_raw,
    raw,
    rounded,
    scalar,
    to_type,
)
from conformance.records import BqType

__all__ = ["cast"]

_DAY: Final = 86_400_000_000
_Convert = Callable[[Any], Any]


def _same(item: Any) -> Any:
    return item


def _half_away(item: Any) -> int:
    return int(decimal.Decimal(item).quantize(decimal.Decimal(1), decimal.ROUND_HALF_UP, EXACT))


def _text_of_float(item: float) -> str:
    if not math.isfinite(item):
        return repr(item)
    return f"{item:.0f}" if item.is_integer() and abs(item) < 1e15 else repr(item)


def _text_of_decimal(item: decimal.Decimal) -> str:
    text = f"{item:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _text_of_timestamp(micros: int) -> str:
    return texts.format_datetime(micros).replace("T", " ") + "+00"


def _bool_of_text(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"expected true or false, got {text!r}")
    return text.lower() == "true"


def _int_of_text(text: str) -> int:
    return int(text.strip(), 16 if "x" in text.lower() else 10)


_B = BqType
_TABLE: Final[Mapping[tuple[BqType, BqType], _Convert]] = MappingProxyType(
    {
        (_B.INT64, _B.STRING): str,
        (_B.INT64, _B.BOOL): bool,
        (_B.FLOAT64, _B.STRING): _text_of_float,
        (_B.FLOAT64, _B.INT64): _half_away,
        (_B.FLOAT64, _B.NUMERIC): decimal.Decimal,
        (_B.FLOAT64, _B.BIGNUMERIC): decimal.Decimal,
        (_B.NUMERIC, _B.STRING): _text_of_decimal,
        (_B.NUMERIC, _B.INT64): _half_away,
        (_B.BIGNUMERIC, _B.STRING): _text_of_decimal,
        (_B.BIGNUMERIC, _B.INT64): _half_away,
        (_B.BIGNUMERIC, _B.NUMERIC): _same,
        (_B.BOOL, _B.STRING): lambda item: "true" if item else "false",
        (_B.BOOL, _B.INT64): int,
        (_B.STRING, _B.BYTES): str.encode,
        (_B.STRING, _B.INT64): _int_of_text,
        (_B.STRING, _B.FLOAT64): float,
        (_B.STRING, _B.BOOL): _bool_of_text,
        (_B.STRING, _B.NUMERIC): decimal.Decimal,
        (_B.STRING, _B.BIGNUMERIC): decimal.Decimal,
        (_B.STRING, _B.DATE): texts.read_date,
        (_B.STRING, _B.TIME): texts.read_time,
        (_B.STRING, _B.DATETIME): texts.read_datetime,
        (_B.STRING, _B.TIMESTAMP): texts.read_timestamp,
        (_B.BYTES, _B.STRING): bytes.decode,
        (_B.DATE, _B.STRING): texts.format_date,
        (_B.DATE, _B.TIMESTAMP): lambda days: days * _DAY,
        (_B.TIME, _B.STRING): texts.format_time,
        (_B.DATETIME, _B.STRING): lambda micros: texts.format_datetime(micros).replace("T", " "),
        (_B.DATETIME, _B.DATE): lambda micros: micros // _DAY,
        (_B.DATETIME, _B.TIME): lambda micros: micros % _DAY,
        (_B.DATETIME, _B.TIMESTAMP): _same,
        (_B.TIMESTAMP, _B.STRING): _text_of_timestamp,
        (_B.TIMESTAMP, _B.DATE): lambda micros: micros // _DAY,
        (_B.TIMESTAMP, _B.TIME): lambda micros: micros % _DAY,
        (_B.TIMESTAMP, _B.DATETIME): _same,
    }
)
"""Raw value to raw value, for the pairs that do not coerce by themselves."""


def cast(value: Value, target: BqType, *, safe: bool = False) -> Value:
    """The value as another type; under ``safe`` what does not convert is NULL.

    Raises:
        SqlError: the types do not convert, or (unless ``safe``) a value does not.
    """
    if value.type is None or value.type is target:
        return to_type(value, target)
    scalar(value)
    convert = _TABLE.get((value.type, target))
    if convert is None:
        return to_type(Value(value.type, value.data), target)
    items = [None if item is None else _converted(item, convert, target, safe=safe) for item in raw(value)]
    return from_raw(target, items, constant=value.constant)


def _converted(item: Any, convert: _Convert, target: BqType, *, safe: bool) -> Any:
    try:
        made = convert(item)
        if target in (BqType.NUMERIC, BqType.BIGNUMERIC):
            made = rounded(made, target)
        if target is BqType.INT64 and not -(1 << 63) <= made < 1 << 63:
            raise ValueError(f"{made} exceeds 64 bits")  # noqa: TRY301  # one way out for every value that does not fit
    except (ValueError, ArithmeticError) as error:
        if safe:
            return None
        raise SqlError(f"expected a value that casts to {target}, got {item!r}: {error}") from None
    return made
