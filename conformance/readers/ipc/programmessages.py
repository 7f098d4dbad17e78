"""The messages between the suite and a program that reads and writes IPC data.

``protocol.schema.json``, next to this module, is the contract for authors of adapters. The values of columns are
checked by code in this module, which decides as ``$defs/plain`` of the schema does and is a hundred times faster.
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
    """A text about the first value that is not a plain value; empty if all are."""
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
    """The values inside a container; None if it is not a plain value."""
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
    """A text about the first column with a value that is not a plain value; empty if there is no such column."""
    for number, column in enumerate(columns or ()):
        wrong = wrong_value(column) if isinstance(column, list) else f"got {column!r:.80} for the list"
        if wrong:
            return f"expected plain values in column {number}, but {wrong}"
    return ""


DEPTH: Final = 4000
"""The deepest nesting of an answer: values nest as deep as the schema that was read, and a struct takes two levels."""

PROTOCOL: Final = LineProtocol("conformance.readers.ipc", apart={"rows": ("columns", _wrong_columns)}, depth=DEPTH)
"""The messages, as the published schema defines them."""
