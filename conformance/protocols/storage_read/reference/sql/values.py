"""Values of the interpreter: a BigQuery type over an Arrow array or scalar, and how two types meet.

Sources: "Conversion rules" of the BigQuery SQL reference
(https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_rules).
"""

from __future__ import annotations

import dataclasses
import decimal
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from conformance.contract import mapping
from conformance.protocols.storage_read.reference import texts
from conformance.records import BqType, Column, Mode

__all__ = ["ARROW", "EXACT", "NULL", "SqlError", "Value", "from_raw", "raw", "rounded", "scalar", "to_type", "unify"]


class SqlError(Exception):
    """The text is no expression that can be evaluated over these columns; the message says why."""


ARROW: Final[Mapping[BqType, pa.DataType]] = MappingProxyType(
    {
        kind: mapping.element_type(Column("x", kind))
        for kind in BqType
        if kind not in (BqType.RECORD, BqType.RANGE, BqType.INTERVAL)
    }
)
"""The Arrow type that values of a scalar type have here: decimals at the type's full precision."""

EXACT: Final = decimal.Context(prec=200)
_NUMBERS: Final = (BqType.INT64, BqType.NUMERIC, BqType.BIGNUMERIC, BqType.FLOAT64)
"""Numeric types, each coercing to those after it."""

_FROM_TEXT: Final[Mapping[BqType, Callable[[str], Any]]] = MappingProxyType(
    {
        BqType.DATE: texts.read_date,
        BqType.TIME: texts.read_time,
        BqType.DATETIME: texts.read_datetime,
        BqType.TIMESTAMP: texts.read_timestamp,
    }
)
"""Types to which a string *literal* coerces."""

_STORED_AS: Final[Mapping[BqType, pa.DataType]] = MappingProxyType(
    {
        BqType.DATE: pa.int32(),
        BqType.TIME: pa.int64(),
        BqType.DATETIME: pa.int64(),
        BqType.TIMESTAMP: pa.int64(),
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class Value:
    """A column of values, or one constant: ``data`` is an Arrow array or scalar of ``ARROW[type]``.

    ``type`` is None for the literal NULL. ``column`` describes a RECORD, RANGE, INTERVAL or REPEATED value, which
    no operator takes as it is. ``literal`` is the text of a literal, whose type bends further than a column's.
    """

    type: BqType | None
    data: Any
    column: Column | None = None
    literal: str | None = None

    @property
    def constant(self) -> bool:
        """Whether it is one value for all rows."""
        return isinstance(self.data, pa.Scalar)

    @property
    def name(self) -> str:
        """The type's name, for messages."""
        return "NULL" if self.type is None else self.type.value


NULL: Final = Value(None, pa.NA)


def raw(value: Value) -> list[Any]:
    """The values as Python objects: temporal ones as their integers, NULL as None."""
    data = pa.repeat(value.data, 1) if value.constant else value.data
    if value.type is not None and value.type in _STORED_AS:
        data = data.cast(_STORED_AS[value.type])
    return list(data.to_pylist())


def from_raw(kind: BqType, items: Sequence[Any], *, constant: bool) -> Value:
    """The way back of :func:`raw`.

    Raises:
        SqlError: an item does not fit the type.
    """
    try:
        if kind is BqType.BIGNUMERIC:
            return Value(kind, _bignumerics(items)) if not constant else Value(kind, _bignumerics(items)[0])
        data = pa.array(items, _STORED_AS.get(kind, ARROW[kind])).cast(ARROW[kind])
    except (pa.ArrowException, OverflowError, ValueError) as error:
        raise SqlError(f"expected values of {kind}: {error}") from None
    return Value(kind, data[0] if constant else data)


def scalar(value: Value) -> Value:
    """The value, if operators take it.

    Raises:
        SqlError: it is an array, a record, a range or an interval.
    """
    if value.column is not None:
        kind = "an ARRAY" if value.column.mode is Mode.REPEATED else value.name
        raise SqlError(f"expected a scalar value, got {kind}")
    return value


def unify(values: Sequence[Value]) -> list[Value]:
    """The values under the one type that they all coerce to.

    Raises:
        SqlError: there is no such type.
    """
    for value in values:
        scalar(value)
    kinds = {value.type for value in values if value.type is not None}
    firm = {value.type for value in values if value.type is not None and value.literal is None}
    if not kinds:
        return [to_type(value, BqType.INT64) for value in values]
    target = _common(firm or kinds, kinds)
    if target is None:
        names = ", ".join(sorted(kind.value for kind in kinds))
        raise SqlError(f"expected operands of one type, got {names}")
    return [to_type(value, target) for value in values]


def _common(firm: set[BqType], kinds: set[BqType]) -> BqType | None:
    """The type of columns decides; literals bend to it where they can."""
    if all(kind in _NUMBERS for kind in kinds):
        widest = max(firm, key=_NUMBERS.index)
        decimals = (BqType.NUMERIC, BqType.BIGNUMERIC)
        if widest in decimals:
            return widest
        return max(kinds, key=_NUMBERS.index)
    if len(firm) == 1 and kinds - firm <= {BqType.STRING}:
        (target,) = firm
        return target if target in _FROM_TEXT or kinds == firm else None
    if firm == {BqType.DATE, BqType.DATETIME}:
        return BqType.DATETIME
    return next(iter(kinds)) if len(kinds) == 1 else None


def to_type(value: Value, target: BqType) -> Value:
    """The value coerced to a type, as BigQuery does without being asked.

    Raises:
        SqlError: it does not coerce.
    """
    if scalar(value).type is target:
        return value
    if value.type is None:
        return Value(target, pa.scalar(None, ARROW[target]))
    if value.type is BqType.STRING and value.literal is not None and target in _FROM_TEXT:
        return _from_text(value.literal, target)
    if value.type in _NUMBERS and target in _NUMBERS:
        return _to_number(value, target)
    if (value.type, target) == (BqType.DATE, BqType.DATETIME):
        return Value(target, pc.cast(value.data, ARROW[target]))
    raise SqlError(f"expected {target}, got {value.name}")


def _from_text(text: str, target: BqType) -> Value:
    try:
        return from_raw(target, [_FROM_TEXT[target](text)], constant=True)
    except ValueError as error:
        raise SqlError(str(error)) from None


def _bignumerics(items: Sequence[Any]) -> pa.Array:
    """The array of decimals, some of which have 77 digits: pyarrow makes arrays of at most 76."""
    whole = [0 if item is None else int(EXACT.scaleb(decimal.Decimal(item), 38)) for item in items]
    data = b"".join(each.to_bytes(32, "little", signed=True) for each in whole)
    valid = pa.array([item is not None for item in items], pa.bool_()).buffers()[1]
    return pa.Array.from_buffers(ARROW[BqType.BIGNUMERIC], len(items), [valid, pa.py_buffer(data)])


def _to_number(value: Value, target: BqType) -> Value:
    widens = _NUMBERS.index(target) > _NUMBERS.index(value.type or target)
    if value.type is BqType.FLOAT64 and value.literal is not None and target is not BqType.INT64:
        return from_raw(target, [rounded(decimal.Decimal(value.literal), target)], constant=True)
    if not widens:
        raise SqlError(f"expected {target}, got {value.name}")
    try:
        return Value(target, pc.cast(value.data, ARROW[target]))
    except pa.ArrowException as error:
        raise SqlError(f"expected values of {target}: {error}") from None


def rounded(number: decimal.Decimal, target: BqType) -> decimal.Decimal:
    """The number at the scale of a decimal type, half away from zero."""
    step = decimal.Decimal(1).scaleb(-ARROW[target].scale, EXACT)
    return number.quantize(step, decimal.ROUND_HALF_UP, EXACT)
