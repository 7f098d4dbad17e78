"""The columns that a restriction can name, and how their names and values are written."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from conformance.generate.choices import Choices
from conformance.protocols.storage_read.generate.dialects.literals import literal
from conformance.protocols.storage_read.generate.dialects.terms import Term, column
from conformance.records import BqType

__all__ = ["EQUALITY", "SYMBOLS", "ColumnPlace", "Maker", "named", "near", "number_of"]

SYMBOLS: Final = ("=", "<", ">", "!=", "<=", ">=", "<>")
EQUALITY: Final = ("=", "=", "!=", "<>")
_RESERVED: Final = frozenset({"select", "from", "order", "group", "null", "end", "range", "interval"})


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnPlace:
    """A column or a field of STRUCTs: its names from the outside inwards, its type, and its value in each row."""

    names: tuple[str, ...]
    type: BqType
    values: tuple[Any, ...]

    @property
    def known(self) -> list[Any]:
        """The values that are not NULL."""
        return [value for value in self.values if value is not None]


Maker = Callable[[Choices, ColumnPlace, Sequence[ColumnPlace]], Term | None]


def named(choices: Choices, place: ColumnPlace) -> Term:
    """Return the column, its name in one of the permitted spellings."""
    return column(place.names, place.type, written=[_written(choices, name) for name in place.names])


def _written(choices: Choices, name: str) -> str:
    if name.lower() in _RESERVED or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return f"`{name}`"
    other = name.upper() if name.islower() else name.lower()
    return choices.pick((name, name, name, name, name, name, f"`{name}`", other))


def near(choices: Choices, place: ColumnPlace) -> Term | None:
    """Return a literal of one of the column's values, or None."""
    known = place.known
    return literal(choices, place.type, choices.pick(known)) if known else None


def number_of(kind: BqType, value: Any) -> Term:
    """Return the plain literal of a number."""
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
