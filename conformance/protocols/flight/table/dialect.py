"""Statements of SQL for one server: the names of its types, how it marks a parameter, and values as literals.

Names of tables and columns are lower-case letters, digits and ``_``, so that no server has to be told how to quote
them. Values are those literals of ISO/IEC 9075 that every dialect known to the suite has.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from conformance.records import BqType, Column, Mode, RecordError

__all__ = ["TYPES", "SqlSpec", "Statements", "UnknownTypeError", "check_sql", "sql_name"]

TYPES: Final[Mapping[str, str]] = {
    BqType.INT64: "BIGINT",
    BqType.FLOAT64: "DOUBLE",
    BqType.STRING: "VARCHAR",
    BqType.BOOL: "BOOLEAN",
    BqType.DATE: "DATE",
}
"""The name of each type, if the target file gives no other."""

_PLACE: Final = re.compile(r"\{(table|columns|names|values|marker|markers|create|rows:(\d+)-(\d+))\}")


class UnknownTypeError(Exception):
    """The dialect has no name for a type; the text says which."""


@dataclasses.dataclass(frozen=True, slots=True)
class SqlSpec:
    """The content of ``[flight.sql]``: that the server speaks Flight SQL, and its dialect.

    ``types`` maps types of the suite (``INT64``) to those of the server; an empty one means that it has none.
    ``create`` makes a table. ``quote`` is how a single quote is written in a text, ``marker`` a parameter of a prepared
    statement, where ``{n}`` is its number from 1.
    Without ``tables``, the suite makes none: it sends queries that need none, and metadata commands. With ``by_query``,
    updates are executed as queries are, for a server that serves no CommandStatementUpdate.
    """

    types: Mapping[str, str] = dataclasses.field(default_factory=dict)
    create: str = "CREATE TABLE {table} ({columns})"
    quote: str = "''"
    marker: str = "?"
    tables: bool = True
    by_query: bool = False


def check_sql(sql: SqlSpec) -> None:
    """Refuse a dialect that no statement can be written in.

    Raises:
        RecordError: one sentence.
    """
    for name in sql.types:
        if name not in TYPES:
            raise RecordError("target.flight.sql.types", f"types among {', '.join(TYPES)}", name)
    for place in ("{table}", "{columns}"):
        if place not in sql.create:
            raise RecordError("target.flight.sql.create", f"a statement with {place} in it", sql.create)


def sql_name(case_id: str, token: str) -> str:
    """The name of the table of a case on a server; ``token`` is the part that no other run has."""
    return re.sub(r"[^a-z0-9]+", "_", "_".join(filter(None, ("c", case_id.lower(), token))))


class Statements:
    """Fills the templates of one case's steps: its table is ``name`` on the server, with these columns and rows.

    ``rows`` returns the rows, which few cases have in a statement.
    """

    def __init__(
        self, sql: SqlSpec, name: str, columns: Sequence[Column], rows: Callable[[], Sequence[Mapping[str, Any]]]
    ) -> None:
        self.name = name
        self._sql = sql
        self._columns = columns
        self._made_rows = rows

    def filled(self, template: str) -> str:
        """The statement; raises :class:`UnknownTypeError` if the dialect does not have a type of the table."""
        return _PLACE.sub(self._part, template)

    def _part(self, found: re.Match[str]) -> str:
        if found[2]:
            return self._values(self._rows[int(found[2]) : int(found[3])])
        parts: dict[str, Callable[[], str]] = {
            "table": lambda: self.name,
            "create": lambda: self.filled(self._sql.create),
            "columns": lambda: ", ".join(map(self._declared, self._columns)),
            "names": lambda: ", ".join(column.name for column in self._columns),
            "marker": lambda: self._sql.marker.replace("{n}", "1"),
            "markers": lambda: ", ".join(self._sql.marker.replace("{n}", str(at + 1)) for at in self._places),
            "values": lambda: self._values(self._rows),
        }
        return parts[found[1]]()

    @functools.cached_property
    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return self._made_rows()

    @property
    def _places(self) -> range:
        return range(len(self._columns))

    def _declared(self, column: Column) -> str:
        kind = {**TYPES, **self._sql.types}.get(column.type, "")
        if not kind or column.mode is Mode.REPEATED:
            raise UnknownTypeError(f"[flight.sql.types] names no type for {column.type} {column.mode}")
        return f"{column.name} {kind}" + (" NOT NULL" if column.mode is Mode.REQUIRED else "")

    def _values(self, rows: Sequence[Mapping[str, Any]]) -> str:
        listed = (
            ", ".join(self._literal(column.type, row.get(column.name)) for column in self._columns) for row in rows
        )
        return ", ".join(f"({row})" for row in listed)

    def _literal(self, kind: BqType, value: Any) -> str:
        if value is None:
            return "NULL"
        match kind:
            case BqType.BOOL:
                return "TRUE" if value else "FALSE"
            case BqType.INT64:
                return str(value)
            case BqType.FLOAT64:
                mantissa, _, exponent = f"{value:.16e}".partition("e")
                return f"{mantissa}E{int(exponent)}"
            case BqType.DATE:
                return f"DATE '{value}'"
            case _:
                return "'" + str(value).replace("'", self._sql.quote) + "'"
