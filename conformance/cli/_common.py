"""Functions that several commands share: the corpus, finding a case or a clause by name, the default target."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli._group import Unusable
from conformance.disk.files import data_file

if TYPE_CHECKING:
    from conformance.contract.clause import Clause
    from conformance.records import Case

__all__ = [
    "corpus_option",
    "find_case",
    "find_clause",
    "target_option",
    "unknown",
]


def _shown(path: Path) -> str:
    """``path`` as a user would type it: relative if it is below the current directory."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


target_option = click.option(
    "--target",
    metavar="FILE",
    default=lambda: _shown(data_file("targets", "reference.toml")),
    show_default="the embedded reference server",
    help="TOML file that describes the implementation to judge.",
)

corpus_option = click.option(
    "--corpus",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=lambda: data_file("cases"),
    show_default="the suite's own cases",
    help="Directory of case files.",
)


def find_clause(clause_id: str) -> Clause:
    """The clause ``clause_id``; raises Unusable, with the nearest ids, for an unknown one."""
    from conformance.engine.selection import all_clauses  # noqa: PLC0415  # not every command needs the contract

    clauses = all_clauses()
    if clause_id not in clauses:
        raise Unusable(unknown("clause", clause_id, clauses))
    return clauses[clause_id]


def find_case(name: str, corpus: Path) -> Case:
    """The case ``name``: the path of a file, the id of a generated case, or an id in ``corpus``. Raises Unusable."""
    from conformance.engine.corpus import load_corpus, resolve_case  # noqa: PLC0415  # it imports Hypothesis

    try:
        return resolve_case(name, corpus)
    except KeyError:
        raise Unusable(unknown("case", name, load_corpus(corpus))) from None


def unknown(kind: str, name: str, known: Iterable[str], hint: str = "") -> str:
    """The sentence about an unknown name, with the nearest known names; without one, ``hint`` says how to list them
    all.
    """
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    return f"no {kind} is called {name!r}; {hint or f'`conformance list {kind}s` lists them all'}"
