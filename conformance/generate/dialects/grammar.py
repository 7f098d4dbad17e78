"""The grammar of restrictions: conditions on the columns of a table, by the documented rules of BigQuery's SQL.

A condition is drawn for a type; its literals are values of the column or near ones, and every operator, function and
spelling here is documented (:mod:`.readings` has the addresses). Nothing raises an error on the rows at hand:
no division by zero, no overflow, no CAST of a value that does not convert.
"""

from __future__ import annotations

import dataclasses
import decimal
import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from conformance.generate.choices import Choices, one_in
from conformance.generate.dialects.literals import literal, plain_text
from conformance.generate.dialects.pattern import liked
from conformance.generate.dialects.terms import (
    EXACT,
    HOUR,
    LOCAL,
    PREDICATE,
    ReadingRefusedError,
    ReadingUnknownError,
    Row,
    Term,
    both,
    column,
    compared,
    either,
    negated,
    raised,
    within,
)
from conformance.records import BqType

__all__ = ["FOCUS", "KINDS", "Focus", "Kind", "Place", "condition", "predicate", "predicate_of", "shaped"]

_SYMBOLS: Final = ("=", "<", ">", "!=", "<=", ">=", "<>")
_EQUALITY: Final = ("=", "=", "!=", "<>")
_DAY: Final = 24 * HOUR
_RESERVED: Final = frozenset({"select", "from", "order", "group", "null", "end", "range", "interval"})


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A column or a field of STRUCTs: its names from the outside inwards, its type, and its value in each row."""

    names: tuple[str, ...]
    type: BqType
    values: tuple[Any, ...]

    @property
    def known(self) -> list[Any]:
        """The values that are not NULL."""
        return [value for value in self.values if value is not None]


Maker = Callable[[Choices, Place, Sequence[Place]], Term | None]


def predicate(choices: Choices, places: Sequence[Place], wanted: str = "") -> Term:
    """Return one predicate, of a kind that the reading ``wanted`` concerns; without one, of any kind.

    On a column for which the drawn kind cannot be made it is a predicate on NULL.
    """
    if wanted in _COMMENTED:
        return _COMMENTED[wanted](predicate(choices, places))
    focus = FOCUS.get(wanted)
    concerned = [place for place in places if focus and place.type in focus.types]
    place = choices.pick(concerned or places)
    makers = focus.makers if focus and concerned else _MAKERS.get(place.type, ())
    made = choices.pick(makers)(choices, place, places) if makers and (wanted or not one_in(choices, 10)) else None
    made = made or _null(choices, place)
    return negated(made, plain=one_in(choices, 2)) if one_in(choices, 5) else made


def predicate_of(choices: Choices, places: Sequence[Place], kind: Kind) -> Term | None:
    """Return a predicate of a kind, on one of the places of its type; None if it cannot be made on their values."""
    here = [place for place in places if place.type is kind.type]
    return kind.maker(choices, choices.pick(here), places) if here else None


def shaped(choices: Choices, places: Sequence[Place], number: int) -> Term:
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


def condition(choices: Choices, places: Sequence[Place], first: Term) -> Term:
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
    return choices.pick(tuple(_COMMENTS.values()))(term) if one_in(choices, 8) else term


def _named(choices: Choices, place: Place) -> Term:
    return column(place.names, place.type, written=[_written(choices, name) for name in place.names])


def _written(choices: Choices, name: str) -> str:
    if name.lower() in _RESERVED or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return f"`{name}`"
    other = name.upper() if name.islower() else name.lower()
    return choices.pick((name, name, name, name, name, name, f"`{name}`", other))


def _near(choices: Choices, place: Place) -> Term | None:
    """Return a literal of one of the column's values, or None."""
    known = place.known
    return literal(choices, place.type, choices.pick(known)) if known else None


# --- any type -------------------------------------------------------------------------------------


def _null(choices: Choices, place: Place) -> Term:
    value, negative = _named(choices, place), one_in(choices, 2)

    def meaning(row: Row, reading: str) -> bool:
        return (value.meaning(row, reading) is None) is not negative

    return Term(f"{value.sql} IS {'NOT ' if negative else ''}NULL", BqType.BOOL, meaning, binds=PREDICATE)


def _comparison(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    other = _near(choices, place)
    return None if other is None else _sides(choices, choices.pick(_SYMBOLS), _named(choices, place), other)


def _sides(choices: Choices, symbol: str, one: Term, other: Term) -> Term:
    """Return the comparison, its literal first in one of four."""
    return compared(symbol, other, one) if one_in(choices, 4) else compared(symbol, one, other)


def _same(choices: Choices, place: Place, places: Sequence[Place]) -> Term | None:
    """Compare the column with itself, or with another one of its type."""
    others = [other for other in places if other.type is place.type]
    return compared(choices.pick(_SYMBOLS), _named(choices, place), _named(choices, choices.pick(others)))


def _between(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    low, high = _near(choices, place), _near(choices, place)
    if low is None or high is None:
        return None
    return within(_named(choices, place), (low, high), negative=one_in(choices, 3))


_NULL: Final = Term("NULL", BqType.INT64, lambda _row, _reading: None, bare=True)


def _in(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    listed = [item for item in (_near(choices, place) for _ in range(choices.integer(1, 3))) if item is not None]
    if not listed:
        return None
    if one_in(choices, 2):
        listed.append(_NULL)
    value, negative = _named(choices, place), one_in(choices, 2)
    held: Term = compared("=", value, listed[0])
    for item in listed[1:]:
        held = either(held, compared("=", value, item))
    final = negated(held) if negative else held
    listing = ", ".join(item.sql for item in listed)
    return Term(f"{value.sql} {'NOT ' if negative else ''}IN ({listing})", BqType.BOOL, final.meaning, binds=PREDICATE)


def _truth_test(choices: Choices, place: Place, places: Sequence[Place]) -> Term | None:
    inner = _comparison(choices, place, places)
    if inner is None:
        return None
    wanted, negative = one_in(choices, 2), one_in(choices, 2)

    def meaning(row: Row, reading: str) -> bool:
        return (inner.meaning(row, reading) is wanted) is not negative

    text = f"({inner.sql}) IS {'NOT ' if negative else ''}{str(wanted).upper()}"
    return Term(text, BqType.BOOL, meaning, binds=PREDICATE)


def _default(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    default, other = _near(choices, place), _near(choices, place)
    if default is None or other is None:
        return None
    value = _named(choices, place)

    def meaning(row: Row, reading: str) -> Any:
        held, instead = value.meaning(row, reading), default.meaning(row, reading)
        return instead if held is None else held

    name = choices.pick(("COALESCE", "IFNULL"))
    filled = Term(f"{name}({value.sql}, {default.sql})", place.type, meaning)
    # Neither dialect applies the type of a column to the result of a function.
    guarded = raised(filled.sql, filled.type, lambda _reading, held: held, filled)
    return compared(choices.pick(_SYMBOLS), guarded, other)


# --- numbers --------------------------------------------------------------------------------------


def _number(kind: BqType, value: Any) -> Term:
    found = literal(_FIRST, kind, value)
    assert found is not None
    return found


class _First:
    """Choices that are always the first: the plain spelling."""

    def integer(self, low: int, _high: int) -> int:
        return low

    def pick(self, options: Sequence[Any]) -> Any:
        return options[0]


_FIRST: Final = _First()


def _small(place: Place) -> bool:
    return all(abs(value) < 1 << 31 for value in place.known)


def _division(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    if not place.known or not _small(place):
        return None
    by = choices.pick((2, 3, 4, 7))
    near = choices.pick(place.known)
    value = _named(choices, place)
    quotient = raised(f"{value.sql} / {by}", BqType.FLOAT64, _quotient, value, _number(BqType.INT64, by))
    if near % by:
        bound = _number(BqType.FLOAT64, float(decimal.Decimal(repr(near / by)).quantize(decimal.Decimal("0.0001"))))
    else:
        bound = _number(BqType.INT64, near // by)
    return compared(choices.pick(_SYMBOLS), quotient, bound)


def _quotient(reading: str, one: int, by: int) -> Any:
    if reading == "division-of-integers":
        return abs(one) // by * (1 if one >= 0 else -1)
    if reading == "quotient-of-four-decimals":
        exact = EXACT.divide(decimal.Decimal(one), decimal.Decimal(by))
        return exact.quantize(decimal.Decimal("0.0001"), decimal.ROUND_HALF_UP, EXACT)
    return one / by


def _tenths(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    """Compare a product with a literal of decimals: 3 * 0.1 is not 0.3 in binary."""
    if not place.known or not _small(place):
        return None
    near = choices.pick(place.known)
    tenth = decimal.Decimal("0.1")
    exact = EXACT.multiply(decimal.Decimal(near), tenth)
    value = _named(choices, place)
    product = raised(f"{value.sql} * 0.1", BqType.FLOAT64, _product, value, _number(BqType.FLOAT64, 0.1))
    return compared(choices.pick(_EQUALITY), product, _number(BqType.FLOAT64, float(exact)))


def _product(_reading: str, one: Any, other: Any) -> Any:
    if isinstance(one, float) or isinstance(other, float):
        return float(one) * float(other)
    return one * other


def _sum(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    if not place.known or not _small(place):
        return None
    value, by = _named(choices, place), choices.integer(-3, 9)
    symbol = choices.pick("+-")
    step = by if symbol == "+" else -by
    moved = raised(f"{value.sql} {symbol} {by}", BqType.INT64, lambda _reading, one, _by: one + step, value, _NUMBER)
    return compared(choices.pick(_SYMBOLS), moved, _number(BqType.INT64, choices.pick(place.known) + step))


_NUMBER: Final = Term("1", BqType.INT64, lambda _row, _reading: 1, bare=True)


def _commented_number(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    """Put a comment right behind a number: ``i < 5--3``."""
    if not place.known or not _small(place):
        return None
    value, near, more = _named(choices, place), choices.pick(place.known), choices.integer(1, 9)

    def meaning(_row: Row, reading: str) -> int:
        return int(near + more) if reading == "dashes-need-a-blank" else int(near)

    bound = Term(f"{near}--{more}\n", BqType.INT64, meaning)
    return compared(choices.pick(_SYMBOLS), value, bound)


def _remainder(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    by = choices.pick((2, 3, 5))
    value = _named(choices, place)

    def remainder(reading: str, one: int) -> int:
        return one % by if reading == "remainder-of-the-divisor" else int(math.copysign(abs(one) % by, one))

    return compared("=", raised(f"MOD({value.sql}, {by})", BqType.INT64, remainder, value), _NUMBER)


def _text_of(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    if not place.known:
        return None
    value = _named(choices, place)
    text = raised(f"CAST({value.sql} AS STRING)", BqType.STRING, _as_text, value)
    return compared(choices.pick(_EQUALITY), text, plain_text(_as_text("", choices.pick(place.known))))


def _as_text(reading: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value)) if reading == "boolean-text-is-a-digit" else str(value).lower()
    return str(value)


def _as_integer(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    if not place.known or not all(math.isfinite(value) and abs(value) < 1 << 31 for value in place.known):
        return None
    value = _named(choices, place)
    number = raised(f"CAST({value.sql} AS INT64)", BqType.INT64, _whole, value)
    return compared(choices.pick(_SYMBOLS), number, _number(BqType.INT64, _whole("", choices.pick(place.known))))


def _whole(reading: str, value: Any) -> int:
    exact = value if isinstance(value, decimal.Decimal) else decimal.Decimal(value)
    is_float = isinstance(value, float)
    rounding = decimal.ROUND_HALF_UP
    if reading == "cast-truncates":
        rounding = decimal.ROUND_DOWN
    elif reading == "cast-rounds-to-even" and is_float:
        rounding = decimal.ROUND_HALF_EVEN
    return int(exact.quantize(decimal.Decimal(1), rounding, EXACT))


def _numeric_sum(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    """Compare a sum of decimals with its exact result: 0.1 + 0.2 is 0.3 in NUMERIC."""
    if not place.known or not all(abs(value) < 1 << 31 for value in place.known):
        return None
    by = choices.pick((decimal.Decimal("0.2"), decimal.Decimal("0.7"), decimal.Decimal("1.1")))
    value, more = _named(choices, place), _number(BqType.NUMERIC, by)
    total = EXACT.add(choices.pick(place.known), by)
    added = raised(f"{value.sql} + {more.sql}", BqType.NUMERIC, lambda _reading, one, two: one + two, value, more)
    return compared(choices.pick(_SYMBOLS), added, _number(BqType.NUMERIC, total))


# --- texts ----------------------------------------------------------------------------------------


def _like(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    return liked(choices, _named(choices, place), place.known)


def _affix(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    if not place.known:
        return None
    text = choices.pick(place.known)
    count = choices.integer(0, min(2, len(text)))
    value = _named(choices, place)
    if one_in(choices, 2):
        other = plain_text(text[:count])
        return raised(f"STARTS_WITH({value.sql}, {other.sql})", BqType.BOOL, _starts, value, other)
    other = plain_text(text[len(text) - count :])
    return raised(f"ENDS_WITH({value.sql}, {other.sql})", BqType.BOOL, _ends, value, other)


def _starts(_reading: str, one: str, other: str) -> bool:
    return one.startswith(other)


def _ends(_reading: str, one: str, other: str) -> bool:
    return one.endswith(other)


def _length(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    value = _named(choices, place)
    length = raised(
        f"LENGTH({value.sql})",
        BqType.INT64,
        lambda reading, one: len(one.encode()) if reading == "length-in-bytes" else len(one),
        value,
    )
    bound = len(choices.pick(place.known)) if place.known else 1
    return compared(choices.pick(_SYMBOLS), length, _number(BqType.INT64, bound))


_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_ASCII_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


def _cased(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    # The two cases of a letter differ in length for some letters; BigQuery's choice is not documented.
    if not place.known or not all(len(v.lower()) == len(v) == len(v.upper()) for v in place.known):
        return None
    value, upper = _named(choices, place), one_in(choices, 2)

    def change(reading: str, one: str) -> str:
        if reading == "lower-of-ascii-only":
            return one.translate(_ASCII_UPPER if upper else _ASCII_LOWER)
        return one.upper() if upper else one.lower()

    made = raised(f"{'UPPER' if upper else 'LOWER'}({value.sql})", BqType.STRING, change, value)
    return compared(choices.pick(_EQUALITY), made, plain_text(change("", choices.pick(place.known))))


def _part(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    if not place.known:
        return None
    value, start, length = _named(choices, place), choices.pick((0, 0, 1, 2)), choices.integer(1, 3)

    def part(reading: str, one: str) -> str:
        at = max(start - 1, 0)
        if reading == "substr-counts-position-zero" and start == 0:
            return one[: length - 1]
        return one[at : at + length]

    made = raised(f"SUBSTR({value.sql}, {start}, {length})", BqType.STRING, part, value)
    return compared(choices.pick(_EQUALITY), made, plain_text(part("", choices.pick(place.known))))


def _concat(choices: Choices, place: Place, places: Sequence[Place]) -> Term | None:
    other = choices.pick([held for held in places if held.type is BqType.STRING])
    one, two = _named(choices, place), _named(choices, other)

    def meaning(row: Row, reading: str) -> str | None:
        held = [term.meaning(row, reading) for term in (one, two)]
        if reading == "concat-skips-null":
            held = [value or "" for value in held]
        if None in held:
            return None
        if not all(isinstance(value, str) for value in held):
            raise ReadingUnknownError
        return "".join(held)

    made = Term(f"CONCAT({one.sql}, {two.sql})", BqType.STRING, meaning)
    pairs = [a + b for a, b in zip(place.values, other.values, strict=True) if a is not None and b is not None]
    alone = [a or b or "" for a, b in zip(place.values, other.values, strict=True)]
    return compared(choices.pick(("!=", "=", "<>")), made, plain_text(choices.pick((pairs or alone) + alone)))


def _pipes(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    if not place.known or any(re.match(r"[\s\d.+-]", value) for value in place.known):
        return None
    value, more = _named(choices, place), plain_text("x")
    wanted = plain_text(f"{choices.pick(place.known)}x")
    joined = raised(f"{value.sql} || {more.sql}", BqType.STRING, lambda _r, one, two: one + two, value, more)
    symbol = choices.pick(("=", "!="))
    truth = compared(symbol, joined, wanted)

    def meaning(row: Row, reading: str) -> Any:
        if reading != "pipes-are-or":
            return truth.meaning(row, reading)
        # The text is cast to a number, which is 0 for one that begins with no digit: FALSE.
        right = compared(symbol, more, wanted).meaning(row, "")
        return True if right else (None if value.meaning(row, reading) is None else False)

    return Term(truth.sql, BqType.BOOL, meaning)


def _number_in_text(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    if not place.known or not all(_clear_number(value) for value in place.known):
        return None
    value = _named(choices, place)

    def meaning(row: Row, reading: str) -> int | None:
        text = value.meaning(row, reading)
        if text is None or isinstance(text, int):
            return text
        if re.fullmatch(r"-?\d+", text):
            return int(text)
        if reading != "cast-takes-a-prefix":
            return None
        found = re.match(r"-?\d+", text)
        return int(found[0]) if found else 0

    number = Term(f"SAFE_CAST({value.sql} AS INT64)", BqType.INT64, meaning)
    if one_in(choices, 2):
        return Term(f"{number.sql} IS NULL", BqType.BOOL, lambda row, reading: meaning(row, reading) is None)
    return compared(choices.pick(_SYMBOLS), number, _number(BqType.INT64, choices.pick((0, 7, 12))))


def _clear_number(text: str) -> bool:
    """Whether it is clear what number a text is, or that it is none."""
    return bool(re.fullmatch(r"-?\d{1,15}|\d{1,15}[a-z]+|(?![\d\s+.-])[^\n]*(?<!\s)", text)) and not re.match(
        r"0[xX]|(?i:inf|nan)", text
    )


# --- dates ----------------------------------------------------------------------------------------


def _date_of(choices: Choices, place: Place, _places: Sequence[Place]) -> Term | None:
    if not place.known:
        return None
    value = _named(choices, place)

    def date(reading: str, micros: int) -> int:
        return (micros + (LOCAL if reading == "local-zone" else 0)) // _DAY

    sql = f"DATE({value.sql})" if one_in(choices, 2) else f"CAST({value.sql} AS DATE)"
    bound = literal(choices, BqType.DATE, date("", choices.pick(place.known)))
    assert bound is not None
    symbol, made = choices.pick(_SYMBOLS), raised(sql, BqType.DATE, date, value)

    def meaning(row: Row, reading: str) -> Any:
        if reading == "dates-are-texts":
            raise ReadingUnknownError
        return compared(symbol, made, bound).meaning(row, reading)

    return Term(compared(symbol, made, bound).sql, BqType.BOOL, meaning)


_ANY: Final[Sequence[Maker]] = (_comparison, _comparison, _between, _in, _same, _default, _truth_test)
_MAKERS: Final[Mapping[BqType, Sequence[Maker]]] = MappingProxyType(
    {
        BqType.INT64: (*_ANY, _division, _division, _tenths, _tenths, _sum, _commented_number, _remainder, _text_of),
        BqType.FLOAT64: (*_ANY, _same, _as_integer, _as_integer),
        BqType.NUMERIC: (*_ANY, _numeric_sum, _numeric_sum, _as_integer),
        BqType.STRING: (
            *(*_ANY, _comparison, _like, _like, _like, _affix, _length, _cased, _part, _part),
            *(_concat, _pipes, _number_in_text, _number_in_text),
        ),
        BqType.BOOL: (_comparison, _same, _truth_test, _text_of),
        BqType.BYTES: (_comparison, _in),
        BqType.DATE: (_comparison, _comparison, _between, _in, _same),
        BqType.TIMESTAMP: (_comparison, _comparison, _between, _in, _date_of),
        BqType.DATETIME: (_comparison, _between, _in),
        BqType.TIME: (_comparison, _between, _in),
    }
)
"""The predicates of each type; other types have only predicates about NULL."""


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """A kind of predicate on a type."""

    type: BqType
    maker: Maker


KINDS: Final = tuple(Kind(kind, maker) for kind, makers in _MAKERS.items() for maker in makers)
"""Every kind of predicate on every type, as often as it is drawn, those of a type next to each other."""


@dataclasses.dataclass(frozen=True, slots=True)
class Focus:
    """What a reading concerns: the types of columns, kinds of predicates, and the values of texts."""

    types: tuple[BqType, ...]
    makers: tuple[Maker, ...]
    theme: str = ""


_TEXT: Final = (BqType.STRING,)
_INT: Final = (BqType.INT64,)
_SPELLED: Final = Focus(_TEXT, (_comparison, _comparison, _in, _like), "names")
_COMPARED: Final = (_comparison, _comparison, _between, _in)

FOCUS: Final[Mapping[str, Focus]] = MappingProxyType(
    {
        "double-quotes-are-names": _SPELLED,
        "backslash-is-a-character": dataclasses.replace(_SPELLED, theme="patterns"),
        "hex-escape-unknown": _SPELLED,
        "doubled-quote-is-a-quote": _SPELLED,
        "prefixes-unknown": Focus((BqType.BYTES, BqType.STRING), (_comparison, _in)),
        "dashes-need-a-blank": Focus(_INT, (_commented_number,)),
        "literals-are-decimals": Focus(_INT, (_tenths,)),
        "numeric-is-a-double": Focus((BqType.NUMERIC,), (_numeric_sum, _numeric_sum, _comparison)),
        "strings-become-numbers": Focus(_TEXT, _COMPARED, "digits"),
        "dates-are-texts": Focus((BqType.DATE,), _COMPARED),
        "zone-is-dropped": Focus((BqType.TIMESTAMP,), _COMPARED),
        "local-zone": Focus((BqType.TIMESTAMP,), (*_COMPARED, _date_of)),
        "boolean-text-is-a-digit": Focus((BqType.BOOL,), (_text_of,)),
        "like-ignores-case": Focus(_TEXT, (_like,), "cases"),
        "like-has-no-escape": Focus(_TEXT, (_like,), "patterns"),
        "text-ignores-case": Focus(_TEXT, _COMPARED, "cases"),
        "trailing-blanks-ignored": Focus(_TEXT, _COMPARED, "blanks"),
        "order-of-a-language": Focus(_TEXT, (_comparison, _between), "cases"),
        "division-of-integers": Focus(_INT, (_division,)),
        "quotient-of-four-decimals": Focus(_INT, (_division,)),
        "nan-is-greatest": Focus((BqType.FLOAT64,), (_comparison, _same)),
        "nan-is-null": Focus((BqType.FLOAT64,), (_comparison, _same, _truth_test)),
        "pipes-are-or": Focus(_TEXT, (_pipes,), "cases"),
        "null-compares-false": Focus(_TEXT, (_comparison, _in, _like, _between)),
        "between-in-any-order": Focus((BqType.INT64, BqType.FLOAT64, BqType.STRING), (_between,)),
        "cast-truncates": Focus((BqType.NUMERIC,), (_as_integer,), "halves"),
        "cast-rounds-to-even": Focus((BqType.FLOAT64,), (_as_integer,), "halves"),
        "cast-takes-a-prefix": Focus(_TEXT, (_number_in_text,), "digits"),
        "length-in-bytes": Focus(_TEXT, (_length,), "accents"),
        "lower-of-ascii-only": Focus(_TEXT, (_cased,), "accents"),
        "substr-counts-position-zero": Focus(_TEXT, (_part,)),
        "concat-skips-null": Focus(_TEXT, (_concat,)),
        "remainder-of-the-divisor": Focus(_INT, (_remainder,)),
    }
)
"""What readings concern; the others concern names and comments, which any restriction may have."""


# --- comments -------------------------------------------------------------------------------------


def _hash(term: Term) -> Term:
    def meaning(row: Row, reading: str) -> Any:
        if reading == "hash-is-no-comment":
            raise ReadingRefusedError
        return term.meaning(row, reading)

    return Term(f"{term.sql} # AND FALSE\n", BqType.BOOL, meaning)


def _dashes(term: Term) -> Term:
    return Term(f"{term.sql} -- AND FALSE\n", BqType.BOOL, term.meaning)


def _stars(term: Term) -> Term:
    return Term(f"/* NOT */ {term.sql} /* AND FALSE */", BqType.BOOL, term.meaning)


def _exclamation(term: Term) -> Term:
    def meaning(row: Row, reading: str) -> Any:
        held = term.meaning(row, reading)
        return False if reading == "comment-is-executed" else held

    return Term(f"({term.sql}) /*! AND FALSE */", BqType.BOOL, meaning)


_COMMENTS: Final = MappingProxyType({"": _dashes, " ": _stars, "#": _hash, "!": _exclamation})
_COMMENTED: Final = MappingProxyType({"hash-is-no-comment": _hash, "comment-is-executed": _exclamation})
