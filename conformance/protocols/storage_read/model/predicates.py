"""Restrictions over rows of plain values, under the three-valued logic of GoogleSQL: TRUE, FALSE, or NULL as None.

A value has the JSON form of :class:`conformance.records.Table`. Comparisons are exact for the types of
:data:`COMPARED`; other types can only be tested for NULL.
https://cloud.google.com/bigquery/docs/reference/standard-sql/operators
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from conformance.records import BqType

__all__ = [
    "COMPARED",
    "And",
    "Between",
    "ComparedWith",
    "ComparisonOperator",
    "InList",
    "IsNull",
    "Not",
    "Operand",
    "Or",
    "Predicate",
    "StartsWith",
]

Truth: TypeAlias = bool | None


def _as_it_is(value: Any) -> Any:
    return value


COMPARED: Final[Mapping[BqType, Callable[[Any], Any]]] = MappingProxyType(
    {
        BqType.INT64: _as_it_is,
        BqType.BOOL: _as_it_is,
        BqType.STRING: _as_it_is,
        BqType.DATE: _as_it_is,
        BqType.TIME: _as_it_is,
        BqType.DATETIME: _as_it_is,
        BqType.TIMESTAMP: lambda value: value.removesuffix("Z"),
        BqType.NUMERIC: Decimal,
        BqType.BIGNUMERIC: Decimal,
        BqType.FLOAT64: float,
    }
)
"""For each type that can be compared, a function from a value's JSON form to a Python value of the same order.

Dates and times have fixed widths, so that their texts are in their order. Texts compare by code point, which is the
order of their UTF-8 bytes. NaN equals nothing, itself included.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Operand:
    """A column, or a field inside records that are not repeated: its path and its type."""

    path: tuple[str, ...]
    type: BqType

    def of(self, row: Mapping[str, Any]) -> Any:
        """Return the value in a row, as its JSON form; None for NULL, also where a record around it is NULL."""
        value: Any = row
        for name in self.path:
            value = None if value is None else value.get(name)
        return value

    def compared(self, row: Mapping[str, Any]) -> Any:
        """Return the value in a row as a Python value that compares as the type does; None for NULL."""
        value = self.of(row)
        return None if value is None else COMPARED[self.type](value)

    def literal(self, value: Any) -> Any:
        """Return a literal of the operand's type, given in its JSON form, as :meth:`compared` returns values."""
        return COMPARED[self.type](value)


class ComparisonOperator(enum.StrEnum):
    """A comparison operator, in its SQL form."""

    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


_HOLDS: Final[Mapping[ComparisonOperator, Callable[[Any, Any], bool]]] = MappingProxyType(
    {
        ComparisonOperator.EQUAL: lambda one, other: one == other,
        ComparisonOperator.NOT_EQUAL: lambda one, other: one != other,
        ComparisonOperator.LESS: lambda one, other: one < other,
        ComparisonOperator.LESS_OR_EQUAL: lambda one, other: one <= other,
        ComparisonOperator.GREATER: lambda one, other: one > other,
        ComparisonOperator.GREATER_OR_EQUAL: lambda one, other: one >= other,
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class ComparedWith:
    """``operand OPERATOR value``."""

    operand: Operand
    operator: ComparisonOperator
    value: Any

    def truth(self, row: Mapping[str, Any]) -> Truth:
        """Return the value for a row."""
        value = self.operand.compared(row)
        return None if value is None else _HOLDS[self.operator](value, self.operand.literal(self.value))


@dataclasses.dataclass(frozen=True, slots=True)
class Between:
    """``operand BETWEEN low AND high``."""

    operand: Operand
    low: Any
    high: Any

    def truth(self, row: Mapping[str, Any]) -> Truth:
        """Return the value for a row."""
        value = self.operand.compared(row)
        if value is None:
            return None
        return bool(self.operand.literal(self.low) <= value <= self.operand.literal(self.high))


@dataclasses.dataclass(frozen=True, slots=True)
class InList:
    """``operand IN (values)``; no value is NULL."""

    operand: Operand
    values: tuple[Any, ...]

    def truth(self, row: Mapping[str, Any]) -> Truth:
        """Return the value for a row."""
        value = self.operand.compared(row)
        return None if value is None else any(value == self.operand.literal(one) for one in self.values)


@dataclasses.dataclass(frozen=True, slots=True)
class StartsWith:
    """``operand LIKE 'prefix%'``; the prefix has letters only."""

    operand: Operand
    prefix: str

    def truth(self, row: Mapping[str, Any]) -> Truth:
        """Return the value for a row."""
        value = self.operand.of(row)
        return None if value is None else value.startswith(self.prefix)


@dataclasses.dataclass(frozen=True, slots=True)
class IsNull:
    """``operand IS NULL``."""

    operand: Operand

    def truth(self, row: Mapping[str, Any]) -> Truth:
        """Return the value for a row, never None."""
        return self.operand.of(row) is None


@dataclasses.dataclass(frozen=True, slots=True)
class Not:
    """``NOT (one)``."""

    one: Predicate

    def truth(self, row: Mapping[str, Any]) -> Truth:
        """Return the value for a row."""
        value = self.one.truth(row)
        return None if value is None else not value


@dataclasses.dataclass(frozen=True, slots=True)
class And:
    """``(one) AND (other)``: FALSE if either is, else NULL if either is."""

    one: Predicate
    other: Predicate

    def truth(self, row: Mapping[str, Any]) -> Truth:
        """Return the value for a row."""
        values = (self.one.truth(row), self.other.truth(row))
        if False in values:
            return False
        return None if None in values else True


@dataclasses.dataclass(frozen=True, slots=True)
class Or:
    """``(one) OR (other)``: TRUE if either is, else NULL if either is."""

    one: Predicate
    other: Predicate

    def truth(self, row: Mapping[str, Any]) -> Truth:
        """Return the value for a row."""
        values = (self.one.truth(row), self.other.truth(row))
        if True in values:
            return True
        return None if None in values else False


Predicate: TypeAlias = ComparedWith | Between | InList | StartsWith | IsNull | Not | And | Or
"""A restriction."""
