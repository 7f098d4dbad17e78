"""Faults of restrictions: SQL as other engines read it, and values that a pushed-down filter sees differently."""

# ruff: noqa: D102  # a step means what the docstring of the same step of the service says

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from conformance.protocols.storage_read.reference.catalogue import Catalogue, Snapshot
from conformance.protocols.storage_read.reference.restriction import column_value
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.sql import NODES, SqlError, Value, evaluate, parse_expression
from conformance.protocols.storage_read.reference.sql.arithmetic import elementwise
from conformance.protocols.storage_read.reference.sql.casts import cast
from conformance.protocols.storage_read.reference.sql.evaluate import _COMPARE, _comparable, _Interpreter, _operands
from conformance.protocols.storage_read.reference.sql.functions import call
from conformance.protocols.storage_read.reference.sql.values import ARROW
from conformance.records import BqType, Column
from conformance.reference.statuses import Reason
from tests.faults.register import fault

_Node = Callable[[Any, Any], Value]


class Dialect(ReadService):
    """A service that reads restrictions like the reference, but for the nodes in ``reads``."""

    reads: ClassVar[Mapping[type[exp.Expression], _Node]] = {}

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        """Which rows the restriction keeps."""
        if not text:
            return None

        try:
            expression = parse_expression(text)
            value = evaluate(expression, lambda path: self.column(path, snapshot), {**NODES, **self.reads})
        except SqlError:
            self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)
        if value.type not in (BqType.BOOL, None) or value.column is not None:
            self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)
        if value.constant:
            return pa.array([bool(value.data.as_py())] * snapshot.rows.num_rows, pa.bool_())
        return pc.fill_null(value.data, pa.scalar(False))  # noqa: FBT003  # a NULL drops the row

    def column(self, path: Sequence[str], snapshot: Snapshot) -> Value:
        """The column or field that a dotted name means."""
        return column_value(path, snapshot.columns, snapshot.rows)


def _in_without_null(reading: _Interpreter, node: Any) -> Value:
    items = [item for item in node.expressions if not isinstance(item, exp.Null)]
    if not items or node.args.get("unnest") is not None:
        return _Interpreter.membership(reading, node)
    return _Interpreter.membership(reading, exp.In(this=node.this.copy(), expressions=[it.copy() for it in items]))


@fault(
    "dialects.not-in-ignores-null",
    why="IN becomes a set of constants; NULL is not put into the set, and NOT IN is `not in`.",
    source="https://wiki.postgresql.org/wiki/Don%27t_Do_This#Don.27t_use_NOT_IN",
    needs="NOT IN, NULL",
)
class NotInIgnoresNull(Dialect):
    """NOT IN over a list with NULL keeps the rows that are not in the rest of the list."""

    reads: ClassVar = {exp.In: _in_without_null}


def _and_under_not(reading: _Interpreter, node: Any) -> Value:
    operands = list(_operands(node))
    for index, operand in enumerate(operands[:-1]):
        if isinstance(operand, exp.Not) and not isinstance(operand.this, exp.In | exp.Between | exp.Like | exp.Is):
            under = [operand.this, *operands[index + 1 :]]
            inverted = exp.Not(this=exp.Paren(this=_all_of(under)))
            return reading.value(_all_of([*operands[:index], inverted]))
    return _Interpreter.conjunction(reading, node)


def _all_of(operands: list[exp.Expression]) -> exp.Expression:
    return functools.reduce(lambda left, right: exp.And(this=left, expression=right), operands)


@fault(
    "dialects.not-over-and",
    why="A hand-written parser of NOT calls the parser of whole expressions for its operand.",
    source="https://cloud.google.com/bigquery/docs/reference/standard-sql/operators#operator_precedence",
    needs="NOT, AND",
)
class NotOverAnd(Dialect):
    """NOT a AND b means NOT (a AND b)."""

    reads: ClassVar = {exp.And: _and_under_not}


def _half_open_dates(reading: _Interpreter, node: Any) -> Value:
    bounds = (reading.value(node.this), reading.value(node.args["low"]), reading.value(node.args["high"]))
    value, low, high = _comparable(bounds)
    if value.type is not BqType.DATE:
        return _Interpreter.between(reading, node)
    inside = pc.and_kleene(pc.greater_equal(value.data, low.data), pc.less(value.data, high.data))
    return Value(BqType.BOOL, inside)


@fault(
    "dialects.between-dates-half-open",
    why="BETWEEN on dates selects partitions through a helper for ranges, and ranges exclude their end.",
    source="https://docs.python.org/3/library/stdtypes.html#range",
    needs="BETWEEN, DATE",
)
class BetweenDatesHalfOpen(Dialect):
    """BETWEEN on DATE excludes its upper bound; on every other type it includes it."""

    reads: ClassVar = {exp.Between: _half_open_dates}


_ZONE: Final = re.compile(r"(:\d\d(?:\.\d+)?)\s*(?:[+-]\d{1,2}(?::?\d\d)?)$")


def _without_zone(reading: _Interpreter, node: Any) -> Value:
    given = node.this
    if node.args["to"].sql("bigquery").upper() == "TIMESTAMP" and isinstance(given, exp.Literal):
        text = reading.value(given).literal
        if text is not None and given.is_string:
            plain = _ZONE.sub(r"\1", text)
            return cast(Value(BqType.STRING, pa.scalar(plain, ARROW[BqType.STRING]), literal=plain), BqType.TIMESTAMP)
    return _Interpreter.conversion(reading, node)


@fault(
    "dialects.timestamp-zone-ignored",
    why="The literal is handed to an engine whose TIMESTAMP has no zone, which reads over the offset.",
    source="https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-DATETIME-INPUT-TIMESTAMPS",
    needs="TIMESTAMP literal, zone",
)
class TimestampZoneIgnored(Dialect):
    """The UTC offset of a TIMESTAMP literal is ignored."""

    reads: ClassVar = {exp.Cast: _without_zone}


def _whole_quotient(reading: _Interpreter, node: Any) -> Value:
    left, right = reading.value(node.this), reading.value(node.expression)
    if left.type is BqType.INT64 and right.type is BqType.INT64:
        return call("DIV", [left, right])
    return _Interpreter.arithmetic(reading, node)


@fault(
    "dialects.integer-division",
    why="The restriction is passed on to SQLite or PostgreSQL, where / of two integers is an integer.",
    source="https://www.sqlite.org/lang_expr.html",
    needs="division, INT64",
)
class IntegerDivision(Dialect):
    """The quotient of two INT64 is cut off to a whole number."""

    reads: ClassVar = {exp.Div: _whole_quotient}


def _nan_largest(reading: _Interpreter, node: Any) -> Value:
    left, right = _comparable([reading.value(node.this), reading.value(node.expression)])
    if left.type is not BqType.FLOAT64:
        return _Interpreter.comparison(reading, node)
    _Interpreter.comparison(reading, node)
    return Value(BqType.BOOL, _COMPARE[type(node)](_as_largest(left.data), _as_largest(right.data)))


def _as_largest(data: Any) -> Any:
    return pc.if_else(pc.is_nan(data), pa.scalar(float("inf")), data)


@fault(
    "dialects.nan-is-largest",
    why="The engine behind the server sorts NaN above all numbers and takes it for equal to itself.",
    source="https://www.postgresql.org/docs/current/datatype-numeric.html#DATATYPE-FLOAT",
    needs="comparison, NaN",
)
class NanIsLargest(Dialect):
    """In comparisons NaN is equal to itself and above all other numbers."""

    reads: ClassVar = dict.fromkeys(_COMPARE, _nan_largest)


def _equal_to_truth(reading: _Interpreter, node: Any) -> Value:
    if not isinstance(node.expression, exp.Boolean):
        return _Interpreter.identity(reading, node)
    return Value(BqType.BOOL, pc.equal(reading.boolean(node.this), pa.scalar(bool(node.expression.this))))


@fault(
    "dialects.is-not-true-drops-null",
    why="IS TRUE is rewritten to = TRUE, which selects the same rows, and IS NOT TRUE to its negation, which does not.",
    source="https://cloud.google.com/bigquery/docs/reference/standard-sql/operators#is_operators",
    needs="IS NOT TRUE, NULL",
)
class IsNotTrueDropsNull(Dialect):
    """IS NOT TRUE and IS NOT FALSE drop the rows where the operand is NULL."""

    reads: ClassVar = {exp.Is: _equal_to_truth}


def _like_bytes(reading: _Interpreter, node: Any) -> Value:
    value, pattern = reading.value(node.this), reading.value(node.expression)
    if value.type is not BqType.STRING or pattern.type is not BqType.STRING:
        return _Interpreter.like(reading, node)
    matched = elementwise(_matches, BqType.BOOL, value, pattern)
    return Value(BqType.BOOL, pc.invert(matched.data) if node.args.get("negate") else matched.data)


def _matches(text: str, pattern: str) -> bool:
    regular, escaped = b"", False
    for character in pattern:
        if character == "\\" and not escaped:
            escaped = True
            continue
        special = {"%": b".*", "_": b"."}.get(character)
        regular += re.escape(character.encode()) if escaped or special is None else special
        escaped = False
    if escaped:
        raise ValueError("the pattern ends in a backslash")
    return re.fullmatch(regular, text.encode(), re.DOTALL) is not None


@fault(
    "dialects.like-underscore-is-a-byte",
    why="LIKE is a loop over the bytes of UTF-8; all test data is ASCII.",
    source="https://dev.mysql.com/doc/refman/8.4/en/charset-binary-collations.html",
    needs="LIKE, text beyond ASCII",
)
class LikeUnderscoreIsAByte(Dialect):
    """An underscore of a LIKE pattern matches one byte of UTF-8, not one character."""

    reads: ClassVar = {exp.Like: _like_bytes}


@fault(
    "dialects.spaces-in-literal-collapse",
    why="The text is normalised for the log and the plan cache, and the normalised text is also the one that is run.",
    source="https://github.com/vantaboard/bigquery-emulator/commit/35d2d3b2",
    needs="restriction, string literal",
)
class SpacesInLiteralCollapse(ReadService):
    """Runs of white space in a restriction become one space, also inside of string literals."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        return super().restrict(snapshot, " ".join(text.split()))


_DEFAULTS: Final[Mapping[BqType | None, Any]] = {
    BqType.INT64: 0,
    BqType.FLOAT64: 0.0,
    BqType.BOOL: False,
    BqType.STRING: "",
}


@fault(
    "dialects.null-record-reads-as-defaults",
    why="The filter reads the child vectors directly; below a NULL parent they hold zeros, and nobody looks above.",
    source="https://arrow.apache.org/docs/format/Columnar.html#struct-layout",
    needs="restriction, nesting, NULL",
)
class NullRecordReadsAsDefaults(Dialect):
    """A restriction sees the fields of a NULL RECORD as 0, FALSE or the empty string."""

    def column(self, path: Sequence[str], snapshot: Snapshot) -> Value:
        value = super().column(path, snapshot)
        if len(path) == 1 or value.type not in _DEFAULTS or value.column is not None:
            return value
        parent = super().column(path[:-1], snapshot)
        default = pa.scalar(_DEFAULTS[value.type], value.data.type)
        return Value(value.type, pc.if_else(pc.is_null(parent.data), default, value.data))


@fault(
    "dialects.unselected-child-is-null",
    why="The scan reads the selected leaves alone; the filter runs after it and finds nothing where a leaf was pruned.",
    source="https://github.com/trinodb/trino/pull/21337",
    needs="restriction, projection, nesting",
)
class UnselectedChildIsNull(Dialect):
    """A restriction sees NULL in a field of a RECORD of which only other fields are selected."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._asked = threading.local()

    def resolve_columns(self, snapshot: Snapshot, selected: Sequence[str]) -> tuple[Column, ...]:
        self._asked.columns = super().resolve_columns(snapshot, selected)
        return tuple(self._asked.columns)

    def column(self, path: Sequence[str], snapshot: Snapshot) -> Value:
        value = super().column(path, snapshot)
        columns: Sequence[Column] = self._asked.columns
        for depth, name in enumerate(path):
            found = next((column for column in columns if column.name.lower() == name.lower()), None)
            if found is None:
                if depth == 0 or value.column is not None:
                    return value
                return Value(value.type, pa.nulls(len(value.data), value.data.type))
            columns = found.fields
        return value
