"""LIKE: patterns that match some of a column's values, with wildcards, escaped wildcards and letters of other case.

Source: https://cloud.google.com/bigquery/docs/reference/standard-sql/operators#like_operator.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.generate.choices import Choices, one_in
from conformance.protocols.storage_read.generate.dialects.literals import literal
from conformance.protocols.storage_read.generate.dialects.terms import PREDICATE, ReadingUnknownError, Row, Term
from conformance.records import BqType

__all__ = ["liked", "matches"]


def liked(choices: Choices, value: Term, known: Sequence[str]) -> Term | None:
    """Return LIKE or NOT LIKE with a pattern made of one of the known values; None without one."""
    if not known:
        return None
    beyond = [text for text in known if not text.isascii()]  # where a character is no byte
    text = choices.pick(beyond if beyond and one_in(choices, 2) else known)
    pattern = literal(choices, BqType.STRING, _pattern(choices, text))
    if pattern is None:
        return None
    negative = one_in(choices, 4)

    def meaning(row: Row, reading: str) -> bool | None:
        text, form = value.meaning(row, reading), pattern.meaning(row, reading)
        if text is None or form is None:
            return False is not negative if reading == "null-compares-false" else None
        if not isinstance(text, str):
            raise ReadingUnknownError
        return matches(text, form, reading) is not negative

    return Term(f"{value.sql} {'NOT ' if negative else ''}LIKE {pattern.sql}", BqType.BOOL, meaning, binds=PREDICATE)


def _pattern(choices: Choices, text: str) -> str:
    """Return a pattern that matches the text in BigQuery, or one that matches it without regard to case only."""
    escaped = [f"\\{character}" if character in "%_\\" else character for character in text]
    if escaped and not one_in(choices, 4):
        beyond = [place for place, character in enumerate(text) if not character.isascii()]
        anywhere = range(len(escaped))
        escaped[choices.pick(beyond if beyond and not one_in(choices, 4) else anywhere)] = choices.pick("___%")
    if one_in(choices, 4):
        escaped = [part.swapcase() if part.isascii() else part for part in escaped]
    return choices.pick((*["{}"] * 3, "{}%", "%{}", "%{}%")).format(
        "".join(escaped)
    )  # a % hides what is wrong beside it


def matches(text: str, pattern: str, reading: str = "") -> bool:
    """Whether the whole text matches a LIKE pattern."""
    if reading == "like-ignores-case" and not (text + pattern).isascii():
        raise ReadingUnknownError
    parts, characters = [], iter(pattern)
    for character in characters:
        if character == "\\" and reading != "like-has-no-escape":
            following = next(characters, None)
            if following is None:
                raise ReadingUnknownError
            parts.append(re.escape(following))
        else:
            parts.append({"%": ".*", "_": "."}.get(character) or re.escape(character))
    flags = re.DOTALL | (re.IGNORECASE if reading == "like-ignores-case" else 0)
    return re.fullmatch("".join(parts), text, flags) is not None
