"""The messages between the suite and a program that reads and writes IPC data.

``protocol.schema.json`` beside this module is the contract for writers of adapters.
The values of columns are checked by a walk of our own, which decides as ``$defs/plain`` does and a hundred times
faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from conformance.contain.lines import LineProtocol

__all__ = ["PROTOCOL", "wrong_value"]

_BITS: Final = re.compile(r"[0-9a-f]{16}|nan")
_HEX: Final = re.compile(r"([0-9a-f]{2})*")
_DECIMAL: Final = re.compile(r"-?[0-9]+")
_TEXTS: Final = {"f64": _BITS, "hex": _HEX, "decimal": _DECIMAL}
_INTERVALS: Final = (frozenset({"months"}), frozenset({"days", "ms"}), frozenset({"months", "days", "ns"}))


def wrong_value(values: Iterable[Any]) -> str:
    """The first value that is no plain value, in words; empty where all are."""
    todo = [iter(values)]
    while todo:
        for value in todo[-1]:
            if isinstance(value, str | int) or value is None:
                continue
            below = _below(value)
            if below is None:
                return f"got {value!r:.80}"
            todo.append(iter(below))
            break
        else:
            todo.pop()
    return ""


def _below(value: Any) -> Iterable[Any] | None:
    """The values inside one that is no scalar; None where it is no plain value."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    if frozenset(value) in _INTERVALS:
        return () if all(type(part) is int for part in value.values()) else None
    return _below_form(*next(iter(value.items()))) if len(value) == 1 else None


def _below_form(form: str, inner: Any) -> Iterable[Any] | None:
    if form in _TEXTS:
        return () if isinstance(inner, str) and _TEXTS[form].fullmatch(inner) else None
    if not isinstance(inner, list) or form not in ("struct", "map"):
        return None
    if form == "struct":
        return inner
    pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in inner)
    return [part for pair in inner for part in pair] if pairs else None


def _wrong_columns(columns: Any) -> str:
    """The first column that holds no plain values, in words; empty where all do."""
    for number, column in enumerate(columns or ()):
        wrong = wrong_value(column) if isinstance(column, list) else f"got {column!r:.80} for the list"
        if wrong:
            return f"expected plain values in column {number}, but {wrong}"
    return ""


DEPTH: Final = 4000
"""Levels of an answer: values nest as deep as the schema that was read, and each level of a struct takes two."""

PROTOCOL: Final = LineProtocol("conformance.readers.ipc", apart={"rows": ("columns", _wrong_columns)}, depth=DEPTH)
"""The messages, as the published schema defines them."""
