"""Syntax tree to values: a closed list of node types, each with one function; whatever is not listed is refused.

Logic is three-valued throughout; operators are those of Arrow's compute kernels. Source: "Operators" of the BigQuery
SQL reference (https://cloud.google.com/bigquery/docs/reference/standard-sql/operators).
"""

from __future__ import annotations

import decimal
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from conformance.protocols.storage_read.reference.sql import functions
from conformance.protocols.storage_read.reference.sql.arithmetic import arithmetic, negative
from conformance.protocols.storage_read.reference.sql.casts import cast
from conformance.protocols.storage_read.reference.sql.syntax import TYPE_NAMES, Expression
from conformance.protocols.storage_read.reference.sql.values import ARROW, NULL, SqlError, Value, to_type, unify
from conformance.records import BqType

__all__ = ["NODES", "Interpreter", "Nodes", "Scope", "evaluate"]

Scope = Callable[[tuple[str, ...]], Value]
"""A dotted name to its value; raises SqlError if the name is unknown."""

_NUMBER: Final = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_INT64: Final = range(-(1 << 63), 1 << 63)
_INT64_DIGITS: Final = 20
"""With the sign."""
_COMPARABLE: Final = frozenset(ARROW) - {BqType.JSON, BqType.GEOGRAPHY}
_TYPES: Final[Mapping[str, BqType]] = MappingProxyType(
    {
        **{name: BqType(name) for name in TYPE_NAMES if name in set(BqType)},
        "INTEGER": BqType.INT64,
        "DECIMAL": BqType.NUMERIC,
        "BIGDECIMAL": BqType.BIGNUMERIC,
    }
)


def evaluate(expression: Expression, scope: Scope, nodes: Nodes | None = None) -> Value:
    """The expression's value, names resolved by ``scope``; a mutant brings functions of its own for some ``nodes``.

    Raises:
        SqlError: something in it is not on the list, does not type-check, or fails on a value.
    """
    interpreter = _Interpreter(expression.literals, scope, NODES if nodes is None else nodes)
    try:
        return interpreter.value(expression.tree)
    except RecursionError:
        raise SqlError("expected a simpler expression; this one is nested too deeply") from None
    except pa.ArrowException as error:
        raise SqlError(f"expected values that can be computed with: {error}") from None


class _Interpreter:
    """Evaluates the nodes of a tree; ``nodes`` names the function for each type of node."""

    def __init__(self, literals: Mapping[str, str | bytes], scope: Scope, nodes: Nodes) -> None:
        self._literals = literals
        self._scope = scope
        self._nodes = nodes

    def value(self, node: exp.Expression) -> Value:
        """The value of a node.

        Raises:
            SqlError: nodes of its type are not supported, or as the node's own function says.
        """
        handler = self._nodes.get(type(node))
        if handler is None:
            raise SqlError(f"expected an expression of a supported form, got {node.key}")
        return handler(self, node)

    def boolean(self, node: exp.Expression) -> Any:
        value = self.value(node)
        if value.type not in (BqType.BOOL, None) or value.column is not None:
            raise SqlError(f"expected BOOL, got {value.name}")
        return to_type(value, BqType.BOOL).data

    # --- leaves ---------------------------------------------------------------------------------------

    def literal(self, node: exp.Expression) -> Value:
        if not node.is_string:
            return _number(node.name)
        item = self._literals[node.name]
        if isinstance(item, bytes):
            return Value(BqType.BYTES, pa.scalar(item, ARROW[BqType.BYTES]), literal="")
        return Value(BqType.STRING, pa.scalar(item, ARROW[BqType.STRING]), literal=item)

    def name(self, node: exp.Expression) -> Value:
        return self._scope(tuple(_path(node)))

    def null(self, _node: exp.Expression) -> Value:
        return NULL

    def truth(self, node: exp.Expression) -> Value:
        return Value(BqType.BOOL, pa.scalar(bool(node.this)))

    def parenthesis(self, node: exp.Expression) -> Value:
        return self.value(node.this)

    # --- logic ----------------------------------------------------------------------------------------

    def conjunction(self, node: exp.Expression) -> Value:
        operands = map(self.boolean, _operands(node))
        return Value(BqType.BOOL, functools.reduce(pc.and_kleene, operands))

    def disjunction(self, node: exp.Expression) -> Value:
        operands = map(self.boolean, _operands(node))
        return Value(BqType.BOOL, functools.reduce(pc.or_kleene, operands))

    def negation(self, node: exp.Expression) -> Value:
        return Value(BqType.BOOL, pc.invert(self.boolean(node.this)))

    # --- comparison -----------------------------------------------------------------------------------

    def comparison(self, node: exp.Expression) -> Value:
        if isinstance(node.this, _COMPARISONS) or isinstance(node.expression, _COMPARISONS):
            raise SqlError("expected parentheses: comparisons do not associate")
        left, right = _comparable([self.value(node.this), self.value(node.expression)])
        return Value(BqType.BOOL, _COMPARE[type(node)](left.data, right.data))

    def between(self, node: exp.Expression) -> Value:
        if set(_given(node)) - {"this", "low", "high"}:
            raise SqlError("expected BETWEEN a AND b")
        bounds = (self.value(node.this), self.value(node.args["low"]), self.value(node.args["high"]))
        value, low, high = _comparable(bounds)
        inside = pc.and_kleene(pc.greater_equal(value.data, low.data), pc.less_equal(value.data, high.data))
        return Value(BqType.BOOL, inside)

    def membership(self, node: exp.Expression) -> Value:
        if set(_given(node)) - {"this", "expressions", "unnest"}:
            raise SqlError("expected IN with a list of values")
        unnest = node.args.get("unnest")
        if unnest is not None:
            return self._in_array(node.this, unnest)
        if not node.expressions:
            raise SqlError("expected IN with at least one value")
        value, *items = _comparable([self.value(node.this), *map(self.value, node.expressions)])
        equal = (pc.equal(value.data, item.data) for item in items)
        return Value(BqType.BOOL, functools.reduce(pc.or_kleene, equal))

    def _in_array(self, node: exp.Expression, unnest: exp.Expression) -> Value:
        if len(unnest.expressions) != 1:
            raise SqlError("expected UNNEST of one array")
        (array,) = unnest.expressions
        if isinstance(array, exp.Array):
            return self.membership(exp.In(this=node, expressions=array.expressions))
        return functions.in_unnest(self.value(node), self.value(array))

    def identity(self, node: exp.Expression) -> Value:
        if isinstance(node.expression, exp.Null):
            return Value(BqType.BOOL, pc.is_null(self.value(node.this).data))
        if not isinstance(node.expression, exp.Boolean):
            raise SqlError("expected IS [NOT] NULL, TRUE or FALSE")
        held = pc.equal(self.boolean(node.this), pa.scalar(bool(node.expression.this)))
        return Value(BqType.BOOL, pc.fill_null(held, pa.scalar(False)))  # noqa: FBT003  # SQL's FALSE

    def like(self, node: exp.Expression) -> Value:
        if set(_given(node)) - {"this", "expression", "negate"}:
            raise SqlError("expected LIKE with one pattern")
        value, pattern = unify([self.value(node.this), self.value(node.expression)])
        if value.type not in (BqType.STRING, BqType.BYTES):
            raise SqlError(f"expected STRING or BYTES before LIKE, got {value.name}")
        matched = functions.by_pattern(value, pattern, _like_pattern)
        return Value(BqType.BOOL, pc.invert(matched) if node.args.get("negate") else matched)

    # --- arithmetic, conversion, choice, calls --------------------------------------------------------

    def arithmetic(self, node: exp.Expression) -> Value:
        return arithmetic(_ARITHMETIC[type(node)], self.value(node.this), self.value(node.expression))

    def negative(self, node: exp.Expression) -> Value:
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return _number(f"-{node.this.name}")
        return negative(self.value(node.this))

    def concatenation(self, node: exp.Expression) -> Value:
        return functions.call("CONCAT", [self.value(node.this), self.value(node.expression)])

    def conversion(self, node: exp.Expression) -> Value:
        if set(_given(node)) - {"this", "to", "safe"} or node.args["to"].expressions:
            raise SqlError("expected CAST(value AS type) without parameters or format")
        name = node.args["to"].sql("bigquery").upper()
        if name not in _TYPES:
            raise SqlError(f"expected a scalar type to cast to, got {name}")
        return cast(self.value(node.this), _TYPES[name], safe=isinstance(node, exp.TryCast))

    def choice(self, node: exp.Expression) -> Value:
        """CASE, both forms, and IF."""
        branches = [node] if isinstance(node, exp.If) else node.args["ifs"]
        subject = None if isinstance(node, exp.If) or node.this is None else self.value(node.this)
        if isinstance(node, exp.If) and "false" not in set(_given(node)):
            raise SqlError("expected IF with three arguments")
        default = node.args.get("false" if isinstance(node, exp.If) else "default")
        results = [self.value(branch.args["true"]) for branch in branches]
        *taken, otherwise = unify([*results, NULL if default is None else self.value(default)])
        for branch, result in zip(reversed(branches), reversed(taken), strict=True):
            held = self.boolean(branch.this) if subject is None else _equal(subject, self.value(branch.this))
            chosen = pc.if_else(pc.fill_null(held, pa.scalar(False)), result.data, otherwise.data)  # noqa: FBT003  # SQL's FALSE
            otherwise = Value(otherwise.type, chosen)
        return otherwise

    def call(self, node: exp.Expression) -> Value:
        if set(_given(node)) - {"this", "expressions"} or not isinstance(node.this, str):
            raise SqlError("expected a plain function call")
        return functions.call(node.this.upper(), list(map(self.value, node.expressions)))


def _given(node: exp.Expression) -> Iterator[str]:
    """Names of the arguments that a node really has."""
    return (name for name, given in node.args.items() if given)


def _path(node: exp.Expression | None) -> Iterator[str]:
    """The parts of a dotted name."""
    if isinstance(node, exp.Dot):
        yield from _path(node.this)
        yield from _path(node.expression)
    elif isinstance(node, exp.Column):
        parts = node.parts
        if not all(isinstance(part, exp.Identifier) for part in parts):
            raise SqlError("expected a column name")
        yield from (part.name for part in parts)
    elif isinstance(node, exp.Identifier):
        yield node.name
    else:
        raise SqlError("expected a field name after the dot")


def _operands(node: exp.Expression) -> Iterator[exp.Expression]:
    """The operands of a chain of one operator, without recursion: a chain may have thousands."""
    pending = [node]
    while pending:
        top = pending.pop()
        if type(top) is type(node):
            pending += [top.expression, top.this]
        else:
            yield top


def _number(text: str) -> Value:
    if not _NUMBER.fullmatch(text):
        raise SqlError(f"expected a number, got {text}")
    if re.fullmatch(r"-?\d+", text):
        # Python makes no integer of thousands of digits, and zeros in front are digits to it.
        text = re.sub(r"(?<!\d)0+(?=\d)", "", text)
        if len(text) > _INT64_DIGITS or int(text) not in _INT64:
            raise SqlError(f"expected an INT64 literal, got {text}")
        return Value(BqType.INT64, pa.scalar(int(text), pa.int64()), literal=text)
    return Value(BqType.FLOAT64, pa.scalar(float(text), pa.float64()), literal=str(decimal.Decimal(text)))


def _comparable(values: list[Value] | tuple[Value, ...]) -> list[Value]:
    unified = unify(values)
    if unified[0].type not in _COMPARABLE:
        raise SqlError(f"expected values that compare, got {unified[0].name}")
    return unified


def _equal(left: Value, right: Value) -> Any:
    one, other = _comparable([left, right])
    return pc.equal(one.data, other.data)


def _like_pattern(pattern: str) -> str:
    """A LIKE pattern as a regular expression of RE2."""
    parts, characters = [], iter(pattern)
    for character in characters:
        if character == "\\":
            escaped = next(characters, None)
            if escaped is None:
                raise SqlError("expected a character after the last backslash of the LIKE pattern")
            parts.append(re.escape(escaped))
        else:
            parts.append({"%": ".*", "_": "."}.get(character) or re.escape(character))
    return f"(?s)^{''.join(parts)}$"


_COMPARE: Final[Mapping[type[exp.Expression], Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        exp.EQ: pc.equal,
        exp.NEQ: pc.not_equal,
        exp.LT: pc.less,
        exp.LTE: pc.less_equal,
        exp.GT: pc.greater,
        exp.GTE: pc.greater_equal,
    }
)
_COMPARISONS: Final = (*_COMPARE, exp.In, exp.Between, exp.Like, exp.Is)
_ARITHMETIC: Final[Mapping[type[exp.Expression], str]] = MappingProxyType(
    {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
)

Interpreter: TypeAlias = _Interpreter

Nodes: TypeAlias = Mapping[type[exp.Expression], Callable[[Interpreter, exp.Expression], Value]]

NODES: Final[Nodes] = MappingProxyType(
    {
        exp.Literal: _Interpreter.literal,
        exp.Column: _Interpreter.name,
        exp.Dot: _Interpreter.name,
        exp.Null: _Interpreter.null,
        exp.Boolean: _Interpreter.truth,
        exp.Paren: _Interpreter.parenthesis,
        exp.And: _Interpreter.conjunction,
        exp.Or: _Interpreter.disjunction,
        exp.Not: _Interpreter.negation,
        **dict.fromkeys(_COMPARE, _Interpreter.comparison),
        exp.Between: _Interpreter.between,
        exp.In: _Interpreter.membership,
        exp.Is: _Interpreter.identity,
        exp.Like: _Interpreter.like,
        **dict.fromkeys(_ARITHMETIC, _Interpreter.arithmetic),
        exp.Neg: _Interpreter.negative,
        exp.DPipe: _Interpreter.concatenation,
        exp.Cast: _Interpreter.conversion,
        exp.TryCast: _Interpreter.conversion,
        exp.Case: _Interpreter.choice,
        exp.If: _Interpreter.choice,
        exp.Anonymous: _Interpreter.call,
    }
)
"""The function for each type of node that is supported."""
