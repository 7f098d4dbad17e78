"""The one statement that fills big tables: ``INSERT INTO t (c, …) SELECT e, … FROM UNNEST(GENERATE_ARRAY(a, b)) AS x``.

Its expressions are those of :mod:`conformance.reference.sql`, computed over the whole series at once.
Any other statement is refused with a sentence that shows this form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from conformance.contract import mapping
from conformance.records import BqType, Column, Mode
from conformance.reference.catalogue import Catalogue, TableId, stored_schema
from conformance.reference.sql import SqlError, Value, evaluate
from conformance.reference.sql.syntax import Source, parse_tokens, tokenize
from conformance.reference.sql.values import to_type

__all__ = ["FORM", "StatementError", "insert_select"]

FORM: Final = "INSERT INTO table (column, ...) SELECT expression, ... FROM UNNEST(GENERATE_ARRAY(first, last)) AS x"
_TAIL: Final = re.compile(
    r"FROM UNNEST \( GENERATE_ARRAY \( (-?) ?(\d+) , (-?) ?(\d+) \) \) (?:AS )?(\w+)(?: ;)?", re.IGNORECASE
)
_MAX_ROWS: Final = 50_000_000


class StatementError(Exception):
    """The statement is not of the form, or does not fit its table; the text says why."""


def insert_select(text: str, catalogue: Catalogue, project: str, dataset: str) -> tuple[TableId, pa.Table]:
    """The table that the statement names, and the rows (in stored form) that it would insert.

    ``project`` and ``dataset`` complete a name that leaves them out.

    Raises:
        StatementError: the statement is not of the form or does not fit its table.
        MissingError: there is no such table.
    """
    try:
        return _run(tokenize(text), catalogue, project, dataset)
    except SqlError as error:
        raise StatementError(f"Syntax error: {error}; this server runs {FORM}") from None


def _run(tokens: list[Source], catalogue: Catalogue, project: str, dataset: str) -> tuple[TableId, pa.Table]:
    words = [token.text.upper() for token in tokens]
    for word in ("INSERT", "(", "SELECT", "FROM"):
        if word not in words:
            raise SqlError(f"expected {word}")
    opening, select = words.index("("), words.index("SELECT")
    tail = len(words) - 1 - words[::-1].index("FROM")
    name = tokens[2 if words[:2] == ["INSERT", "INTO"] else 1 : opening]
    table = _table(name, project, dataset)
    columns = catalogue.snapshot(table).columns
    targets = [_column(token.text, columns) for token in tokens[opening + 1 : select - 1] if token.text != ","]
    series, variable = _series(tokens[tail:])
    expressions = _split(tokens[select + 1 : tail])
    if len(expressions) != len(targets):
        raise SqlError(f"expected {len(targets)} expressions for {len(targets)} columns, got {len(expressions)}")

    def scope(path: Sequence[str]) -> Value:
        if [part.lower() for part in path] != [variable.lower()]:
            raise SqlError(f"Unrecognized name: {'.'.join(path)}")
        return Value(BqType.INT64, series)

    made = {
        column.name: _stored(evaluate(parse_tokens(part), scope), column, len(series))
        for column, part in zip(targets, expressions, strict=True)
    }
    schema = stored_schema(columns)
    for column in columns:
        if column.name not in made:
            made[column.name] = _absent(column, schema.field(column.name).type, len(series))
    return table, pa.table([made[column.name] for column in columns], schema=schema)


def _table(name: Sequence[Source], project: str, dataset: str) -> TableId:
    parts = "".join(token.text for token in name).replace("`", "").split(".")
    full = [project, dataset][: 3 - len(parts)] + parts
    if len(full) != 3 or not all(full):
        raise SqlError(f"expected a table as project.dataset.table, got {'.'.join(parts)}")
    return TableId(*full)


def _column(name: str, columns: Sequence[Column]) -> Column:
    for column in columns:
        if column.name.lower() == name.strip("`").lower():
            return column
    raise SqlError(f"Column {name} is not present in the table")


def _series(tokens: Sequence[Source]) -> tuple[pa.Array, str]:
    """The generated integers, and the name that they go by."""
    match = _TAIL.fullmatch(" ".join(token.text for token in tokens))
    if match is None:
        raise SqlError("expected FROM UNNEST(GENERATE_ARRAY(first, last)) AS x at the end")
    first, last = (int(f"{sign}{digits}") for sign, digits in (match.group(1, 2), match.group(3, 4)))
    if last - first >= _MAX_ROWS:
        raise SqlError(f"expected at most {_MAX_ROWS} rows")
    return pa.array(np.arange(first, last + 1, dtype=np.int64)), match.group(5)


def _split(tokens: Sequence[Source]) -> list[list[Source]]:
    """The expressions between commas that stand in no parentheses."""
    parts: list[list[Source]] = [[]]
    depth = 0
    for token in tokens:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.text, 0)
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _stored(value: Value, column: Column, rows: int) -> pa.Array:
    """The values as the column stores them."""
    if column.mode is Mode.REPEATED or column.type in (BqType.RECORD, BqType.RANGE, BqType.INTERVAL):
        raise SqlError(f"expected a column of scalars; {column.name} is {column.mode} {column.type}")
    wanted = mapping.element_type(column)
    data = to_type(value, column.type).data
    array = pa.repeat(data, rows) if isinstance(data, pa.Scalar) else data
    if column.mode is Mode.REQUIRED and array.null_count:
        raise SqlError(f"Required field {column.name} cannot be null")
    if array.type == wanted:
        return array
    try:
        return array.cast(wanted)
    except pa.ArrowException as error:
        raise SqlError(f"expected values of {column.name}: {error}") from None


def _absent(column: Column, arrow: pa.DataType, rows: int) -> pa.Array:
    if column.mode is Mode.REQUIRED:
        raise SqlError(f"Required field {column.name} cannot be null")
    if column.mode is Mode.REPEATED:
        return pa.array([[]] * rows, arrow)
    return pa.nulls(rows, arrow)
