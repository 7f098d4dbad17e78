"""``conformance prove``: prove that every clause can fail, for its own reason, and that nothing legal fails."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from conformance.cli._common import corpus_option
from conformance.cli._interrupts import Interrupted
from conformance.cli._numbers import PROCESSES, count_of
from conformance.cli._options import FILE, clause_option
from conformance.cli._progress import progress, quiet_option
from conformance.contain.text import many
from conformance.disk.files import write_whole
from conformance.engine.corpus import load_corpus
from conformance.engine.prove import Proof, prove
from conformance.engine.selection import Patterns, all_clauses
from conformance.records import Case
from conformance.reference.proven import proven_mutants
from conformance.report.prooftext import as_json_text, as_text, took


@click.command()
@corpus_option
@click.option("--workers", type=PROCESSES, help="Number of processes that compute; by default, one per core.")
@click.option("--mutant", "mutants", multiple=True, metavar="NAME", help="Try only this mutant; may be repeated.")
@clause_option
@click.option("--every", type=count_of(1), default=1, help="Make only each n-th systematic change.")
@click.option("--matrix", is_flag=True, help="Print every mutant with the clauses that failed on it.")
@click.option("--json", "json_file", metavar="FILE", type=FILE, help="Write the complete result to this file.")
@quiet_option
def command(
    *,
    corpus: Path,
    workers: int | None,
    mutants: tuple[str, ...],
    clause: tuple[str, ...],
    every: int,
    matrix: bool,
    json_file: Path | None,
) -> None:
    """Run the suite against every mutant, faulty server, legal variation and systematic change.

    With --clause, only the mutants made for these clauses, the reference and the legal variations are tried, the
    legal variations of servers on the cases made for these clauses. That takes a minute for most chapters, some minutes
    for drawn histories, and shows what is wrong with a clause that is being written.

    Exit status: 0 the proof holds; 1 a mutant survives, a clause is unproven, a mutant fails other clauses too, or a
    legal variation fails; 2 unusable input; 130 interrupted, because part of a proof proves nothing.
    """
    if unknown := sorted(set(mutants) - set(proven_mutants())):
        raise click.UsageError(f"no mutant is called {unknown[0]!r}; `conformance serve --mutants` lists them all")
    began = time.monotonic()
    cases, clauses = load_corpus(corpus, None).values(), _matching(clause) if clause else None
    proof = _watched(cases, workers=workers, mutants=mutants or None, clauses=clauses, every=every)
    click.echo(as_text(proof, matrix=matrix))
    click.echo(took(proof))
    click.echo(f"{time.monotonic() - began:.0f} s")
    if json_file is not None:
        write_whole(json_file, as_json_text(proof))
    if not proof.holds:
        raise click.exceptions.Exit(1)


def _matching(globs: tuple[str, ...]) -> list[str]:
    patterns = Patterns(globs)
    found = [name for name, one in all_clauses().items() if (one.on_messages or one.protocol) and patterns.match(name)]
    if dead := patterns.dead:
        raise click.UsageError(f"no clause on servers matches {dead[0]!r}; `conformance list clauses` lists them all")
    return found


def _watched(cases: Iterable[Case], **how: Any) -> Proof:
    tried: list[str] = []
    of = 0
    with progress("starting") as shown:

        def reported(what: str, done: int, total: int) -> None:
            nonlocal of
            of = total
            tried.append(what)
            shown.update(what, done=done, total=total)

        try:
            return prove(cases, reported=reported, **how)
        except KeyboardInterrupt:
            names = f", last {' and '.join(tried[-2:])}" if tried else ""
            raise Interrupted(
                f"{len(tried)} of {many(of, 'trial') if of else 'all trials'} made{names};"
                " part of a proof proves nothing"
            ) from None
