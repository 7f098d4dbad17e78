"""How other dialects evaluate a restriction: functions in place of the reference's own for some types of nodes."""

from __future__ import annotations

import decimal
import functools
import math
import operator
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from conformance.protocols.storage_read.generate.dialects import LOCAL_ZONE_HOURS
from conformance.protocols.storage_read.reference.sql import NODES, Interpreter, Nodes, Value, functions
from conformance.protocols.storage_read.reference.sql.arithmetic import elementwise, negative
from conformance.protocols.storage_read.reference.sql.casts import cast
from conformance.protocols.storage_read.reference.sql.values import from_raw, unify
from conformance.records import BqType

__all__ = ["EVALUATIONS"]

Node = exp.Expression
Handler = Callable[[Interpreter, Node], Value]

_COMPARE: Final[Mapping[type[Node], Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        exp.EQ: operator.eq,
        exp.NEQ: operator.ne,
        exp.LT: operator.lt,
        exp.LTE: operator.le,
        exp.GT: operator.gt,
        exp.GTE: operator.ge,
    }
)
_DAY: Final = 86_400_000_000
_FALSE: Final = pa.scalar(False, pa.bool_())  # noqa: FBT003  # SQL's FALSE


# --- comparison -----------------------------------------------------------------------------------


def _in(self: Interpreter, node: Node) -> Value:
    """IN as the comparisons that it stands for, so that they are read as a dialect reads them."""
    if node.args.get("unnest") is not None:
        return NODES[exp.In](self, node)
    return self.value(functools.reduce(lambda a, b: exp.Or(this=a, expression=b), _equalities(node)))


def _equalities(node: Node) -> list[Node]:
    return [exp.EQ(this=node.this.copy(), expression=item.copy()) for item in node.expressions]


def _between(self: Interpreter, node: Node) -> Value:
    low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
    high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
    return self.value(exp.And(this=low, expression=high))


def _comparing(compare: Handler) -> Nodes:
    """The nodes of a dialect that compares in its own way."""
    return {**dict.fromkeys(_COMPARE, compare), exp.In: _in, exp.Between: _between}


def _by_key(kind: BqType, key: Callable[[Any], Any], *, ordered_only: bool = False) -> Nodes:
    """A comparison of values of one type by keys."""

    def compare(self: Interpreter, node: Node) -> Value:
        one, other = unify([self.value(node.this), self.value(node.expression)])
        if one.type is not kind or (ordered_only and isinstance(node, exp.EQ | exp.NEQ)):
            return NODES[type(node)](self, node)
        return elementwise(lambda a, b: _COMPARE[type(node)](key(a), key(b)), BqType.BOOL, one, other)

    return _comparing(compare)


def _by_affinity(self: Interpreter, node: Node) -> Value:
    one, other = self.value(node.this), self.value(node.expression)
    columns = any(isinstance(side, exp.Column | exp.Dot) for side in (node.this, node.expression))
    if one.type is not BqType.STRING or other.type is not BqType.STRING or not columns:
        return NODES[type(node)](self, node)
    return elementwise(
        lambda a, b: _COMPARE[type(node)](_number_or_text(a), _number_or_text(b)), BqType.BOOL, one, other
    )


def _number_or_text(text: str) -> tuple[bool, Any]:
    return (False, float(text)) if re.fullmatch(r"\s*[+-]?\d+(?:\.\d*)?\s*", text) else (True, text)


def _null_is_false(self: Interpreter, node: Node) -> Value:
    negative_like = bool(node.args.get("negate"))
    held = NODES[type(node)](self, type(node)(**{**node.args, "negate": False}) if negative_like else node)
    known = pc.fill_null(held.data, _FALSE)
    return Value(BqType.BOOL, pc.invert(known) if negative_like else known)


def _any_order(self: Interpreter, node: Node) -> Value:
    low, high = unify([self.value(node.args["low"]), self.value(node.args["high"])])
    if low.constant and high.constant and pc.greater(low.data, high.data).as_py():
        node = exp.Between(this=node.this.copy(), low=node.args["high"].copy(), high=node.args["low"].copy())
    return NODES[exp.Between](self, node)


def _pipes(self: Interpreter, node: Node) -> Value:
    if not isinstance(node.this, exp.DPipe):
        return NODES[type(node)](self, node)
    left = elementwise(lambda text: _prefix(text) != 0, BqType.BOOL, self.value(node.this.this))
    right = self.value(type(node)(this=node.this.expression.copy(), expression=node.expression.copy()))
    return Value(BqType.BOOL, pc.or_kleene(left.data, right.data))


# --- LIKE -----------------------------------------------------------------------------------------


def _like_any_case(self: Interpreter, node: Node) -> Value:
    sides = {name: exp.Anonymous(this="LOWER", expressions=[node.args[name].copy()]) for name in ("this", "expression")}
    return NODES[exp.Like](self, exp.Like(**{**node.args, **sides}))


def _like_without_escape(self: Interpreter, node: Node) -> Value:
    value, pattern = unify([self.value(node.this), self.value(node.expression)])
    matched = functions.by_pattern(value, pattern, _pattern)
    return Value(BqType.BOOL, pc.invert(matched) if node.args.get("negate") else matched)


def _pattern(pattern: str) -> str:
    body = "".join({"%": ".*", "_": "."}.get(character) or re.escape(character) for character in pattern)
    return f"(?s)^{body}$"


# --- columns and literals -------------------------------------------------------------------------


def _columns(change: Callable[[Value], Value]) -> Nodes:
    return dict.fromkeys((exp.Column, exp.Dot), lambda self, node: change(NODES[type(node)](self, node)))


def _as_double(value: Value) -> Value:
    # Arrow's cast of decimals is not the nearest double.
    return value if value.type is not BqType.NUMERIC else elementwise(float, BqType.FLOAT64, value)


def _nan_as_null(value: Value) -> Value:
    if value.type is not BqType.FLOAT64:
        return value
    return Value(value.type, pc.if_else(pc.is_nan(value.data), pa.scalar(None, pa.float64()), value.data))


def _dates_as_texts(value: Value) -> Value:
    return cast(value, BqType.STRING) if value.type is BqType.DATE else value


def _exact(self: Interpreter, node: Node) -> Value:
    if not node.is_string and re.fullmatch(r"\d*\.\d*", node.name):
        return from_raw(BqType.BIGNUMERIC, [decimal.Decimal(node.name)], constant=True)
    return NODES[exp.Literal](self, node)


def _exact_or_double(self: Interpreter, node: Node) -> Value:
    values = [self.value(node.this), self.value(node.expression)]
    if BqType.FLOAT64 not in [value.type for value in values] or BqType.BIGNUMERIC not in [v.type for v in values]:
        return NODES[type(node)](self, node)
    one, other = (elementwise(float, BqType.FLOAT64, v) if v.type is BqType.BIGNUMERIC else v for v in values)
    return elementwise(_COMPARE[type(node)], BqType.BOOL, one, other)


def _exact_negative(self: Interpreter, node: Node) -> Value:
    value = self.value(node.this)
    return negative(value) if value.type is BqType.BIGNUMERIC else NODES[exp.Neg](self, node)


# --- conversion, arithmetic, functions ------------------------------------------------------------


def _casting(source: BqType, target: BqType, convert: Callable[[Any], Any]) -> Nodes:
    """A CAST of one type to another in a dialect's own way."""

    def conversion(self: Interpreter, node: Node) -> Value:
        made = NODES[type(node)](self, node) if not isinstance(node, exp.TryCast) or source is BqType.STRING else None
        value = self.value(node.this)
        if made is None or made.type is not target or value.type is not source or value.column is not None:
            return NODES[type(node)](self, node)
        return elementwise(convert, target, value)

    return {exp.TryCast if source is BqType.STRING else exp.Cast: conversion}


def _truncating(self: Interpreter, node: Node) -> Value:
    value, made = self.value(node.this), NODES[type(node)](self, node)
    if made.type is not BqType.INT64 or value.type not in (BqType.FLOAT64, BqType.NUMERIC, BqType.BIGNUMERIC):
        return made
    return elementwise(int, BqType.INT64, value)


def _date_as_text(self: Interpreter, node: Node) -> Value:
    written = self.value(node.this)
    made = NODES[exp.Cast](self, node)
    return written if made.type is BqType.DATE and written.literal is not None else made


def _numeric_as_double(self: Interpreter, node: Node) -> Value:
    return _as_double(NODES[exp.Cast](self, node))


def _prefix(text: str) -> int:
    found = re.match(r"\s*[+-]?\d+", text)
    return int(found[0]) if found else 0


def _local_cast(self: Interpreter, node: Node) -> Value:
    value, made = self.value(node.this), NODES[exp.Cast](self, node)
    return _local_date(value) if made.type is BqType.DATE and value.type is BqType.TIMESTAMP else made


def _local_date(value: Value) -> Value:
    return elementwise(lambda micros: (micros + LOCAL_ZONE_HOURS * _DAY // 24) // _DAY, BqType.DATE, value)


def _quotient(divide: Callable[[int, int], Any], kind: BqType) -> Nodes:
    def division(self: Interpreter, node: Node) -> Value:
        one, other = self.value(node.this), self.value(node.expression)
        if one.type is not BqType.INT64 or other.type is not BqType.INT64:
            return NODES[exp.Div](self, node)
        return elementwise(divide, kind, one, other)

    return {exp.Div: division}


def _four_decimals(one: int, other: int) -> decimal.Decimal:
    return (decimal.Decimal(one) / other).quantize(decimal.Decimal("0.0001"), decimal.ROUND_HALF_UP)


def _calling(names: tuple[str, ...], change: Callable[[str, list[Value]], Value | None]) -> Nodes:
    """Calls of some functions in a dialect's own way; where ``change`` gives None, as the reference calls them."""

    def call(self: Interpreter, node: Node) -> Value:
        name = str(node.this).upper()
        made = change(name, [self.value(argument) for argument in node.expressions]) if name in names else None
        return NODES[exp.Anonymous](self, node) if made is None else made

    return {exp.Anonymous: call}


def _bytes_of(_name: str, values: list[Value]) -> Value | None:
    return functions.call("BYTE_LENGTH", values)


def _ascii_case(name: str, values: list[Value]) -> Value | None:
    return Value(BqType.STRING, (pc.ascii_lower if name == "LOWER" else pc.ascii_upper)(values[0].data))


def _from_zero(_name: str, values: list[Value]) -> Value | None:
    if len(values) != 3:
        return None
    return elementwise(
        lambda text, start, length: text[max(start - 1, 0) : max(start - 1 + length, 0)] if start >= 0 else text,
        BqType.STRING,
        *values,
    )


def _without_null(_name: str, values: list[Value]) -> Value | None:
    empty = Value(BqType.STRING, pa.scalar(""))
    return functions.call("CONCAT", [functions.call("IFNULL", [value, empty]) for value in values])


def _of_divisor(_name: str, values: list[Value]) -> Value | None:
    return elementwise(operator.mod, BqType.INT64, *values)


def _local_call(_name: str, values: list[Value]) -> Value | None:
    return _local_date(values[0]) if values[0].type is BqType.TIMESTAMP else None


def _rank(number: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(number) else (False, number)


EVALUATIONS: Final[Mapping[str, Nodes]] = MappingProxyType(
    {
        "literals-are-decimals": {
            **_comparing(_exact_or_double),
            exp.Literal: _exact,
            exp.Neg: _exact_negative,
        },
        "numeric-is-a-double": {**_columns(_as_double), exp.Cast: _numeric_as_double},
        "strings-become-numbers": _comparing(_by_affinity),
        "dates-are-texts": {**_columns(_dates_as_texts), exp.Cast: _date_as_text},
        "local-zone": {exp.Cast: _local_cast, **_calling(("DATE",), _local_call)},
        "boolean-text-is-a-digit": _casting(BqType.BOOL, BqType.STRING, lambda held: str(int(held))),
        "like-ignores-case": {exp.Like: _like_any_case},
        "like-has-no-escape": {exp.Like: _like_without_escape},
        "text-ignores-case": _by_key(BqType.STRING, str.lower),
        "trailing-blanks-ignored": _by_key(BqType.STRING, lambda text: text.rstrip(" ")),
        "order-of-a-language": _by_key(BqType.STRING, lambda text: (text.lower(), text.swapcase()), ordered_only=True),
        "division-of-integers": _quotient(lambda one, by: int(decimal.Decimal(one) / by), BqType.INT64),
        "quotient-of-four-decimals": _quotient(_four_decimals, BqType.NUMERIC),
        "nan-is-greatest": _by_key(BqType.FLOAT64, _rank),
        "nan-is-null": _columns(_nan_as_null),
        "pipes-are-or": {exp.EQ: _pipes, exp.NEQ: _pipes},
        "null-compares-false": {**_comparing(_null_is_false), exp.Like: _null_is_false},
        "between-in-any-order": {exp.Between: _any_order},
        "cast-truncates": {exp.Cast: _truncating},
        "cast-rounds-to-even": _casting(BqType.FLOAT64, BqType.INT64, round),
        "cast-takes-a-prefix": _casting(BqType.STRING, BqType.INT64, _prefix),
        "length-in-bytes": _calling(("LENGTH",), _bytes_of),
        "lower-of-ascii-only": _calling(("LOWER", "UPPER"), _ascii_case),
        "substr-counts-position-zero": _calling(("SUBSTR",), _from_zero),
        "concat-skips-null": _calling(("CONCAT",), _without_null),
        "remainder-of-the-divisor": _calling(("MOD",), _of_divisor),
    }
)
"""The readings of values, by the names of :data:`conformance.protocols.storage_read.generate.dialects.READINGS`."""
