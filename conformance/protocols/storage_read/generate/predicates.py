"""Restrictions drawn over plain rows: a predicate of the model, and its text as SQL.

The model alone decides which rows a predicate selects; nothing here parses or runs SQL. Literals are values of the
table, so that a restriction selects some rows and not others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from conformance.generate.choices import Choices, one_in
from conformance.generate.outline import ROW_ID
from conformance.protocols.storage_read.generate.restrictions import literal_of, quoted
from conformance.protocols.storage_read.model.predicates import (
    COMPARED,
    And,
    Between,
    ComparedWith,
    ComparisonOperator,
    InList,
    IsNull,
    Not,
    Operand,
    Or,
    Predicate,
    StartsWith,
)
from conformance.records import BqType, Column, Mode

__all__ = ["draw_near", "draw_predicate", "draw_selective", "sql_of"]

Rows = Sequence[Mapping[str, Any]]

_TRIES: Final = 8
"""The number of predicates drawn for one that selects as many rows as asked for: most do at the first or second try."""


def sql_of(predicate: Predicate) -> str:
    """Return the text of a predicate as a row_restriction, with parentheses only where precedence needs them.

    NOT binds closer than AND, AND closer than OR, and comparisons closer than all three:
    https://cloud.google.com/bigquery/docs/reference/standard-sql/operators#operator_precedence
    """
    return _written(predicate, _OR)


_OR, _AND, _NOT = range(3)
"""How close the operator around a text binds, loosest first."""


def _written(predicate: Predicate, around: int) -> str:  # noqa: PLR0911  # one return per kind of predicate
    match predicate:
        case ComparedWith(operand, operator, value):
            return f"{_name(operand)} {operator} {_literal(operand, value)}"
        case Between(operand, low, high):
            return f"{_name(operand)} BETWEEN {_literal(operand, low)} AND {_literal(operand, high)}"
        case InList(operand, values):
            return f"{_name(operand)} IN ({', '.join(_literal(operand, value) for value in values)})"
        case StartsWith(operand, prefix):
            return f"{_name(operand)} LIKE '{prefix}%'"
        case IsNull(operand):
            return f"{_name(operand)} IS NULL"
        case Not(IsNull(operand)):
            return f"{_name(operand)} IS NOT NULL"
        case Not(one):
            return f"NOT {_written(one, _NOT)}"
        case And(one, other):
            text = f"{_written(one, _AND)} AND {_written(other, _AND)}"
            return f"({text})" if around > _AND else text
        case Or(one, other):
            text = f"{_written(one, _OR)} OR {_written(other, _OR)}"
            return f"({text})" if around > _OR else text


def _name(operand: Operand) -> str:
    return ".".join(map(quoted, operand.path))


def _literal(operand: Operand, value: Any) -> str:
    literal = literal_of(operand.type, value)
    assert literal is not None, "only values with a literal are drawn"
    return literal


def draw_selective(
    choices: Choices, columns: Sequence[Column], rows: Rows, *, seen: Rows, some: bool
) -> Predicate | None:
    """Return a predicate with literals of ``rows`` that is TRUE for some of the rows that are ``seen`` and not for
    others, or (unless ``some``) for none of these. Where all rows are alike, it is TRUE for all of them.

    The result is None if the table has no column to compare.
    """
    for _ in range(_TRIES):
        predicate = draw_predicate(choices, columns, rows)
        if predicate is None:
            return None
        if (1 < _selected(predicate, seen) < len(seen)) if some else not _selected(predicate, seen):
            return predicate
    if any(column.name == ROW_ID for column in columns):
        row_id = Operand((ROW_ID,), BqType.INT64)
        return (
            ComparedWith(row_id, ComparisonOperator.GREATER, len(seen) // 3)
            if some
            else ComparedWith(row_id, ComparisonOperator.LESS, 0)
        )
    unknown = IsNull(next(_operands(columns)))
    if not some:
        return And(unknown, Not(unknown))
    apart = (one for one in _equalities(columns, seen) if 0 < _selected(one, seen) < len(seen))
    return next(apart, Or(unknown, Not(unknown)))


def _selected(predicate: Predicate, rows: Rows) -> int:
    return sum(predicate.truth(row) is True for row in rows)


def _equalities(columns: Sequence[Column], rows: Rows) -> Iterator[Predicate]:
    """Yield, for each value of a row that has a literal, that its column has this value."""
    for operand in _operands(columns):
        for value in (operand.of(row) for row in rows if operand.type in COMPARED):
            if literal_of(operand.type, value) is not None:
                yield ComparedWith(operand, ComparisonOperator.EQUAL, value)


def draw_near(choices: Choices, predicate: Predicate) -> Predicate:
    """Return a predicate that is hardly another one: the same, its negation, or one with its texts in the other case.

    A server that keeps what an earlier restriction selected must not take one for the other.
    """
    return choices.pick((_same, Not, _in_other_case, _in_other_case))(predicate)


def _same(predicate: Predicate) -> Predicate:
    return predicate


def _in_other_case(predicate: Predicate) -> Predicate:  # noqa: PLR0911  # one return per kind of predicate
    match predicate:
        case ComparedWith(operand, operator, value) if operand.type is BqType.STRING:
            return ComparedWith(operand, operator, value.swapcase())
        case InList(operand, values) if operand.type is BqType.STRING:
            return InList(operand, tuple(value.swapcase() for value in values))
        case StartsWith(operand, prefix):
            return StartsWith(operand, prefix.swapcase())
        case Not(one):
            return Not(_in_other_case(one))
        case And(one, other):
            return And(_in_other_case(one), _in_other_case(other))
        case Or(one, other):
            return Or(_in_other_case(one), _in_other_case(other))
        case _:
            return predicate


def draw_predicate(choices: Choices, columns: Sequence[Column], rows: Rows) -> Predicate | None:
    """Return a predicate on the columns; None if there is none to compare."""
    operands = list(_operands(columns))
    if not operands:
        return None
    one = _atom(choices, choices.pick(operands), rows)
    if not one_in(choices, 3):
        return one
    return choices.pick(_JOINED)(one, _atom(choices, choices.pick(operands), rows))


_JOINED: Final[Sequence[Callable[[Predicate, Predicate], Predicate]]] = (
    And,
    Or,
    lambda one, other: And(one, Not(other)),
    lambda one, other: And(Not(one), other),
    lambda one, other: Or(Not(one), other),
    lambda one, other: Not(Or(one, other)),
)


def _operands(columns: Sequence[Column], path: tuple[str, ...] = ()) -> Iterator[Operand]:
    """Yield every column, and every field of records, that is not repeated and no record itself.

    The service was seen to refuse ``IS NULL`` of a record, which a scenario could not go on without.
    """
    for column in columns:
        if column.mode is not Mode.REPEATED:
            here = (*path, column.name)
            if column.type is not BqType.RECORD:
                yield Operand(here, column.type)
            yield from _operands(column.fields, here)


def _atom(choices: Choices, operand: Operand, rows: Rows) -> Predicate:
    """Return a predicate about one operand; about NULL if the value drawn has no literal."""
    values = [_value(choices, operand, rows) for _ in range(2)] if operand.type in COMPARED and rows else [None, None]
    made = None
    if all(literal_of(operand.type, value) is not None for value in values):
        made = choices.pick(_MAKERS.get(operand.type, _ORDERED))(choices, operand, values)
    if made is not None:
        return made
    return IsNull(operand) if one_in(choices, 2) else Not(IsNull(operand))


def _value(choices: Choices, operand: Operand, rows: Rows) -> Any:
    return operand.of(rows[choices.integer(0, len(rows) - 1)])


Maker = Callable[[Choices, Operand, Sequence[Any]], Predicate | None]


def _comparison(choices: Choices, operand: Operand, values: Sequence[Any]) -> Predicate:
    return ComparedWith(operand, choices.pick(tuple(ComparisonOperator)), values[0])


def _equality(choices: Choices, operand: Operand, values: Sequence[Any]) -> Predicate:
    return ComparedWith(operand, choices.pick((ComparisonOperator.EQUAL, ComparisonOperator.NOT_EQUAL)), values[0])


def _between(_choices: Choices, operand: Operand, values: Sequence[Any]) -> Predicate:
    return Between(operand, *sorted(values, key=operand.literal))


def _in(_choices: Choices, operand: Operand, values: Sequence[Any]) -> Predicate:
    return InList(operand, tuple(values))


def _prefix(_choices: Choices, operand: Operand, values: Sequence[Any]) -> Predicate | None:
    found = re.match("[a-zA-Z]+", values[0])
    return StartsWith(operand, found[0]) if found else None


_ORDERED: Final[Sequence[Maker]] = (_comparison, _comparison, _between, _in)
_MAKERS: Final[Mapping[BqType, Sequence[Maker]]] = MappingProxyType(
    {BqType.STRING: (_equality, _equality, _in, _prefix), BqType.BOOL: (_equality,)}
)
"""The predicates of each type; a type without an entry has an order and those of ``_ORDERED``."""
