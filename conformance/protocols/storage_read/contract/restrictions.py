"""The words of a restriction, whether it calls a function, and for which rows it compares NULL."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conformance._pandas import to_numpy
from conformance.contract.comparing.cellbits import one_array

__all__ = ["calls_function", "null_rows", "tokens"]

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


_NULL_OPERAND: Final = re.compile(r"[(,=<>]\s*NULL\b", re.IGNORECASE)


def null_rows(table: pa.Table, restriction: str) -> set[int]:
    """Return the rows with NULL in a column or field that a restriction names; all rows if it compares a NULL."""
    if _NULL_OPERAND.search(restriction):
        return set(range(table.num_rows))
    found: set[int] = set()
    for word in set(tokens(restriction)[1]):
        values = _at(table, word.casefold().split("."))
        if values is not None:
            found.update(np.flatnonzero(to_numpy(values.is_null())).tolist())
    return found


def _at(table: pa.Table, path: Sequence[str]) -> pa.Array | None:
    """Return the values of a path, NULL where one of its records is; None if the table does not have it."""
    values: pa.Array | None = None
    for part in path:
        if values is not None and not pa.types.is_struct(values.type):
            return None
        names = [field.name.casefold() for field in (table.schema if values is None else values.type)]
        if names.count(part) != 1:
            return None
        place = names.index(part)
        values = one_array(table.column(place)) if values is None else pc.struct_field(values, [place])
    return values
