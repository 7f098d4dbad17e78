"""Parsing of untrusted JSON and TOML, with limits on its size, its depth and its number of values.

``json.loads`` alone raises ``RecursionError`` on 100,000 brackets, and makes a million objects from two megabytes.
``tomllib`` alone takes gigabytes for a key of 20,000 parts.
The limits are checked on the bytes, before any object is made.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable
from typing import Any, Final

__all__ = [
    "DEPTH",
    "VALUES",
    "ForeignJsonError",
    "nests_deeper",
    "parse_json",
    "parse_object",
    "parse_strictly",
    "parse_toml",
]

DEPTH: Final = 256
"""Levels of arrays and objects: BigQuery nests 15 levels, and a BigQuery schema in JSON has about twice as many."""
VALUES: Final = 1_000_000
"""Values of one document: those of 1,000 listed rows with 500 columns, whose cells are two values each."""
FLAT: Final = 16
"""Rounds of removing matched brackets; if some remain, the document is scanned token by token."""
SHOWN: Final = 80
"""Bytes of a document that go into a message."""

# Possessive quantifiers: with backtracking, the pattern would remember about a hundred bytes per byte of a string.
# A string may lack its end: the rest then belongs to it, and is not searched again from each of its quotes.
_TEXT: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_LONG_KEY: Final = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){64}""")
"""A TOML key of more parts than any file of the suite has; words with so many points in a text are refused too."""
_TOKEN: Final = re.compile(_TEXT.pattern + rb"|[\[\]{},]", re.DOTALL)


class ForeignJsonError(ValueError):
    """The bytes are not JSON or exceed a limit; the text gives the expectation and the observation."""


def parse_json(
    data: bytes, *, depth: int = DEPTH, values: int = VALUES, numbers: Callable[[str], Any] | None = None
) -> Any:
    """The value in ``data``. An array or object counts as one value more than its members, an empty one as two.

    ``numbers`` converts the text of a number to another type than int or float; it may raise ValueError.

    Raises:
        ForeignJsonError: The bytes are not JSON, nest deeper than ``depth`` levels or have more than ``values`` values.
    """
    _bound(data, depth=depth, values=values)
    try:
        return json.loads(data, parse_int=numbers, parse_float=numbers)
    except (ValueError, RecursionError) as error:
        raise _no_json(data, error) from None


def parse_strictly(text: str, repeated: Callable[[str], None], *, depth: int = DEPTH, values: int = VALUES) -> Any:
    """The value in ``text``, by the grammar of RFC 8259 alone: no NaN, no Infinity, no byte order mark.

    ``repeated`` is called with each key that an object has again; the last value counts.

    Raises:
        ForeignJsonError: As from :func:`parse_json`.
    """

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in pairs:
            if key in made:
                repeated(key)
            made[key] = value
        return made

    data = text.encode(errors="surrogatepass")
    _bound(data, depth=depth, values=values)
    try:
        return json.loads(text, object_pairs_hook=members, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise _no_json(data, error) from None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


def _no_json(data: bytes, error: Exception) -> ForeignJsonError:
    said = str(error).partition(":")[0]
    return ForeignJsonError(f"expected JSON but got {_short(data)} ({said})")


def nests_deeper(data: bytes, depth: int = DEPTH) -> bool:
    """True if a JSON document has more levels; from Python 3.14 on, ``json.loads`` alone takes tens of thousands."""
    try:
        _bound(data, depth=depth, values=sys.maxsize)
    except ForeignJsonError:
        return True
    return False


def _bound(data: bytes, *, depth: int, values: int) -> None:
    """Raise :class:`ForeignJsonError` if ``data`` exceeds a limit."""
    # Two counts in C are enough for nearly every document; only a suspicious one is scanned token by token.
    suspicious = data.count(b"[") + data.count(b"{") > depth or data.count(b",") >= values
    # A value has two texts at most. More are not taken out all at once: what is between them would be objects, too.
    many_texts = data.count(b'"') > 4 * min(values, VALUES)
    if suspicious and (many_texts or not _is_plain(data, depth=depth, values=values)):
        _check(data, depth=depth, values=values)


def parse_object(data: bytes, *, depth: int = DEPTH, values: int = VALUES) -> dict[str, Any]:
    """The JSON object in ``data``; raises the errors of :func:`parse_json`, also if the value is not an object."""
    value = parse_json(data, depth=depth, values=values)
    if not isinstance(value, dict):
        raise ForeignJsonError(f"expected a JSON object but got {_short(data)}")
    return value


def _is_plain(data: bytes, *, depth: int, values: int) -> bool:
    """True if a long document keeps the limits and a few rounds of removing matched brackets show it."""
    bare = _TEXT.sub(b"", data)
    brackets = bare.translate(None, _NO_BRACKETS)
    if 1 + bare.count(b",") + len(brackets) > values:
        return False
    for _ in range(min(FLAT, depth // 2)):  # one round removes at most two levels
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if not brackets:
            return True
    return False


def _check(data: bytes, *, depth: int, values: int) -> None:
    """Raise :class:`ForeignJsonError` if ``data`` exceeds a limit; brackets and commas inside strings do not count."""
    level, count = 0, 1
    for found in _TOKEN.finditer(data):
        token = found.group()
        if token in (b"[", b"{"):
            level += 1
            count += 1
            if level > depth:
                raise ForeignJsonError(f"expected JSON of at most {depth} levels but got more")
        elif token in (b"]", b"}"):
            level -= 1
        elif token == b",":
            count += 1
        if count > values:
            raise ForeignJsonError(f"expected JSON of at most {values} values but got more")


def _short(data: bytes) -> str:
    return repr(data if len(data) <= SHOWN else data[: SHOWN - 3] + b"...")


def parse_toml(text: str) -> dict[str, Any]:
    """The table in ``text``.

    Raises:
        ValueError: The text is not TOML, has an integer of more digits than Python reads, or nests too deeply.
    """
    too_deep = "it nests deeper than any file of the suite"
    if _LONG_KEY.search(text):
        raise ValueError(too_deep)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError(too_deep) from None
    except ValueError:  # int() says how a program reads more digits, and a user has none
        raise ValueError(f"a number has more than {sys.get_int_max_str_digits()} digits") from None
