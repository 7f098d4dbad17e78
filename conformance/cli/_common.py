"""What several commands share: the corpus, finding a case or a clause by name, the default target."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

import conformance
from conformance.cli._group import Unusable

if TYPE_CHECKING:
    from conformance.contract.clause import Clause
    from conformance.records import Case

__all__ = [
    "all_clauses",
    "corpus_option",
    "data_file",
    "find_case",
    "find_clause",
    "load_corpus",
    "target_option",
    "unknown",
]

_PACKAGE: Final = Path(conformance.__file__).parent


def data_file(*parts: str) -> Path:
    """A file or folder that ships with the suite: inside an installed package, beside it in a working copy."""
    installed = _PACKAGE.joinpath("_data", *parts)
    return installed if installed.exists() else _PACKAGE.parent.joinpath(*parts)


def _shown(path: Path) -> str:
    """``path`` as a user would type it: relative where it lies below the current directory."""
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


def load_corpus(directory: Path) -> dict[str, Case]:
    """The cases below ``directory`` by id, in the order of their ids."""
    from conformance.generate import load_cases  # noqa: PLC0415  # Hypothesis comes with it

    return {case.id: case for case in load_cases(directory)}


def all_clauses() -> Mapping[str, Clause]:
    """The register of clauses, complete."""
    from conformance.contract.chapters import load_chapters  # noqa: PLC0415  # not every command needs the contract
    from conformance.contract.clause import CLAUSES  # noqa: PLC0415  # as above

    load_chapters()
    return CLAUSES


def find_clause(clause_id: str) -> Clause:
    """The clause ``clause_id``; an unknown one is refused with the nearest ids."""
    clauses = all_clauses()
    if clause_id not in clauses:
        raise Unusable(unknown("clause", clause_id, clauses))
    return clauses[clause_id]


def find_case(name: str, corpus: Path) -> Case:
    """The case ``name``: the path of a file, the id of a generated case, or an id in ``corpus``."""
    from conformance.generate import load_case  # noqa: PLC0415  # Hypothesis comes with it

    if Path(name).is_file():
        return load_case(Path(name))
    cases = load_corpus(corpus)
    if name not in cases:
        raise Unusable(unknown("case", name, cases))
    return cases[name]


def unknown(kind: str, name: str, known: Iterable[str], hint: str = "") -> str:
    """The sentence for a name that nothing is called, with the nearest ones; ``hint`` says where all are."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    return f"no {kind} is called {name!r}; {hint or f'`conformance list {kind}s` lists them all'}"
