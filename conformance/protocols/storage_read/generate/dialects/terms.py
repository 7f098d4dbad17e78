"""Expressions as a pair of text and meaning: what BigQuery makes of a row, and what each wrong reading makes of it.

Rows are plain Python values: INT64 an int, FLOAT64 a float, NUMERIC a Decimal, DATE the days and TIMESTAMP the
microseconds since 1970, a STRUCT a dict, NULL is None. No Arrow and no SQL engine takes part.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from conformance.protocols.storage_read.generate.dialects.readings import LOCAL_ZONE_HOURS
from conformance.records import BqType

__all__ = [
    "ELSEWHERE_RESERVED",
    "EXACT",
    "HOUR",
    "LOCAL",
    "PREDICATE",
    "ReadingRefusedError",
    "ReadingUnknownError",
    "Row",
    "Term",
    "both",
    "column",
    "compared",
    "either",
    "negated",
    "raised",
    "within",
]

Row = Mapping[str, Any]
Meaning = Callable[[Row, str], Any]
"""From a row and the name of a reading to a value; the reading without a name is BigQuery's own."""

EXACT: Final = decimal.Context(prec=76)
HOUR: Final = 3_600_000_000
LOCAL: Final = LOCAL_ZONE_HOURS * HOUR
ELSEWHERE_RESERVED: Final = frozenset({"check", "table"})
"""Names that other engines reserve and BigQuery does not."""

_EPOCH: Final = dt.date(1970, 1, 1).toordinal()


class ReadingRefusedError(Exception):
    """The reading refuses the restriction."""


class ReadingUnknownError(Exception):
    """What the reading makes of a value is not known; nothing is concluded from it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Term:
    """An expression: its text, its type, and its meaning.

    ``name`` is set for a column, ``bare`` says that no operator is in the text, so that it needs no parentheses.
    ``binds`` says how close the outermost operator of a condition binds: a condition in one that binds less can be
    written without parentheses.
    """

    sql: str
    type: BqType
    meaning: Meaning
    name: str = ""
    bare: bool = False
    binds: int = 0


OR, AND, NOT, PREDICATE = 1, 2, 3, 4
"""How close operators bind, loosest first; 0 for a text that is always put in parentheses.

https://cloud.google.com/bigquery/docs/reference/standard-sql/operators#operator_precedence
"""


def _inside(term: Term, around: int, *, plain: bool) -> str:
    """Return the text of a condition inside an operator; ``plain`` leaves out parentheses that it does not need."""
    return term.sql if plain and term.binds >= around else f"({term.sql})"


def column(names: Sequence[str], kind: BqType, *, written: Sequence[str]) -> Term:
    """Return the column or field of these names, ``written`` with backticks or without, in any case."""
    quoted = [part.startswith("`") for part in written]

    def meaning(row: Row, reading: str) -> Any:
        if reading in _NAMES:
            _refuse_names(reading, names, written, quoted)
        value: Any = row
        for name in names:
            value = None if value is None else value[name]
        return _stored(value, kind, reading)

    return Term(".".join(written), kind, meaning, name=names[0], bare=True)


_NAMES: Final = frozenset({"backticks-unknown", "names-fold-to-lower", "reserved-elsewhere", "dotted-name-is-a-table"})


def _refuse_names(reading: str, names: Sequence[str], written: Sequence[str], quoted: Sequence[bool]) -> None:
    refused = {
        "backticks-unknown": any(quoted),
        "names-fold-to-lower": any(
            (part.strip("`") if held else part.lower()) != name
            for name, part, held in zip(names, written, quoted, strict=True)
        ),
        "reserved-elsewhere": not quoted[0] and names[0].lower() in ELSEWHERE_RESERVED,
        "dotted-name-is-a-table": len(names) > 1,
    }
    if refused[reading]:
        raise ReadingRefusedError


def _stored(value: Any, kind: BqType, reading: str) -> Any:
    """The value as an engine with this reading would have it in its table."""
    if value is None:
        return None
    if reading == "nan-is-null" and kind is BqType.FLOAT64:
        return None if math.isnan(value) else value
    if reading == "numeric-is-a-double" and kind is BqType.NUMERIC:
        return float(value)
    if reading == "strings-become-numbers" and kind is BqType.STRING:
        return _number_of(value)
    if reading == "dates-are-texts" and kind is BqType.DATE:
        return dt.date.fromordinal(value + _EPOCH).isoformat()
    return value


def _number_of(text: Any) -> Any:
    """The number that a text of digits is, otherwise the text; texts that need a rule of their own are left aside."""
    if not isinstance(text, str):
        return text
    if re.fullmatch(r"-?\d{1,15}", text):
        return int(text)
    if re.search(r"\d", text) and re.fullmatch(r"[\s\d.eE+xX-]*", text):
        raise ReadingUnknownError
    return text


# --- comparison -----------------------------------------------------------------------------------

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = MappingProxyType(
    {
        "=": operator.eq,
        "!=": operator.ne,
        "<>": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    }
)


def compared(symbol: str, left: Term, right: Term) -> Term:
    """Return the comparison of two terms of one type or of numbers."""
    compare = _COMPARE[symbol]

    def meaning(row: Row, reading: str) -> bool | None:
        return _truth(compare, left.meaning(row, reading), right.meaning(row, reading), reading, symbol, left, right)

    return Term(f"{_operand(left)} {symbol} {_operand(right)}", BqType.BOOL, meaning, binds=PREDICATE)


def _operand(term: Term) -> str:
    return f"({term.sql})" if term.type is BqType.BOOL and not term.bare else term.sql


def _truth(  # noqa: PLR0917  # the operands, their terms and how to compare
    compare: Callable[[Any, Any], bool], one: Any, other: Any, reading: str, symbol: str, left: Term, right: Term
) -> bool | None:
    if one is None or other is None:
        return False if reading == "null-compares-false" else None
    if reading == "strings-become-numbers" and BqType.STRING in (left.type, right.type):
        return compare(*_by_affinity(one, other, left, right))
    if isinstance(one, str) and isinstance(other, str):
        one, other = _texts(one, other, reading, ordered=symbol not in ("=", "!=", "<>"))
    elif isinstance(one, float) or isinstance(other, float):
        one, other = float(one), float(other)
        if reading == "nan-is-greatest":
            one, other = _ranked(one), _ranked(other)
    return compare(one, other)


def _ranked(number: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(number) else (False, number)


def _by_affinity(one: Any, other: Any, left: Term, right: Term) -> tuple[Any, Any]:
    """A column makes a number of what it is compared with; numbers are less than texts."""
    if left.name or right.name:
        one, other = _number_of(one), _number_of(other)
    return (isinstance(one, str), one), (isinstance(other, str), other)


def _texts(one: str, other: str, reading: str, *, ordered: bool) -> tuple[Any, Any]:
    if reading == "trailing-blanks-ignored":
        _known(not ordered or all(character >= " " for character in one + other))
        return one.rstrip(" "), other.rstrip(" ")
    if reading == "text-ignores-case":
        _known((one + other).isascii() and (not ordered or (one + other).isalnum()))
        return one.lower(), other.lower()
    if reading == "order-of-a-language" and ordered:
        _known(one == other or ((one + other).isascii() and (one + other).isalnum()))
        return (one.lower(), one.swapcase()), (other.lower(), other.swapcase())
    return one, other


def _known(condition: bool) -> None:  # noqa: FBT001  # reads as an assertion
    if not condition:
        raise ReadingUnknownError


def within(value: Term, bounds: tuple[Term, Term], *, negative: bool = False) -> Term:
    """Return BETWEEN, or NOT BETWEEN."""
    low, high = bounds
    rising = compared("<=", low, high)
    inside = both(compared(">=", value, low), compared("<=", value, high))
    swapped = both(compared(">=", value, high), compared("<=", value, low))

    def meaning(row: Row, reading: str) -> bool | None:
        falls = reading == "between-in-any-order" and rising.meaning(row, "") is False
        held = (swapped if falls else inside).meaning(row, reading)
        return _inverted(held) if negative else held

    word = "NOT BETWEEN" if negative else "BETWEEN"
    return Term(f"{value.sql} {word} {low.sql} AND {high.sql}", BqType.BOOL, meaning, binds=PREDICATE)


# --- logic ----------------------------------------------------------------------------------------


def both(one: Term, other: Term, *, plain: bool = False) -> Term:
    """Return AND of two conditions; if ``plain``, with parentheses only where precedence needs them."""
    return _joined(AND, one, other, plain=plain)


def either(one: Term, other: Term, *, plain: bool = False) -> Term:
    """Return OR of two conditions; if ``plain``, with parentheses only where precedence needs them."""
    return _joined(OR, one, other, plain=plain)


def _joined(operator: int, one: Term, other: Term, *, plain: bool) -> Term:
    decisive = operator == OR

    def meaning(row: Row, reading: str) -> bool | None:
        # Both sides are computed: a reading refuses a text whatever the values are.
        held = (one.meaning(row, reading), other.meaning(row, reading))
        if decisive in held:
            return decisive
        return None if None in held else not decisive

    left, right = (_inside(term, operator, plain=plain) for term in (one, other))
    return Term(f"{left} {'OR' if decisive else 'AND'} {right}", BqType.BOOL, meaning, binds=operator)


def negated(one: Term, *, plain: bool = False) -> Term:
    """Return NOT of a condition; if ``plain``, with parentheses only where precedence needs them."""
    return Term(
        f"NOT {_inside(one, NOT, plain=plain)}",
        BqType.BOOL,
        lambda row, reading: _inverted(one.meaning(row, reading)),
        binds=NOT,
    )


def _inverted(held: bool | None) -> bool | None:  # noqa: FBT001  # a truth value
    return None if held is None else not held


def raised(sql: str, kind: BqType, function: Callable[..., Any], *arguments: Term) -> Term:
    """Return a call: ``function`` gets the reading and the values, none of them NULL; otherwise the call is NULL."""

    def meaning(row: Row, reading: str) -> Any:
        values = [argument.meaning(row, reading) for argument in arguments]
        if any(value is None for value in values):
            return None
        if reading == "strings-become-numbers" and any(
            argument.type is BqType.STRING and not isinstance(value, str)
            for argument, value in zip(arguments, values, strict=True)
        ):
            raise ReadingUnknownError
        return function(reading, *values)

    return Term(sql, kind, meaning)
