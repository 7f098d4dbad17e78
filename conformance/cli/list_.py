"""``conformance list``: the names that other commands take, one per line, for use in a pipe."""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from conformance.cli._common import corpus_option
from conformance.contract import disputes
from conformance.contract.offers import profile_titles
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.readers.ipc.implementations import IPC_READERS, IPC_WRITERS
from conformance.readers.registry import KNOWN
from conformance.report.terminallayout import columns, tabled
from conformance.targets import TargetSpec, load_target
from conformance.targets.environmentspec import summary
from conformance.targets.shipped import shipped_targets


def _about(spec: TargetSpec) -> str:
    """The title and version of a target, and what ``prepare`` installs for it."""
    installed = f" (prepare installs {summary(spec.environment)})" if spec.environment is not None else ""
    return f"{spec.title} {spec.version}".strip() + installed


_LISTS: Final[Mapping[str, Callable[[Path], Iterator[tuple[str, str]]]]] = {
    "cases": lambda corpus: ((case.id, case.title) for case in load_corpus(corpus, None).values()),
    "clauses": lambda _: ((clause.id, clause.level.value) for clause in all_clauses().values()),
    "targets": lambda _: ((spec.name, _about(spec)) for spec in map(load_target, shipped_targets())),
    "profiles": lambda _: ((profile, title) for profile, title in profile_titles().items()),
    "readers": lambda _: itertools.chain(
        ((reader.name, f"run: {reader.title}") for reader in KNOWN.values()),
        ((reader.name, f"read: {reader.title}") for reader in IPC_READERS.values()),
    ),
    "disputes": lambda _: ((dispute.clause, dispute.text) for dispute in disputes.DISPUTES),
    "writers": lambda _: ((writer.name, f"write: {writer.title}") for writer in IPC_WRITERS.values()),
}
"""Each list with its rows, made when they are asked for; readers and writers with the command that uses them."""


@click.command(name="list")
@click.argument("what", metavar="[WHAT]", type=click.Choice([*_LISTS]), default="cases")
@click.option("--select", metavar="GLOB", default="*", help="List only ids that match.")
@corpus_option
def command(*, what: str, select: str, corpus: Path) -> None:
    """List the names of WHAT (cases, clauses, targets, profiles, readers, disputes or writers), each with its title or
    level; by default of the cases.

    Readers and writers have the command in front that uses them: run, read or write. Disputes are clauses that are put
    aside, with the day on which that ends and the reason.

    Exit status: 0, or 2 if nothing matches.
    """
    matching = [(name, text) for name, text in _LISTS[what](corpus) if fnmatch.fnmatchcase(name, select)]
    if what == "disputes" and not disputes.DISPUTES:
        click.echo("no clause is disputed", err=True)
        return
    if not matching:
        raise click.UsageError(f"no {what[:-1]} matches {select!r}")
    for line in tabled(matching, columns()):
        click.echo(line)
