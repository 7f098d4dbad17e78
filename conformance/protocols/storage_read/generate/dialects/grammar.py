"""The grammar of restrictions: conditions on the columns of a table, by the documented rules of BigQuery's SQL.

A condition is drawn for a type; its literals are values of the column or near ones, and every operator, function and
spelling here is documented (:mod:`.readings` has the addresses). Nothing raises an error on the rows at hand:
no division by zero, no overflow, no CAST of a value that does not convert.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from conformance.generate.choices import Choices, one_in
from conformance.protocols.storage_read.generate.dialects.comments import COMMENTED, COMMENTS
from conformance.protocols.storage_read.generate.dialects.literals import literal
from conformance.protocols.storage_read.generate.dialects.numbers import (
    as_integer,
    commented_number,
    division,
    numeric_sum,
    remainder,
    tenths,
    text_of,
    total,
)
from conformance.protocols.storage_read.generate.dialects.places import SYMBOLS, ColumnPlace, Maker, named, near
from conformance.protocols.storage_read.generate.dialects.terms import (
    HOUR,
    LOCAL,
    PREDICATE,
    ReadingUnknownError,
    Row,
    Term,
    both,
    compared,
    either,
    negated,
    raised,
    within,
)
from conformance.protocols.storage_read.generate.dialects.texts import (
    affix,
    cased,
    concat,
    length,
    like,
    number_in_text,
    part,
    pipes,
)
from conformance.records import BqType

__all__ = [
    "FOCUS",
    "KINDS",
    "ColumnPlace",
    "Focus",
    "PredicateKind",
    "condition",
    "predicate",
    "predicate_of",
    "shaped",
]

_DAY: Final = 24 * HOUR


def predicate(choices: Choices, places: Sequence[ColumnPlace], wanted: str = "") -> Term:
    """Return one predicate, of a kind that the reading ``wanted`` concerns; without one, of any kind.

    On a column for which the drawn kind cannot be made it is a predicate on NULL.
    """
    if wanted in COMMENTED:
        return COMMENTED[wanted](predicate(choices, places))
    focus = FOCUS.get(wanted)
    concerned = [place for place in places if focus and place.type in focus.types]
    place = choices.pick(concerned or places)
    makers = focus.makers if focus and concerned else _MAKERS.get(place.type, ())
    made = choices.pick(makers)(choices, place, places) if makers and (wanted or not one_in(choices, 10)) else None
    made = made or _null(choices, place)
    return negated(made, plain=one_in(choices, 2)) if one_in(choices, 5) else made


def predicate_of(choices: Choices, places: Sequence[ColumnPlace], kind: PredicateKind) -> Term | None:
    """Return a predicate of a kind, on one of the places of its type; None if it cannot be made on their values."""
    here = [place for place in places if place.type is kind.type]
    return kind.maker(choices, choices.pick(here), places) if here else None


def shaped(choices: Choices, places: Sequence[ColumnPlace], number: int) -> Term:
    """Return three predicates in the ``number``-th shape of AND, OR and NOT, counted round."""
    one, two, three = (predicate(choices, places) for _ in range(3))
    return _SHAPES[number % len(_SHAPES)](one, two, three)


_not, _and, _or = (functools.partial(made, plain=True) for made in (negated, both, either))
_SHAPES: Final[Sequence[Callable[[Term, Term, Term], Term]]] = (
    lambda a, b, _: _and(_not(a), b),
    lambda a, b, c: _or(a, _and(b, c)),
    lambda a, b, _: _or(_not(a), b),
    lambda a, b, c: _or(_and(a, _not(b)), c),
    lambda a, b, c: _and(_or(a, b), c),
    lambda a, b, c: _and(_not(_and(a, b)), c),
    lambda a, b, c: _not(_or(_and(a, b), c)),
    lambda a, b, c: _or(a, _and(_not(b), c)),
)
"""Every order in which two of the three operators can meet, with parentheses where they change the meaning."""


def condition(choices: Choices, places: Sequence[ColumnPlace], first: Term) -> Term:
    """Return a condition with the predicate ``first``, joined with others by AND, OR and NOT, with comments."""
    term = first
    for _ in range(choices.pick((1, 1, 2))):
        pair = [term, predicate(choices, places)]
        if one_in(choices, 2):
            pair.reverse()
        plain = one_in(choices, 2)
        if one_in(choices, 3):
            place = choices.integer(0, 1)
            pair[place] = negated(pair[place], plain=plain)
        term = choices.pick((both, either))(*pair, plain=plain)
    if one_in(choices, 4):
        term = negated(term)
    return choices.pick(tuple(COMMENTS.values()))(term) if one_in(choices, 8) else term


# --- any type -------------------------------------------------------------------------------------


def _null(choices: Choices, place: ColumnPlace) -> Term:
    value, negative = named(choices, place), one_in(choices, 2)

    def meaning(row: Row, reading: str) -> bool:
        return (value.meaning(row, reading) is None) is not negative

    return Term(f"{value.sql} IS {'NOT ' if negative else ''}NULL", BqType.BOOL, meaning, binds=PREDICATE)


def _comparison(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    other = near(choices, place)
    return None if other is None else _sides(choices, choices.pick(SYMBOLS), named(choices, place), other)


def _sides(choices: Choices, symbol: str, one: Term, other: Term) -> Term:
    """Return the comparison, its literal first in one of four."""
    return compared(symbol, other, one) if one_in(choices, 4) else compared(symbol, one, other)


def _same(choices: Choices, place: ColumnPlace, places: Sequence[ColumnPlace]) -> Term | None:
    """Compare the column with itself, or with another one of its type."""
    others = [other for other in places if other.type is place.type]
    return compared(choices.pick(SYMBOLS), named(choices, place), named(choices, choices.pick(others)))


def _between(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    low, high = near(choices, place), near(choices, place)
    if low is None or high is None:
        return None
    return within(named(choices, place), (low, high), negative=one_in(choices, 3))


_NULL: Final = Term("NULL", BqType.INT64, lambda _row, _reading: None, bare=True)


def _in(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    listed = [item for item in (near(choices, place) for _ in range(choices.integer(1, 3))) if item is not None]
    if not listed:
        return None
    if one_in(choices, 2):
        listed.append(_NULL)
    value, negative = named(choices, place), one_in(choices, 2)
    held: Term = compared("=", value, listed[0])
    for item in listed[1:]:
        held = either(held, compared("=", value, item))
    final = negated(held) if negative else held
    listing = ", ".join(item.sql for item in listed)
    return Term(f"{value.sql} {'NOT ' if negative else ''}IN ({listing})", BqType.BOOL, final.meaning, binds=PREDICATE)


def _truth_test(choices: Choices, place: ColumnPlace, places: Sequence[ColumnPlace]) -> Term | None:
    inner = _comparison(choices, place, places)
    if inner is None:
        return None
    wanted, negative = one_in(choices, 2), one_in(choices, 2)

    def meaning(row: Row, reading: str) -> bool:
        return (inner.meaning(row, reading) is wanted) is not negative

    text = f"({inner.sql}) IS {'NOT ' if negative else ''}{str(wanted).upper()}"
    return Term(text, BqType.BOOL, meaning, binds=PREDICATE)


def _default(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    default, other = near(choices, place), near(choices, place)
    if default is None or other is None:
        return None
    value = named(choices, place)

    def meaning(row: Row, reading: str) -> Any:
        held, instead = value.meaning(row, reading), default.meaning(row, reading)
        return instead if held is None else held

    name = choices.pick(("COALESCE", "IFNULL"))
    filled = Term(f"{name}({value.sql}, {default.sql})", place.type, meaning)
    # Neither dialect applies the type of a column to the result of a function.
    guarded = raised(filled.sql, filled.type, lambda _reading, held: held, filled)
    return compared(choices.pick(SYMBOLS), guarded, other)


# --- dates ----------------------------------------------------------------------------------------


def _date_of(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    if not place.known:
        return None
    value = named(choices, place)

    def date(reading: str, micros: int) -> int:
        return (micros + (LOCAL if reading == "local-zone" else 0)) // _DAY

    sql = f"DATE({value.sql})" if one_in(choices, 2) else f"CAST({value.sql} AS DATE)"
    bound = literal(choices, BqType.DATE, date("", choices.pick(place.known)))
    assert bound is not None
    symbol, made = choices.pick(SYMBOLS), raised(sql, BqType.DATE, date, value)

    def meaning(row: Row, reading: str) -> Any:
        if reading == "dates-are-texts":
            raise ReadingUnknownError
        return compared(symbol, made, bound).meaning(row, reading)

    return Term(compared(symbol, made, bound).sql, BqType.BOOL, meaning)


_ANY: Final[Sequence[Maker]] = (_comparison, _comparison, _between, _in, _same, _default, _truth_test)
_MAKERS: Final[Mapping[BqType, Sequence[Maker]]] = MappingProxyType(
    {
        BqType.INT64: (*_ANY, division, division, tenths, tenths, total, commented_number, remainder, text_of),
        BqType.FLOAT64: (*_ANY, _same, as_integer, as_integer),
        BqType.NUMERIC: (*_ANY, numeric_sum, numeric_sum, as_integer),
        BqType.STRING: (
            *(*_ANY, _comparison, like, like, like, affix, length, cased, part, part),
            *(concat, pipes, number_in_text, number_in_text),
        ),
        BqType.BOOL: (_comparison, _same, _truth_test, text_of),
        BqType.BYTES: (_comparison, _in),
        BqType.DATE: (_comparison, _comparison, _between, _in, _same),
        BqType.TIMESTAMP: (_comparison, _comparison, _between, _in, _date_of),
        BqType.DATETIME: (_comparison, _between, _in),
        BqType.TIME: (_comparison, _between, _in),
    }
)
"""The predicates of each type; other types have only predicates about NULL."""


@dataclasses.dataclass(frozen=True, slots=True)
class PredicateKind:
    """A kind of predicate on a type."""

    type: BqType
    maker: Maker


KINDS: Final = tuple(PredicateKind(kind, maker) for kind, makers in _MAKERS.items() for maker in makers)
"""Every kind of predicate on every type, as often as it is drawn, those of a type next to each other."""


@dataclasses.dataclass(frozen=True, slots=True)
class Focus:
    """What a reading concerns: the types of columns, kinds of predicates, and the values of texts."""

    types: tuple[BqType, ...]
    makers: tuple[Maker, ...]
    theme: str = ""


_TEXT: Final = (BqType.STRING,)
_INT: Final = (BqType.INT64,)
_SPELLED: Final = Focus(_TEXT, (_comparison, _comparison, _in, like), "names")
_COMPARED: Final = (_comparison, _comparison, _between, _in)

FOCUS: Final[Mapping[str, Focus]] = MappingProxyType(
    {
        "double-quotes-are-names": _SPELLED,
        "backslash-is-a-character": dataclasses.replace(_SPELLED, theme="patterns"),
        "hex-escape-unknown": _SPELLED,
        "doubled-quote-is-a-quote": _SPELLED,
        "prefixes-unknown": Focus((BqType.BYTES, BqType.STRING), (_comparison, _in)),
        "dashes-need-a-blank": Focus(_INT, (commented_number,)),
        "literals-are-decimals": Focus(_INT, (tenths,)),
        "numeric-is-a-double": Focus((BqType.NUMERIC,), (numeric_sum, numeric_sum, _comparison)),
        "strings-become-numbers": Focus(_TEXT, _COMPARED, "digits"),
        "dates-are-texts": Focus((BqType.DATE,), _COMPARED),
        "zone-is-dropped": Focus((BqType.TIMESTAMP,), _COMPARED),
        "local-zone": Focus((BqType.TIMESTAMP,), (*_COMPARED, _date_of)),
        "boolean-text-is-a-digit": Focus((BqType.BOOL,), (text_of,)),
        "like-ignores-case": Focus(_TEXT, (like,), "cases"),
        "like-has-no-escape": Focus(_TEXT, (like,), "patterns"),
        "text-ignores-case": Focus(_TEXT, _COMPARED, "cases"),
        "trailing-blanks-ignored": Focus(_TEXT, _COMPARED, "blanks"),
        "order-of-a-language": Focus(_TEXT, (_comparison, _between), "cases"),
        "division-of-integers": Focus(_INT, (division,)),
        "quotient-of-four-decimals": Focus(_INT, (division,)),
        "nan-is-greatest": Focus((BqType.FLOAT64,), (_comparison, _same)),
        "nan-is-null": Focus((BqType.FLOAT64,), (_comparison, _same, _truth_test)),
        "pipes-are-or": Focus(_TEXT, (pipes,), "cases"),
        "null-compares-false": Focus(_TEXT, (_comparison, _in, like, _between)),
        "between-in-any-order": Focus((BqType.INT64, BqType.FLOAT64, BqType.STRING), (_between,)),
        "cast-truncates": Focus((BqType.NUMERIC,), (as_integer,), "halves"),
        "cast-rounds-to-even": Focus((BqType.FLOAT64,), (as_integer,), "halves"),
        "cast-takes-a-prefix": Focus(_TEXT, (number_in_text,), "digits"),
        "length-in-bytes": Focus(_TEXT, (length,), "accents"),
        "lower-of-ascii-only": Focus(_TEXT, (cased,), "accents"),
        "substr-counts-position-zero": Focus(_TEXT, (part,)),
        "concat-skips-null": Focus(_TEXT, (concat,)),
        "remainder-of-the-divisor": Focus(_INT, (remainder,)),
    }
)
"""What readings concern; the others concern names and comments, which any restriction may have."""
