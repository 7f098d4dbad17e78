"""``conformance tables``: write the tables of the cases, for a server that gets them before the run."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from conformance.cli._common import corpus_option
from conformance.cli._numbers import CASES, seed_option
from conformance.cli._options import FOLDER, select_option
from conformance.cli._progress import progress, quiet_option
from conformance.contain.text import many
from conformance.disk.locks import held
from conformance.engine.casestep import drawn
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.engine.smoke import SMOKE
from conformance.generate import draw_case
from conformance.targets.spec import PROJECT, Seed
from conformance.targets.tablefiles import FORMS, write_tables


@click.command()
@click.option(
    "--out", metavar="DIR", required=True, type=FOLDER, help="Directory for the files; created if it does not exist."
)
@select_option("cases")
@click.option(
    "--cases", "generated", metavar="N", type=CASES, default=0, show_default=True, help="Add N generated cases."
)
@seed_option
@click.option(
    "--form", "forms", type=click.Choice(FORMS), multiple=True, help="Only files of this form; may be repeated."
)
@click.option("--project", default=PROJECT, show_default=True, help="Project that the SQL statements name.")
@click.option("--dataset", default=Seed().dataset, show_default=True, help="Dataset that the SQL statements name.")
@corpus_option
@quiet_option
def command(
    *,
    out: Path,
    select: tuple[str, ...],
    generated: int,
    seed: int,
    forms: tuple[str, ...],
    project: str,
    dataset: str,
    corpus: Path,
) -> None:
    """Write every table of the selection, for a server that the suite cannot fill.

    \b
    index.json            the tables, each with its cases, and the cases that need another way of seeding
    t_….schema.json       the schema, as the REST API has it
    t_….jsonl             the rows, as load jobs and insertAll take them
    t_….arrow             an Arrow IPC file
    t_….parquet           unless Parquet has no form for a type, as for INTERVAL
    t_….create.sql        CREATE TABLE
    t_….insert.sql        INSERT statements of at most 1 MB, or of one row

    \b
    Load the tables under these names, and name the directory in the target file:
      [seed]
      paths = ["preloaded"]
      [seed.preloaded]
      tables = "DIR"

    The three small tables that each run asks for first are always among them.
    """  # noqa: D301  # click wants the character, not the escape
    everything = load_corpus(corpus)
    chosen = {case.id: case for case in plan(list(everything.values()), all_clauses(), Selection(select)).cases}
    chosen |= {name: everything[name] for name in SMOKE if name in everything}
    works = [drawn("", partial(draw_case, seed, index, profile="server")) for index in range(generated)]
    wanted = [*chosen.values(), *(work.case for work in works if work.error is None)]
    with held(out), progress("writing tables"):
        tables, left_out = write_tables(wanted, out, project=project, dataset=dataset, forms=forms or FORMS)
    click.echo(f"{many(tables, 'table')} in {out}, for {many(len(wanted) - left_out, 'case')}")
    if left_out:
        click.echo(f"{many(left_out, 'case')} cannot be preloaded; {out / 'index.json'} says why")
