"""Foreign JSON under bounds: what it may weigh, how deep it may nest, how many values it may hold.

``json.loads`` alone ends in a ``RecursionError`` on 100,000 brackets, and makes a million objects of two megabytes.
The bounds are checked on the bytes, before anything is made of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

__all__ = ["DEPTH", "VALUES", "ForeignJsonError", "parse_json", "parse_object"]

DEPTH: Final = 256
"""Levels of arrays and objects: BigQuery nests 15, a BigQuery schema in JSON about twice that."""
VALUES: Final = 1_000_000
"""Values of one document: as many as 1,000 listed rows of 500 columns have, whose cells are two values each."""
SHOWN: Final = 80
"""Bytes of a document that go into a message."""

# Possessive: a pattern that may take back what it matched remembers a hundred bytes for each of a string's.
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{},]', re.DOTALL)


class ForeignJsonError(ValueError):
    """The bytes are no JSON, or more of it than is taken; the text says what was expected and what came."""


def parse_json(
    data: bytes, *, depth: int = DEPTH, values: int = VALUES, numbers: Callable[[str], Any] | None = None
) -> Any:
    """The value in ``data``. An array or object counts as one value more than those in it, an empty one as two.

    ``numbers`` makes something else than int and float of a number's text; it may raise ValueError.

    Raises:
        ForeignJsonError: it is no JSON, nests deeper than ``depth`` levels or holds more than ``values`` values.
    """
    # Two counts in C decide for nearly every document; only a suspicious one is walked.
    if data.count(b"[") + data.count(b"{") > depth or data.count(b",") >= values:
        _check(data, depth=depth, values=values)
    try:
        return json.loads(data, parse_int=numbers, parse_float=numbers)
    except (ValueError, RecursionError) as error:
        said = str(error).partition(":")[0]
        raise ForeignJsonError(f"expected JSON but got {_short(data)} ({said})") from None


def parse_object(data: bytes, *, depth: int = DEPTH, values: int = VALUES) -> dict[str, Any]:
    """The JSON object in ``data``, as :func:`parse_json` reads it."""
    value = parse_json(data, depth=depth, values=values)
    if not isinstance(value, dict):
        raise ForeignJsonError(f"expected a JSON object but got {_short(data)}")
    return value


def _check(data: bytes, *, depth: int, values: int) -> None:
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
