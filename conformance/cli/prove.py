"""``conformance prove``: that every clause can fail, for its own reason, and that what is legal is left alone."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path

import click

from conformance.cli._common import corpus_option
from conformance.cli._progress import progress_bar
from conformance.engine.corpus import load_corpus
from conformance.engine.prove import Proof, prove
from conformance.records import Case
from conformance.reference.mutants import MUTANTS
from conformance.report.proof import as_json, as_text


@click.command()
@corpus_option
@click.option("--workers", type=click.IntRange(1), help="Processes; one per core unless given.")
@click.option("--mutant", "mutants", multiple=True, metavar="NAME", help="Try these mutants only; repeatable.")
@click.option("--every", type=click.IntRange(1), default=1, help="Make each n-th systematic change only.")
@click.option("--matrix", is_flag=True, help="Print every mutant with the clauses that failed on it.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the whole result here.")
def command(
    *, corpus: Path, workers: int | None, mutants: tuple[str, ...], every: int, matrix: bool, json_file: Path | None
) -> None:
    """Run the suite against every mutant, liar, legal variation and systematic change.

    Exit status 1 where a mutant survives, a clause is unproven, a mutant is over-broad or a legal variation fails.
    """
    if unknown := sorted(set(mutants) - set(MUTANTS)):
        raise click.UsageError(f"no mutant is called {unknown[0]!r}; `conformance serve --mutants` lists them all")
    began = time.monotonic()
    proof = _watched(load_corpus(corpus).values(), workers=workers, mutants=mutants or None, every=every)
    if json_file is not None:
        json_file.write_text(json.dumps(as_json(proof), indent=1) + "\n")
    click.echo(as_text(proof, matrix=matrix))
    click.echo(f"{time.monotonic() - began:.0f} s")
    if not proof.holds:
        raise click.exceptions.Exit(1)


def _watched(cases: Iterable[Case], *, workers: int | None, mutants: tuple[str, ...] | None, every: int) -> Proof:
    with progress_bar() as progress:
        task = progress.add_task("starting", total=None)

        def told(what: str, done: int, total: int) -> None:
            progress.update(task, description=what[:40], completed=done, total=total)

        return prove(cases, workers=workers, mutants=mutants, every=every, told=told)
