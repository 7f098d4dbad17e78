"""``conformance show``: one case in words, or as its file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import click

from conformance.cli._common import corpus_option, find_case
from conformance.contain.text import escaped, many, safe
from conformance.generate import materialise
from conformance.generate.casetext import YAML, render
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import Case, Column, Mode, Table, to_json
from conformance.report.terminallayout import columns, flowed


@click.command()
@click.argument("name", metavar="CASE")
@click.option("--json", "as_json", is_flag=True, help="Print the case file as JSON.")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the case as a YAML file, to copy and change.")
@corpus_option
def command(*, name: str, as_json: bool, as_yaml: bool, corpus: Path) -> None:
    """Show CASE (an id, or the path of a case file): its table, its steps, the clauses that it tests."""
    case = find_case(name, corpus)
    if as_yaml:
        click.echo(render(to_json(case), YAML), nl=False)
        return
    if as_json:
        click.echo(escaped(json.dumps(to_json(case), indent=1, ensure_ascii=False)))
        return
    for line in describe(case):
        text = safe(line, 10 * len(line))  # an escape has at most ten characters
        head = _HEAD.match(text)
        size = head.end() if head is not None else 0
        for part in flowed(text[size:], columns(), head=text[:size], indent=max(size, _BELOW)):
            click.echo(part)


_HEAD: Final = re.compile(r"[a-z]+ {2,}| +")
"""The label of a line, or the indent of one below it."""
_BELOW: Final = 6
"""The least indent of the rest of a long line."""


def describe(case: Case) -> list[str]:
    """``case`` in words, as lines."""
    table = case.table
    lines = [f"{case.id}: {case.title}"]
    lines += [f"source    {case.source}"] if case.source else []
    lines += [f"observes  {', '.join(case.clauses) or 'every clause that applies'}"]
    lines += [f"needs     {', '.join(case.needs)}"] if case.needs else []
    lines += ["process   a server of its own"] if case.isolated else []
    lines += [f"protocol  {case.protocol}"] if case.protocol != DEFAULT_PROTOCOL else []
    lines += _table(table)
    lines += ["steps"]
    lines += [f"  {index}. {step.TAG} {_plain(step)}".rstrip() for index, step in enumerate(case.steps)]
    return lines


def _table(table: Table) -> list[str]:
    if table.arrow is not None:
        made = materialise(table)
        size = f"{many(made.num_rows, 'row')} in {many(len(table.arrow.batches), 'batch', 'batches')}"
        return [f"table     {many(made.num_columns, 'Arrow field')}, {size}", *(f"  {field}" for field in made.schema)]
    rows = table.rows
    size = f"{many(len(rows), 'written row')}" if rows is not None else f"recipe {_plain(table.recipe)}"
    lines = [f"table     {many(len(table.columns), 'column')}, {size}"]
    lines += [f"  {line}" for column in table.columns for line in _column(column)]
    if rows is not None:
        lines += [f"  row {index}: {json.dumps(row, ensure_ascii=False)}" for index, row in enumerate(rows[:10])]
        lines += [f"  … and {many(len(rows) - 10, 'more row')}"] if len(rows) > 10 else []
    return lines


def _plain(record: object) -> str:
    return ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in to_json(record).items())


def _column(column: Column, depth: int = 0) -> list[str]:
    parameters = [str(part) for part in (column.precision, column.scale, column.max_length, column.range_of) if part]
    kind = column.type.value + (f"({', '.join(parameters)})" if parameters else "")
    mode = "" if column.mode is Mode.NULLABLE else f" {column.mode}"
    inner = [line for field in column.fields for line in _column(field, depth + 1)]
    return [f"{'  ' * depth}{column.name} {kind}{mode}", *inner]
