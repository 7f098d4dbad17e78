"""Row restrictions with known answers: SQL text, and the rows of the case that it selects.

The rows are computed here from the case's own values, with Arrow's three-valued logic; no SQL is parsed. Literals
are taken from the table, so that a restriction selects some rows and not others. Only predicates with an unambiguous
meaning are drawn: comparisons, BETWEEN, IN, IS NULL, LIKE, AND, OR, NOT.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from conformance.generate.choices import Choices, one_in
from conformance.generate.written import array_from_values, values_from_array
from conformance.protocols.storage_read.contract.restrictions import calls_function
from conformance.records import BqType, Column, Expect, Mode

__all__ = ["OPEN", "Restriction", "draw_restriction", "expected", "literal_of", "quoted"]

OPEN: Final = ("OK", "INVALID_ARGUMENT")
"""The codes of a restriction that a server may refuse: the right rows or a refusal, never other rows."""


def expected(sql: str, rows: tuple[int, ...], *, opened: bool = False) -> Expect:
    """What a restriction has to give: its ``rows``, or a refusal if it is ``opened`` or calls a function.

    Functions are those of GoogleSQL's pages. The proto promises a text that is similar to a WHERE clause and names no
    function but those on geography; the service was seen to refuse a valid one
    (https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/514).
    """
    return Expect(rows=rows, codes=OPEN) if opened or calls_function(sql) else Expect(rows=rows)


@dataclasses.dataclass(frozen=True, slots=True)
class Restriction:
    """A predicate: its text, and its value for every row: true, false or null (an Arrow boolean array).

    It is ``opened`` if a server may refuse it: it asks whether a record is NULL, which the service refused in public
    reports (https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/197).
    """

    sql: str
    truth: pa.Array
    opened: bool = False

    @property
    def expect(self) -> Expect:
        """What the server has to answer."""
        return expected(self.sql, self.rows, opened=self.opened)

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows for which the predicate is true: neither false nor null."""
        return tuple(index for index, kept in enumerate(self.truth.to_pylist()) if kept)


def draw_restriction(choices: Choices, columns: tuple[Column, ...], table: pa.Table) -> Restriction | None:
    """Return a restriction on the columns of ``table``; None if no column can be compared."""
    places = list(_places(columns, table))
    if not places:
        return None
    one = _atom(choices, choices.pick(places))
    if not one_in(choices, 3):
        return one
    other = _atom(choices, choices.pick(places))
    combine = choices.pick(_COMBINATIONS)
    if one.opened or other.opened:
        return other if one.opened else one
    return combine(one, other)


def _and(one: Restriction, other: Restriction) -> Restriction:
    return Restriction(f"({one.sql}) AND ({other.sql})", pc.and_kleene(one.truth, other.truth))


def _or(one: Restriction, other: Restriction) -> Restriction:
    return Restriction(f"({one.sql}) OR ({other.sql})", pc.or_kleene(one.truth, other.truth))


def _and_not(one: Restriction, other: Restriction) -> Restriction:
    return Restriction(f"({one.sql}) AND NOT ({other.sql})", pc.and_kleene(one.truth, pc.invert(other.truth)))


_COMBINATIONS: Final = (_and, _or, _and_not)


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    """An operand of predicates with a value per row: a column, or a field inside records that are not repeated."""

    column: Column
    sql: str
    values: pa.Array


def _places(columns: tuple[Column, ...], table: pa.Table) -> Iterator[_Place]:
    for index, column in enumerate(columns):
        yield from _places_in(column, quoted(column.name), table.column(index).chunk(0))


def _places_in(column: Column, sql: str, values: pa.Array) -> Iterator[_Place]:
    if column.mode is Mode.REPEATED:
        return
    yield _Place(column, sql, values)
    if column.type is BqType.RECORD:
        for index, field in enumerate(column.fields):
            if field.mode is not Mode.REPEATED:
                yield from _places_in(field, f"{sql}.{quoted(field.name)}", pc.struct_field(values, [index]))


_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED: Final = frozenset({"select", "from", "order", "group", "null", "end", "range", "interval"})
"""The reserved words of GoogleSQL among the names that profiles draw from
(https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical#reserved_keywords).
"""


def quoted(name: str) -> str:
    """Return a column's name as a restriction writes it: in backquotes if it is a keyword or no plain name."""
    return name if _PLAIN_NAME.fullmatch(name) and name.lower() not in _RESERVED else f"`{name}`"


def _simple_text(value: str) -> str | None:
    """Return a string literal that needs no escape; None for other texts, which would test the escapes."""
    return f"'{value}'" if re.fullmatch(r"[ -&(-\[\]-~]{0,40}", value) else None


def _instant(kind: str) -> Callable[[Any], str]:
    return lambda value: f"{kind} '{value.replace('T', ' ').replace('Z', '+00')}'"


_LITERALS: Final[Mapping[BqType, Callable[[Any], str | None]]] = MappingProxyType(
    {
        # The least integer has no literal of its own: its digits without the sign overflow.
        BqType.INT64: lambda value: str(value) if value > -(1 << 63) else None,
        BqType.FLOAT64: lambda value: repr(value) if isinstance(value, float) else None,
        BqType.BOOL: lambda value: "TRUE" if value else "FALSE",
        BqType.STRING: _simple_text,
        BqType.DATE: lambda value: f"DATE '{value}'",
        BqType.TIME: lambda value: f"TIME '{value}'",
        BqType.DATETIME: _instant("DATETIME"),
        BqType.TIMESTAMP: _instant("TIMESTAMP"),
        BqType.NUMERIC: lambda value: f"NUMERIC '{value}'",
        BqType.BIGNUMERIC: lambda value: f"BIGNUMERIC '{value}'",
    }
)
"""For each type with literals, a function from a value's JSON form to its literal, or to None if it has no plain
literal.
"""


def literal_of(kind: BqType, value: Any) -> str | None:
    """Return the literal of a value that is given in its JSON form; None if it has no plain literal."""
    show = _LITERALS.get(kind)
    return None if show is None or value is None else show(value)


_COMPARISONS: Final = (
    ("=", pc.equal),
    ("!=", pc.not_equal),
    ("<", pc.less),
    ("<=", pc.less_equal),
    (">", pc.greater),
    (">=", pc.greater_equal),
)
Compare = Callable[[pa.Array, pa.Scalar], pa.Array]
Maker = Callable[[Choices, _Place], Restriction | None]


def _atom(choices: Choices, place: _Place) -> Restriction:
    """Return a predicate about one operand; about NULL if its type, or the values drawn, have no literals."""
    maker = choices.pick(_MAKERS.get(place.column.type, (_null,)))
    return maker(choices, place) or _null(choices, place)


def _null(choices: Choices, place: _Place) -> Restriction:
    opened = place.column.type is BqType.RECORD
    if one_in(choices, 2):
        return Restriction(f"{place.sql} IS NULL", pc.is_null(place.values), opened)
    return Restriction(f"{place.sql} IS NOT NULL", pc.is_valid(place.values), opened)


def _comparison(choices: Choices, place: _Place) -> Restriction | None:
    return _compared(choices, place, choices.pick(_COMPARISONS))


def _equality(choices: Choices, place: _Place) -> Restriction | None:
    return _compared(choices, place, choices.pick(_COMPARISONS[:2]))


def _compared(choices: Choices, place: _Place, comparison: tuple[str, Compare]) -> Restriction | None:
    operator, compare = comparison
    literal = _literal(choices, place)
    if literal is None:
        return None
    return Restriction(f"{place.sql} {operator} {literal[0]}", compare(place.values, literal[1]))


def _between(choices: Choices, place: _Place) -> Restriction | None:
    low, high = (_literal(choices, place) for _ in range(2))
    if low is None or high is None:
        return None
    truth = pc.and_kleene(pc.greater_equal(place.values, low[1]), pc.less_equal(place.values, high[1]))
    return Restriction(f"{place.sql} BETWEEN {low[0]} AND {high[0]}", truth)


def _in(choices: Choices, place: _Place) -> Restriction | None:
    one, other = (_literal(choices, place) for _ in range(2))
    if one is None or other is None:
        return None
    truth = pc.or_kleene(pc.equal(place.values, one[1]), pc.equal(place.values, other[1]))
    return Restriction(f"{place.sql} IN ({one[0]}, {other[0]})", truth)


def _like(choices: Choices, place: _Place) -> Restriction | None:
    literal = _literal(choices, place)
    prefix = re.match(r"'([a-zA-Z]+)", literal[0]) if literal else None
    if prefix is None:
        return None
    return Restriction(f"{place.sql} LIKE '{prefix[1]}%'", pc.starts_with(place.values, prefix[1]))


_ORDERED: Final[Sequence[Maker]] = (_null, _comparison, _comparison, _comparison, _between, _in)
_MAKERS: Final[Mapping[BqType, Sequence[Maker]]] = MappingProxyType(
    {
        **dict.fromkeys(_LITERALS, _ORDERED),
        BqType.STRING: (_null, _equality, _equality, _in, _like),
        BqType.BOOL: (_null, _equality, _equality),
    }
)
"""The predicates of each type, simplest first; other types have only predicates about NULL."""


def _literal(choices: Choices, place: _Place) -> tuple[str, pa.Scalar] | None:
    """Return the literal of one of the operand's own values, and the value; None if no literal can be written."""
    if place.column.type not in _LITERALS or not len(place.values):
        return None
    at = choices.integer(0, len(place.values) - 1)
    value = values_from_array(place.column, place.values.slice(at, 1))[0]
    literal = literal_of(place.column.type, value)
    return None if literal is None else (literal, array_from_values(place.column, [value])[0])
