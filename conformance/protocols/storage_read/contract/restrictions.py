"""The words of a restriction, and whether it calls a function."""

from __future__ import annotations

import functools
import re
from typing import Final

__all__ = ["calls_function", "tokens"]

_TOKEN: Final = re.compile(
    r"""(?P<literal>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"""|(?P<word>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)(?P<call>\s*\()?"""
)
_NO_FUNCTION: Final = frozenset(
    ("ALL", "AND", "ANY", "BETWEEN", "CASE", "CAST", "ELSE", "IN", "IS", "LIKE", "NOT", "OR", "SOME", "THEN", "UNNEST",
     "WHEN")
)  # fmt: skip
"""Words before a parenthesis that are no functions. CAST is one of the proto's own examples, which it calls supported,
and a filter with it was served (https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/543).
"""


@functools.lru_cache(maxsize=256)
def _found(restriction: str) -> tuple[tuple[str, str, bool], ...]:
    """Return each literal, or word and whether a parenthesis follows it; a dotted name is one word."""
    tokens = _TOKEN.finditer(restriction.replace("`", ""))
    return tuple((match["literal"] or "", match["word"] or "", bool(match["call"])) for match in tokens)


def tokens(restriction: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the literals and the words of a restriction."""
    found = _found(restriction)
    return tuple(one for one, _, _ in found if one), tuple(word for _, word, _ in found if word)


def calls_function(restriction: str) -> bool:
    """True if a restriction calls a function of GoogleSQL. The parameters of a type are no arguments."""
    before = ""
    for _, word, called in _found(restriction):
        if called and word.upper() not in _NO_FUNCTION and before != "AS":
            return True
        before = word.upper()
    return False
