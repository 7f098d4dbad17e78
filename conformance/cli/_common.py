"""Functions that several commands share: the corpus, finding a case or a clause by name, the default target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli._group import Unusable
from conformance.contain.text import unknown
from conformance.disk.files import data_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.contract.clause import Clause
    from conformance.records import Case

__all__ = [
    "corpus_option",
    "find_case",
    "find_clause",
    "target_option",
]


target_option = click.option(
    "--target",
    metavar="TARGET",
    default="reference",
    show_default="reference, the suite's own server",
    help="The implementation to judge: a TOML file that describes it, the URL of a running server such as"
    " 'grpc://localhost:9060?rest=http://localhost:9050', or a name of `conformance list targets`.",
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


def known_scenario(name: str, known: Sequence[str]) -> str:
    """The name of a scenario of Arrow's integration tests.

    Raises:
        Unusable: it is none of those ``known``; all of them are named, because nothing else lists them.
    """
    if name not in known:
        sentence = unknown("scenario", name, known, "none is like it.")
        raise Unusable(f"{sentence} The scenarios: {', '.join(map(repr, known))}")
    return name


def find_case(name: str, corpus: Path) -> Case:
    """The case ``name``: the path of a file, the id of a generated case, or an id in ``corpus``. Raises Unusable."""
    from conformance.engine.corpus import load_corpus, resolve_case  # noqa: PLC0415  # it imports Hypothesis

    try:
        return resolve_case(name, corpus)
    except KeyError:
        raise Unusable(unknown("case", name, load_corpus(corpus, None))) from None
