"""``conformance cases``: check case files, or print the schema of a case file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from conformance.contain.text import many
from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import Patterns, all_clauses
from conformance.generate import load_file
from conformance.generate.caseschema import render
from conformance.records import Case


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a case file.")
def command(*, files: tuple[Path, ...], schema: bool) -> None:
    """Check case FILES (or directories of them; by default the suite's own), or print the schema.

    A case must be readable, and each clause pattern in it must match a clause. A matrix is checked case by case.

    Exit status: 0 all cases are valid, 1 a case names no known clause, 2 a file holds no case.
    """
    if schema:
        click.echo(render(), nl=False)
        return
    cases = [case for path in files or (data_file("cases"),) for case in _load(path)]
    complaints = [complaint for case in cases for complaint in _complaints(case)]
    for complaint in complaints:
        click.echo(complaint)
    click.echo(f"{many(len(cases), 'case')}, {many(len(complaints), 'complaint')}")
    sys.exit(1 if complaints else 0)


def _load(path: Path) -> list[Case]:
    return list(load_corpus(path, None).values()) if path.is_dir() else load_file(path)


def _complaints(case: Case) -> list[str]:
    patterns = Patterns(case.clauses)
    for clause_id in all_clauses():
        patterns.match(clause_id)
    return [f"{case.id}: no clause matches {pattern!r}" for pattern in patterns.dead]
