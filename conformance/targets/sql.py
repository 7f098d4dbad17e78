"""Tables as GoogleSQL: one ``INSERT … VALUES`` statement per chunk of rows, for targets without insertAll.

Every value is written with its type, so that it does not depend on a server's coercion rules.
Source: https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical#literals
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.records import ROW_ID, BqType, Column, Mode
from conformance.targets.names import Names
from conformance.targets.values import interval_text

__all__ = [
    "alter_statements",
    "create_statement",
    "drop_statement",
    "insert_statement",
    "literal",
    "ordered_statement",
    "select_statement",
    "type_name",
]


def insert_statement(names: Names, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> str:
    """The statement that inserts ``rows`` (in the JSON form of a case) into the table."""
    listed = ", ".join(_name(column.name) for column in columns)
    values = (", ".join(literal(column, row.get(column.name)) for column in columns) for row in rows)
    table = f"`{names.project}`.`{names.dataset}`.`{names.table}`"
    # The names and values come from the suite's case files, each written as a literal of its type.
    return f"INSERT INTO {table} ({listed}) VALUES " + ", ".join(f"({row})" for row in values)  # noqa: S608


def select_statement(names: Names) -> str:
    """The query that selects every row and column of the table."""
    return f"SELECT * FROM `{names.project}`.`{names.dataset}`.`{names.table}`"  # noqa: S608  # as above


def ordered_statement(names: Names) -> str:
    """The same query, with the highest row number first."""
    return f"{select_statement(names)} ORDER BY {ROW_ID} DESC"


def create_statement(names: Names, columns: Sequence[Column]) -> str:
    """The statement that makes an empty table with ``columns``."""
    listed = ",\n".join(f"  {_name(column.name)} {_declared(column)}" for column in columns)
    return f"CREATE TABLE `{names.project}`.`{names.dataset}`.`{names.table}` (\n{listed}\n)"


def drop_statement(names: Names, columns: Sequence[str]) -> str:
    """The statement that drops these columns."""
    listed = ", ".join(f"DROP COLUMN {_name(column)}" for column in columns)
    return f"ALTER TABLE `{names.project}`.`{names.dataset}`.`{names.table}` {listed}"


def alter_statements(names: Names, altered: Sequence[tuple[Column, Column]]) -> Iterator[str]:
    """The statements that make of each first column the second: another type, and another name."""
    start = f"ALTER TABLE `{names.project}`.`{names.dataset}`.`{names.table}`"
    for was, now in altered:
        if _kind(was) != _kind(now):
            yield f"{start} ALTER COLUMN {_name(was.name)} SET DATA TYPE {_kind(now)}"
        if was.name != now.name:
            yield f"{start} RENAME COLUMN {_name(was.name)} TO {_name(now.name)}"


def _kind(column: Column) -> str:
    """The column's type with its parameters, whatever its mode is."""
    return _declared(dataclasses.replace(column, mode=Mode.NULLABLE))


def _declared(column: Column) -> str:
    """The column's type with its parameters, and NOT NULL."""
    if column.type is BqType.RECORD:
        name = f"STRUCT<{', '.join(f'{_name(child.name)} {_declared(child)}' for child in column.fields)}>"
    else:
        limits = [limit for limit in (column.max_length, column.precision, column.scale) if limit is not None]
        name = _of_one(column) + (f"({', '.join(map(str, limits))})" if limits else "")
    if column.mode is Mode.REPEATED:
        return f"ARRAY<{name}>"
    return f"{name} NOT NULL" if column.mode is Mode.REQUIRED else name


def literal(column: Column, value: Any) -> str:
    """``value`` of ``column`` as a typed expression."""
    if column.mode is Mode.REPEATED:
        return f"{type_name(column)}[{', '.join(_item(column, item) for item in value or ())}]"
    return f"CAST(NULL AS {type_name(column)})" if value is None else _item(column, value)


def type_name(column: Column) -> str:
    """The column's type as a GoogleSQL type, without its parameters."""
    if column.type is BqType.RECORD:
        name = f"STRUCT<{', '.join(f'{_name(child.name)} {type_name(child)}' for child in column.fields)}>"
    elif column.type is BqType.RANGE:
        name = f"RANGE<{column.range_of}>"
    else:
        name = column.type.value
    return f"ARRAY<{name}>" if column.mode is Mode.REPEATED else name


def _item(column: Column, value: Any) -> str:
    match column.type:
        case BqType.RECORD:
            fields = ", ".join(literal(child, value.get(child.name)) for child in column.fields)
            return f"{_of_one(column)}({fields})"
        case BqType.RANGE:
            start, end = ("UNBOUNDED" if value.get(side) is None else value[side] for side in ("start", "end"))
            return f"{_of_one(column)} {_text(f'[{start}, {end})')}"
        case _:
            return _WRITERS[column.type](value)


def _of_one(column: Column) -> str:
    """The type of one item of ``column``."""
    return type_name(Column(column.name, column.type, fields=column.fields, range_of=column.range_of))


def _name(name: str) -> str:
    return f"`{name}`"


def _text(text: str) -> str:
    """A string literal; JSON's escapes are also GoogleSQL's, except those of characters beyond the first plane."""
    return json.dumps(text, ensure_ascii=False)


def _float(value: Any) -> str:
    return f"CAST('{float(value)!r}' AS FLOAT64)"


def _typed(kind: str) -> Callable[[Any], str]:
    return lambda value: f"{kind} {_text(str(value))}"


_WRITERS: Final[Mapping[BqType, Callable[[Any], str]]] = {
    BqType.INT64: str,
    BqType.FLOAT64: _float,
    BqType.BOOL: lambda value: "TRUE" if value else "FALSE",
    BqType.STRING: _text,
    BqType.BYTES: lambda value: f"FROM_BASE64({_text(value)})",
    BqType.DATE: _typed("DATE"),
    BqType.DATETIME: _typed("DATETIME"),
    BqType.TIME: _typed("TIME"),
    BqType.TIMESTAMP: _typed("TIMESTAMP"),
    BqType.NUMERIC: _typed("NUMERIC"),
    BqType.BIGNUMERIC: _typed("BIGNUMERIC"),
    BqType.JSON: _typed("JSON"),
    BqType.GEOGRAPHY: lambda value: f"ST_GEOGFROMTEXT({_text(value)})",
    BqType.INTERVAL: lambda value: f"INTERVAL {_text(interval_text(value))} YEAR TO SECOND",
}
