"""Reads the SQL that the suite itself sends: CREATE, INSERT, SELECT, DELETE and DROP of one table.

It is no SQL engine.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import pyarrow as pa

__all__ = [
    "PARAMETER",
    "CreateTable",
    "Delete",
    "Drop",
    "Insert",
    "NotUnderstoodError",
    "Select",
    "Statement",
    "parsed",
]

T = TypeVar("T")

PARAMETER: Final = object()
"""A value that is bound later."""

_TOKEN: Final = re.compile(r"\s*(?:('(?:[^']|'')*')|([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|([(),=?*]))")
_TYPES: Final = {
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
}
_CONSTANTS: Final = {"NULL": None, "TRUE": True, "FALSE": False, "?": PARAMETER}


class NotUnderstoodError(Exception):
    """The text is no statement that is known here."""


@dataclasses.dataclass(frozen=True, slots=True)
class CreateTable:
    """A table with these columns."""

    table: str
    schema: pa.Schema


@dataclasses.dataclass(frozen=True, slots=True)
class Insert:
    """Rows for the columns of these names."""

    table: str
    names: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Select:
    """The columns of these names, of the rows where ``where`` has the ``value``; without a table, one row."""

    table: str
    names: tuple[str, ...]
    where: str = ""
    value: object = None
    order: str = ""
    descending: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Delete:
    """The rows where ``where`` has the ``value``."""

    table: str
    where: str
    value: object


@dataclasses.dataclass(frozen=True, slots=True)
class Drop:
    """The table of this name."""

    table: str


Statement = CreateTable | Insert | Select | Delete | Drop


def parsed(text: str) -> Statement:
    """The statement in a text; raises :class:`NotUnderstoodError`."""
    return _Parser(text).statement()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split(text))
        self._at = 0

    def _split(self, text: str) -> Iterator[str]:
        at = 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if found is None:
                raise NotUnderstoodError(f"no statement is written like this: {text[at : at + 20]!r}")
            yield found[0].strip()
            at = found.end()

    def _take(self, *wanted: str) -> str:
        """The next token, which has to be one of those ``wanted``, if any are."""
        if self._at == len(self._tokens) or (wanted and self._tokens[self._at].upper() not in wanted):
            raise NotUnderstoodError(f"expected {' or '.join(wanted) or 'more'} in {self._text[:100]!r}")
        self._at += 1
        return self._tokens[self._at - 1]

    def _met(self, word: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at].upper() == word:
            self._at += 1
            return True
        return False

    def statement(self) -> Statement:
        """The whole text as one statement."""
        kinds: dict[str, Callable[[], Statement]] = {
            "CREATE": self._create, "INSERT": self._insert, "SELECT": self._select, "DELETE": self._delete,
            "DROP": self._drop,
        }  # fmt: skip
        made = kinds[self._take(*kinds).upper()]()
        if self._at < len(self._tokens):
            raise NotUnderstoodError(f"{self._tokens[self._at]!r} comes after the statement")
        return made

    def _create(self) -> CreateTable:
        self._take("TABLE")
        table = self._take()
        fields = []
        self._take("(")
        while True:
            name, kind = self._take(), _TYPES[self._take(*_TYPES).upper()]
            required = self._met("NOT") and bool(self._take("NULL"))
            fields.append(pa.field(name, kind, nullable=not required))
            if self._take(",", ")") == ")":
                return CreateTable(table, pa.schema(fields))

    def _insert(self) -> Insert:
        self._take("INTO")
        table, names = self._take(), tuple(self._listed(self._take))
        self._take("VALUES")
        rows = [tuple(self._listed(self._value))]
        while self._met(","):
            rows.append(tuple(self._listed(self._value)))
        return Insert(table, names, tuple(rows))

    def _listed(self, one: Callable[[], T]) -> Iterator[T]:
        self._take("(")
        yield one()
        while self._take(",", ")") == ",":
            yield one()

    def _value(self) -> object:
        word = self._take()
        if word.upper() == "DATE":
            return dt.date.fromisoformat(self._take()[1:-1])
        if word.upper() in _CONSTANTS:
            return _CONSTANTS[word.upper()]
        if word.startswith("'"):
            return word[1:-1].replace("''", "'")
        try:
            return int(word) if word.lstrip("+-").isdigit() else float(word)
        except ValueError:
            raise NotUnderstoodError(f"{word!r} is no value") from None

    def _select(self) -> Select:
        if self._tokens[self._at : self._at + 1][0:1] and self._tokens[self._at].lstrip("+-").isdigit():
            value = self._value()
            self._take("AS")
            return Select("", (self._take(),), value=value)
        names = [self._take()]
        while self._met(","):
            names.append(self._take())
        self._take("FROM")
        table = self._take()
        found = Select(table, tuple(names), *self._where()) if self._met("WHERE") else Select(table, tuple(names))
        if self._met("ORDER"):
            self._take("BY")
            found = dataclasses.replace(found, order=self._take(), descending=self._met("DESC"))
        return found

    def _where(self) -> tuple[str, object]:
        name = self._take()
        self._take("=")
        return name, self._value()

    def _delete(self) -> Delete:
        self._take("FROM")
        table = self._take()
        self._take("WHERE")
        return Delete(table, *self._where())

    def _drop(self) -> Drop:
        self._take("TABLE")
        return Drop(self._take())
