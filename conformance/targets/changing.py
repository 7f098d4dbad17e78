"""Gives a table other columns over REST: ``tables.patch`` adds and relaxes them, statements drop, rename and widen.

Source: https://cloud.google.com/bigquery/docs/managing-table-schemas. What the server did is taken from ``tables.get``
alone, because a server may answer OK and change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.records import Column
from conformance.targets.names import Names
from conformance.targets.restway import QUERY_MILLISECONDS, RestTables
from conformance.targets.sql import alter_statements, drop_statement
from conformance.targets.targeterrors import CannotSeed
from conformance.targets.values import rest_schema

__all__ = ["change_columns"]

_ALIASES: Final = {
    "INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "STRUCT": "RECORD", "DECIMAL": "NUMERIC",
    "BIGDECIMAL": "BIGNUMERIC",
}  # fmt: skip
"""The other names of types in a schema over REST."""


def change_columns(
    tables: RestTables,
    names: Names,
    before: Sequence[Column],
    after: Sequence[Column],
    until: float,
    *,
    altered: Sequence[tuple[Column, Column]] = (),
) -> bool:
    """Give the table the columns ``after``; False if the server refuses, or does not say then that it has them.

    ``altered`` are the columns with another name or type, as they are and as they become.

    Raises:
        CannotSeed: the server does not answer.
    """
    try:
        for statement in alter_statements(names, altered):
            _ask(tables, names, statement, until)
        now = dict(altered)
        _change(tables, names, [now.get(column, column) for column in before], after, until)
        answer = tables.get(tables.path(names), {}, until=until, shown=0)
    except CannotSeed as error:
        if not error.answered:
            raise
        return False
    return _fields(answer) == [_field(rest_schema(column)) for column in after]


def _change(tables: RestTables, names: Names, before: Sequence[Column], after: Sequence[Column], until: float) -> None:
    left = [column.name for column in after]
    dropped = [column.name for column in before if column.name not in left]
    if dropped:
        _ask(tables, names, drop_statement(names, dropped), until)
    if [column for column in before if column.name in left] != list(after):
        schema = {"fields": [rest_schema(column) for column in after]}
        tables.patch(tables.path(names), {"schema": schema}, until=until)


def _ask(tables: RestTables, names: Names, statement: str, until: float) -> None:
    body = {"query": statement, "useLegacySql": False, "timeoutMs": str(QUERY_MILLISECONDS)}
    tables.post(f"/bigquery/v2/projects/{names.project}/queries", body, until=until)


def _fields(answer: Mapping[str, Any]) -> list[tuple[str, str, str]] | None:
    """Name, type and mode of each column in an answer of ``tables.get``; None if it has no such list."""
    schema = answer.get("schema")
    fields = schema.get("fields") if isinstance(schema, dict) else None
    if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
        return None
    return [_field(field) for field in fields]


def _field(field: Mapping[str, Any]) -> tuple[str, str, str]:
    kind = str(field.get("type", "")).upper()
    return str(field.get("name")), _ALIASES.get(kind, kind), str(field.get("mode") or "NULLABLE").upper()
