"""Writes the tables of cases as files, for a server that gets them before the run (:mod:`.preloaded`).

Each table is written once, however many cases have it, in the forms that servers load. The index names the tables, the
cases, and the cases that no such table can serve.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.disk.files import write_inside
from conformance.generate.materialise import materialise
from conformance.records import AppendRows, Case, ChangeColumns, Column
from conformance.targets.names import Names
from conformance.targets.preloaded import INDEX
from conformance.targets.seeds import Row, case_rows, content_id
from conformance.targets.sql import create_statement, insert_statement
from conformance.targets.values import rest_schema, rest_value

__all__ = ["FORMS", "not_preloadable", "write_tables"]

FORMS: Final = ("schema.json", "jsonl", "arrow", "parquet", "create.sql", "insert.sql")
"""The endings of a table's files, one for each form in which a server may take it."""

STATEMENT: Final = 900_000
"""Characters of an INSERT statement: the service takes a query of at most 1 MB (BigQuery quotas, "query jobs")."""


def not_preloadable(case: Case) -> str:
    """Why no preloaded table can serve ``case``; empty if one can."""
    if not case.table.columns:
        return "it has no BigQuery columns"
    if any(isinstance(step, AppendRows | ChangeColumns) for step in case.steps):
        return "it changes its table"
    return ""


def write_tables(
    cases: Iterable[Case], folder: Path, *, project: str, dataset: str, forms: Sequence[str] = FORMS
) -> tuple[int, int]:
    """Write the tables of ``cases`` in ``forms``, and the index last; returns the numbers of tables and of cases left
    out.

    Raises:
        DiskError: a file cannot be written.
    """
    tables: dict[str, dict[str, Any]] = {}
    left_out: list[dict[str, str]] = []
    for case in cases:
        if reason := not_preloadable(case):
            left_out.append({"case": case.id, "reason": reason})
            continue
        made = materialise(case.table)
        rows = case_rows(case, made)
        name = content_id(case.table.columns, rows)
        if name not in tables:
            names = Names(project, dataset, name)
            files = []
            for form in forms:
                if data := _file(form, names, case.table.columns, rows, made):
                    write_inside(folder, f"{name}.{form}", data)
                    files.append(f"{name}.{form}")
            tables[name] = {"table": name, "rows": len(rows), "files": files, "cases": []}
        tables[name]["cases"].append(case.id)
    index = {"project": project, "dataset": dataset, "tables": list(tables.values()), "left_out": left_out}
    write_inside(folder, INDEX, json.dumps(index, indent=1, ensure_ascii=False) + "\n")
    return len(tables), len(left_out)


def _file(form: str, names: Names, columns: Sequence[Column], rows: Sequence[Row], made: pa.Table) -> bytes | str:
    """The table as a file; empty if the form has nothing for it."""
    match form:
        case "schema.json":
            return json.dumps([rest_schema(column) for column in columns], indent=1, ensure_ascii=False) + "\n"
        case "jsonl":
            lines = ({column.name: rest_value(column, row.get(column.name)) for column in columns} for row in rows)
            return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        case "arrow":
            sink = pa.BufferOutputStream()
            with pa.ipc.new_file(sink, made.schema) as writer:
                writer.write_table(made)
            return bytes(sink.getvalue())
        case "parquet":
            return _parquet(made)
        case "create.sql":
            return create_statement(names, columns) + ";\n"
        case _:
            return "".join(f"{statement};\n" for statement in _inserts(names, columns, rows))


def _parquet(made: pa.Table) -> bytes:
    """The table as Parquet; empty if a type of it has no form there, as INTERVAL has none."""
    sink = pa.BufferOutputStream()
    try:
        pq.write_table(made, sink)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return b""
    return bytes(sink.getvalue())


def _inserts(names: Names, columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    """INSERT statements of at most :data:`STATEMENT` characters, at least one row each."""
    runs = [rows] if rows else []
    while runs:
        run = runs.pop()
        statement = insert_statement(names, columns, run)
        if len(statement) <= STATEMENT or len(run) == 1:
            yield statement
        else:
            runs += [run[len(run) // 2 :], run[: len(run) // 2]]
