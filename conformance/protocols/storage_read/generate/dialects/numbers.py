"""Predicates on numbers: arithmetic, CAST, comments inside of an expression."""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from typing import Any, Final

from conformance.generate.choices import Choices
from conformance.protocols.storage_read.generate.dialects.literals import plain_text
from conformance.protocols.storage_read.generate.dialects.places import EQUALITY, SYMBOLS, ColumnPlace, named, number_of
from conformance.protocols.storage_read.generate.dialects.terms import EXACT, Row, Term, compared, raised
from conformance.records import BqType

__all__ = ["as_integer", "commented_number", "division", "numeric_sum", "remainder", "tenths", "text_of", "total"]


def _small(place: ColumnPlace) -> bool:
    return all(abs(value) < 1 << 31 for value in place.known)


def division(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare a quotient of integers, which is a FLOAT64 in BigQuery, with a literal near it."""
    if not place.known or not _small(place):
        return None
    by = choices.pick((2, 3, 4, 7))
    near = choices.pick(place.known)
    value = named(choices, place)
    quotient = raised(f"{value.sql} / {by}", BqType.FLOAT64, _quotient, value, number_of(BqType.INT64, by))
    if near % by:
        bound = number_of(BqType.FLOAT64, float(decimal.Decimal(repr(near / by)).quantize(decimal.Decimal("0.0001"))))
    else:
        bound = number_of(BqType.INT64, near // by)
    return compared(choices.pick(SYMBOLS), quotient, bound)


def _quotient(reading: str, one: int, by: int) -> Any:
    if reading == "division-of-integers":
        return abs(one) // by * (1 if one >= 0 else -1)
    if reading == "quotient-of-four-decimals":
        exact = EXACT.divide(decimal.Decimal(one), decimal.Decimal(by))
        return exact.quantize(decimal.Decimal("0.0001"), decimal.ROUND_HALF_UP, EXACT)
    return one / by


def tenths(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare a product with a literal of decimals: 3 * 0.1 is not 0.3 in binary."""
    if not place.known or not _small(place):
        return None
    near = choices.pick(place.known)
    tenth = decimal.Decimal("0.1")
    exact = EXACT.multiply(decimal.Decimal(near), tenth)
    value = named(choices, place)
    product = raised(f"{value.sql} * 0.1", BqType.FLOAT64, _product, value, number_of(BqType.FLOAT64, 0.1))
    return compared(choices.pick(EQUALITY), product, number_of(BqType.FLOAT64, float(exact)))


def _product(_reading: str, one: Any, other: Any) -> Any:
    if isinstance(one, float) or isinstance(other, float):
        return float(one) * float(other)
    return one * other


def total(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare a sum or difference with a literal."""
    if not place.known or not _small(place):
        return None
    value, by = named(choices, place), choices.integer(-3, 9)
    symbol = choices.pick("+-")
    step = by if symbol == "+" else -by
    moved = raised(f"{value.sql} {symbol} {by}", BqType.INT64, lambda _reading, one, _by: one + step, value, _NUMBER)
    return compared(choices.pick(SYMBOLS), moved, number_of(BqType.INT64, choices.pick(place.known) + step))


_NUMBER: Final = Term("1", BqType.INT64, lambda _row, _reading: 1, bare=True)


def commented_number(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Put a comment right behind a number: ``i < 5--3``."""
    if not place.known or not _small(place):
        return None
    value, near, more = named(choices, place), choices.pick(place.known), choices.integer(1, 9)

    def meaning(_row: Row, reading: str) -> int:
        return int(near + more) if reading == "dashes-need-a-blank" else int(near)

    bound = Term(f"{near}--{more}\n", BqType.INT64, meaning)
    return compared(choices.pick(SYMBOLS), value, bound)


def remainder(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare MOD with 1: the remainder has the sign of the dividend."""
    by = choices.pick((2, 3, 5))
    value = named(choices, place)

    def remainder(reading: str, one: int) -> int:
        return one % by if reading == "remainder-of-the-divisor" else int(math.copysign(abs(one) % by, one))

    return compared("=", raised(f"MOD({value.sql}, {by})", BqType.INT64, remainder, value), _NUMBER)


def text_of(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare a value that is cast to STRING with a text."""
    if not place.known:
        return None
    value = named(choices, place)
    text = raised(f"CAST({value.sql} AS STRING)", BqType.STRING, _as_text, value)
    return compared(choices.pick(EQUALITY), text, plain_text(_as_text("", choices.pick(place.known))))


def _as_text(reading: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value)) if reading == "boolean-text-is-a-digit" else str(value).lower()
    return str(value)


def as_integer(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare a value that is cast to INT64: BigQuery rounds halves away from zero."""
    if not place.known or not all(math.isfinite(value) and abs(value) < 1 << 31 for value in place.known):
        return None
    value = named(choices, place)
    number = raised(f"CAST({value.sql} AS INT64)", BqType.INT64, _whole, value)
    return compared(choices.pick(SYMBOLS), number, number_of(BqType.INT64, _whole("", choices.pick(place.known))))


def _whole(reading: str, value: Any) -> int:
    exact = value if isinstance(value, decimal.Decimal) else decimal.Decimal(value)
    is_float = isinstance(value, float)
    rounding = decimal.ROUND_HALF_UP
    if reading == "cast-truncates":
        rounding = decimal.ROUND_DOWN
    elif reading == "cast-rounds-to-even" and is_float:
        rounding = decimal.ROUND_HALF_EVEN
    return int(exact.quantize(decimal.Decimal(1), rounding, EXACT))


def numeric_sum(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare a sum of decimals with its exact result: 0.1 + 0.2 is 0.3 in NUMERIC."""
    if not place.known or not all(abs(value) < 1 << 31 for value in place.known):
        return None
    by = choices.pick((decimal.Decimal("0.2"), decimal.Decimal("0.7"), decimal.Decimal("1.1")))
    value, more = named(choices, place), number_of(BqType.NUMERIC, by)
    total = EXACT.add(choices.pick(place.known), by)
    added = raised(f"{value.sql} + {more.sql}", BqType.NUMERIC, lambda _reading, one, two: one + two, value, more)
    return compared(choices.pick(SYMBOLS), added, number_of(BqType.NUMERIC, total))
