"""Predicates on texts: LIKE, first and last characters, lengths, upper and lower case, parts, CONCAT, numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from conformance.generate.choices import Choices, one_in
from conformance.protocols.storage_read.generate.dialects.literals import plain_text
from conformance.protocols.storage_read.generate.dialects.pattern import liked
from conformance.protocols.storage_read.generate.dialects.places import EQUALITY, SYMBOLS, ColumnPlace, named, number_of
from conformance.protocols.storage_read.generate.dialects.terms import ReadingUnknownError, Row, Term, compared, raised
from conformance.records import BqType

__all__ = ["affix", "cased", "concat", "length", "like", "number_in_text", "part", "pipes"]


def like(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare with a LIKE pattern that matches one of the values, or nearly."""
    return liked(choices, named(choices, place), place.known)


def affix(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Ask for the first or the last characters of a text by STARTS_WITH or ENDS_WITH."""
    if not place.known:
        return None
    text = choices.pick(place.known)
    count = choices.integer(0, min(2, len(text)))
    value = named(choices, place)
    if one_in(choices, 2):
        other = plain_text(text[:count])
        return raised(f"STARTS_WITH({value.sql}, {other.sql})", BqType.BOOL, _starts, value, other)
    other = plain_text(text[len(text) - count :])
    return raised(f"ENDS_WITH({value.sql}, {other.sql})", BqType.BOOL, _ends, value, other)


def _starts(_reading: str, one: str, other: str) -> bool:
    return one.startswith(other)


def _ends(_reading: str, one: str, other: str) -> bool:
    return one.endswith(other)


def length(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare the length in characters, not in bytes."""
    value = named(choices, place)
    length = raised(
        f"LENGTH({value.sql})",
        BqType.INT64,
        lambda reading, one: len(one.encode()) if reading == "length-in-bytes" else len(one),
        value,
    )
    bound = len(choices.pick(place.known)) if place.known else 1
    return compared(choices.pick(SYMBOLS), length, number_of(BqType.INT64, bound))


_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_ASCII_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


def cased(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare the text in upper or lower case."""
    # The two cases of a letter differ in length for some letters; BigQuery's choice is not documented.
    if not place.known or not all(len(v.lower()) == len(v) == len(v.upper()) for v in place.known):
        return None
    value, upper = named(choices, place), one_in(choices, 2)

    def change(reading: str, one: str) -> str:
        if reading == "lower-of-ascii-only":
            return one.translate(_ASCII_UPPER if upper else _ASCII_LOWER)
        return one.upper() if upper else one.lower()

    made = raised(f"{'UPPER' if upper else 'LOWER'}({value.sql})", BqType.STRING, change, value)
    return compared(choices.pick(EQUALITY), made, plain_text(change("", choices.pick(place.known))))


def part(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare SUBSTR, whose positions count from 1; position 0 is read as 1."""
    if not place.known:
        return None
    value, start, length = named(choices, place), choices.pick((0, 0, 1, 2)), choices.integer(1, 3)

    def part(reading: str, one: str) -> str:
        at = max(start - 1, 0)
        if reading == "substr-counts-position-zero" and start == 0:
            return one[: length - 1]
        return one[at : at + length]

    made = raised(f"SUBSTR({value.sql}, {start}, {length})", BqType.STRING, part, value)
    return compared(choices.pick(EQUALITY), made, plain_text(part("", choices.pick(place.known))))


def concat(choices: Choices, place: ColumnPlace, places: Sequence[ColumnPlace]) -> Term | None:
    """Compare CONCAT of two columns, which is NULL if one of them is."""
    other = choices.pick([held for held in places if held.type is BqType.STRING])
    one, two = named(choices, place), named(choices, other)

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


def pipes(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare a text that ``||`` joins with another."""
    if not place.known or any(re.match(r"[\s\d.+-]", value) for value in place.known):
        return None
    value, more = named(choices, place), plain_text("x")
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


def number_in_text(choices: Choices, place: ColumnPlace, _places: Sequence[ColumnPlace]) -> Term | None:
    """Compare SAFE_CAST of a text to INT64, which is NULL where the whole text is no number."""
    if not place.known or not all(_clear_number(value) for value in place.known):
        return None
    value = named(choices, place)

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
    return compared(choices.pick(SYMBOLS), number, number_of(BqType.INT64, choices.pick((0, 7, 12))))


def _clear_number(text: str) -> bool:
    """Whether it is clear what number a text is, or that it is none."""
    return bool(re.fullmatch(r"-?\d{1,15}|\d{1,15}[a-z]+|(?![\d\s+.-])[^\n]*(?<!\s)", text)) and not re.match(
        r"0[xX]|(?i:inf|nan)", text
    )
