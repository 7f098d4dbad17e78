"""``+ - * /`` and negation: INT64 and FLOAT64 by Arrow's checked kernels, decimals exactly.

Source: "Arithmetic operators" of the BigQuery SQL reference
(https://cloud.google.com/bigquery/docs/reference/standard-sql/operators#arithmetic_operators).
"""

from __future__ import annotations

import decimal
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from conformance.protocols.storage_read.reference.sql.values import (
    EXACT,
    SqlError,
    Value,
    from_raw,
    raw,
    rounded,
    scalar,
    to_type,
    unify,
)
from conformance.records import BqType

__all__ = ["arithmetic", "elementwise", "negative"]

_KERNELS: Final[Mapping[str, Callable[[Any, Any], Any]]] = MappingProxyType(
    {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked, "/": pc.divide_checked}
)
_EXACTLY: Final[Mapping[str, Callable[[Any, Any], Any]]] = MappingProxyType(
    {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
)
_DECIMALS: Final = (BqType.NUMERIC, BqType.BIGNUMERIC)


def arithmetic(symbol: str, left: Value, right: Value) -> Value:
    """The result of an operator on two numbers, NULL where one of them is.

    Raises:
        SqlError: the operands are no numbers, the result overflows, or a divisor is 0.
    """
    one, other = unify([left, right])
    kind = one.type
    if kind is BqType.INT64 and symbol == "/":
        kind = BqType.FLOAT64
        one, other = to_type(one, kind), to_type(other, kind)
    if kind in _DECIMALS:
        return elementwise(_EXACTLY[symbol], kind, one, other)
    if kind not in (BqType.INT64, BqType.FLOAT64):
        raise SqlError(f"expected numbers around {symbol}, got {one.name}")
    if symbol == "/" and pc.any(pc.equal(pa.array([other.data]) if other.constant else other.data, 0)).as_py():
        raise SqlError("expected a divisor other than 0")
    return Value(kind, _KERNELS[symbol](one.data, other.data))


def negative(value: Value) -> Value:
    """The number with the other sign."""
    kind = scalar(value).type
    if kind is not None and kind in _DECIMALS:
        return elementwise(operator.neg, kind, value)
    if value.type not in (BqType.INT64, BqType.FLOAT64):
        raise SqlError(f"expected a number after -, got {value.name}")
    return Value(value.type, pc.negate_checked(value.data))


def elementwise(function: Callable[..., Any], kind: BqType, *values: Value) -> Value:
    """A function of raw values, NULL where one of them is; for what Arrow has no kernel for.

    Raises:
        SqlError: the function fails on a value, or its result does not fit ``kind``.
    """
    constant = all(value.constant for value in values)
    rows = max((len(value.data) for value in values if not value.constant), default=1)
    if rows == 0:
        return from_raw(kind, [], constant=False)
    columns = [raw(value) * rows if value.constant else raw(value) for value in values]
    try:
        with decimal.localcontext(EXACT):
            items = [None if None in row else function(*row) for row in zip(*columns, strict=True)]
    except (ArithmeticError, ValueError) as error:
        raise SqlError(f"expected values that can be computed with: {error}") from None
    if kind in _DECIMALS:
        items = [None if item is None else rounded(item, kind) for item in items]
    return from_raw(kind, items, constant=constant)
