"""``conformance read``: judge readers of Arrow IPC data with the golden vectors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

from conformance.cli._gates import GateOption
from conformance.cli._group import Unusable
from conformance.cli._many import answer_options, judge_each, known_names, limits_of, putting_options
from conformance.cli._numbers import CASES, seed_option
from conformance.cli._options import FOLDER, select_option
from conformance.cli._outputs import Outputs, output_options
from conformance.disk.files import data_file
from conformance.engine.answerers import Putting
from conformance.engine.events import Event
from conformance.engine.readerinputs import Inputs
from conformance.engine.reading import ReaderTask, reader_clauses
from conformance.engine.selection import Patterns, all_clauses, binds, undisputed
from conformance.generate.vectors import VectorSet
from conformance.readers.ipc.implementations import IPC_READERS
from conformance.readers.ipc.jobpool import IpcPool
from conformance.records import Level

AT_ONCE: Final = 2
"""Readers that are judged at the same time: two cores are the least that continuous integration gives."""


@click.command()
@click.option("--reader", "names", metavar="GLOB", multiple=True, help="A reader; may be repeated. All by default.")
@select_option("vectors")
@click.option("--vector", metavar="ID", help="Only this input: a vector, a vector with an option, or a mangled one.")
@click.option(
    "--mangled",
    metavar="N",
    type=CASES,
    default=0,
    show_default=True,
    help="Add N inputs, each a valid vector with one change.",
)
@seed_option
@click.option(
    "--combinations",
    is_flag=True,
    help="Add 1000 to 4000 readings in which every two legal features meet, and every three of the main ones, and 400"
    " inputs that are long, extreme, inside others or end unusually, most of them in each way to read.",
)
@click.option(
    "--vectors",
    "folder",
    type=FOLDER,
    default=lambda: data_file("golden") / "ipc",
    show_default="golden/ipc",
    help="The directory of golden vectors.",
)
@putting_options
@answer_options
@output_options
def command(
    *,
    names: tuple[str, ...],
    select: tuple[str, ...],
    vector: str | None,
    level: str,
    mangled: int,
    seed: int,
    combinations: bool,
    folder: Path,
    seconds: float | None,
    reports: Path | None,
    putting: Putting,
    gate: GateOption,
    outputs: Outputs,
) -> None:
    """Judge readers of Arrow IPC: whether they survive broken data, refuse and accept what they should, and return
    correct rows.

    \b
    conformance read                                        every installed reader
    conformance read --reader pyarrow --mangled 2000        one reader, with 2000 mangled inputs in addition
    conformance read --combinations --select 'combined.*'   legal features that meet, for every reader
    conformance read --reader polars --vector ID            one input alone
    conformance read --reports reports/readers              a report for each reader, for `conformance matrix`

    Each reader decodes in a process of its own, with limits of time and memory; if it dies, only one input is lost.
    Readers in other languages are programs that `python -m adapters` builds.

    \b
    Exit status: 0 no findings, 1 findings, 2 unusable input or no reader to judge.
    """  # noqa: D301  # click wants the character, not the escape
    chosen = known_names("reader", names, IPC_READERS)
    all_clauses()
    inputs = Inputs(VectorSet.load(folder), seed=seed, generated=mangled, combined=combinations)
    inputs.matched(globs := Patterns(select))
    if globs.dead:
        raise Unusable(f"expected globs that match ids of vectors in {folder}, got {globs.dead[0]!r}")
    clauses, aside = undisputed(clause for clause in reader_clauses() if binds(clause, Level(level)))

    def judged(name: str) -> tuple[Iterable[Event], int | None]:
        task = ReaderTask(pool, name, inputs, clauses, select, Level(level), seed, mangled, IPC_READERS, aside)
        task = dataclasses.replace(task, only=None if vector is None else inputs.find(vector), putting=putting)
        # How many readings there are depends on what the reader says that it can do.
        return task.events(), None if vector is None else 1

    limits, programs = limits_of(seconds)
    with IpcPool(chosen, limits=limits, programs=programs, readers=IPC_READERS) as pool:
        first = [name for name, info in IPC_READERS.items() if info.takes_long]
        judge_each("reader", pool, judged, outputs=outputs, reports=reports, gate=gate, at_once=AT_ONCE, first=first)
