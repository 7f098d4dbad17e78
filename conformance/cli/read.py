"""``conformance read``: judge readers of Arrow IPC data with the golden vectors."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._many import keep, tell
from conformance.cli._outputs import Outputs, output_options
from conformance.cli._progress import watch
from conformance.engine.files import data_file
from conformance.engine.log import LogWriter
from conformance.engine.reading import REUSE, Reading, available, bound_by, reader_clauses
from conformance.engine.readings import Inputs
from conformance.engine.result import Result, fold
from conformance.engine.selection import Patterns, all_clauses
from conformance.engine.session import STATE
from conformance.generate.vectors import VectorSet
from conformance.readers.ipc.job import Limits
from conformance.readers.ipc.pool import IpcPool
from conformance.readers.ipc.registry import IPC_READERS
from conformance.records import Level


@click.command()
@click.option("--reader", "names", metavar="NAME", multiple=True, help="A reader; may be repeated. All by default.")
@click.option("--select", metavar="GLOB", multiple=True, help="Only vectors whose id matches; may be repeated.")
@click.option("--vector", metavar="ID", help="One input alone: a vector, one under an option, or a mangled one.")
@click.option("--level", type=click.Choice([level.value for level in Level]), default="may", show_default=True)
@click.option(
    "--mangled",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Add N inputs that are valid vectors with one change.",
)
@click.option(
    "--seed", metavar="S", type=click.IntRange(0), default=0, show_default=True, help="Decides every random choice."
)
@click.option(
    "--vectors",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=lambda: data_file("golden") / "ipc",
    show_default="golden/ipc",
    help="The folder of golden vectors.",
)
@click.option("--seconds", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True, help="Per input.")
@click.option(
    "--reports", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), help="Write a report per reader."
)
@output_options
def command(
    *,
    names: tuple[str, ...],
    select: tuple[str, ...],
    vector: str | None,
    level: str,
    mangled: int,
    seed: int,
    folder: Path,
    seconds: float,
    reports: Path | None,
    outputs: Outputs,
) -> None:
    """Judge readers of Arrow IPC: what they survive, refuse and accept, and whether their rows are true.

    \b
    conformance read                                        every reader that is here
    conformance read --reader pyarrow --mangled 2000        one, with 2000 mangled inputs more
    conformance read --reader polars --vector ID            one input alone
    conformance read --reports reports/readers              a report for each reader, for `conformance matrix`

    Each reader decodes in a process of its own, under limits of time and memory; one that dies costs one input.
    Readers in other languages are programs that `python -m adapters` builds.

    \b
    Exit status: 0 nothing found, 1 findings, 2 unusable input or no reader to judge.
    """  # noqa: D301  # click wants the character, not the escape
    if unknown := sorted(set(names) - set(IPC_READERS)):
        raise Unusable(f"expected readers out of {', '.join(IPC_READERS)}, got {', '.join(unknown)}")
    all_clauses()
    inputs = Inputs(VectorSet.load(folder), seed=seed, generated=mangled)
    inputs.matched(globs := Patterns(select))
    if globs.dead:
        raise Unusable(f"expected globs that match ids of vectors in {folder}, got {globs.dead[0]!r}")
    clauses = bound_by(reader_clauses(), Level(level))
    results: dict[str, Result] = {}
    limits = Limits(seconds=seconds, reuse=REUSE)
    with IpcPool(names or tuple(IPC_READERS), limits=limits, readers=IPC_READERS) as pool:
        here, absent = available(pool, names or tuple(IPC_READERS))
        for name, why in absent.items():
            click.echo(f"{name}: skipped, {why}", err=True)
        if not here:
            raise Unusable("expected at least one reader that is here, got none; the lines above say what is missing")
        for name in here:
            reading = Reading(pool, name, inputs, clauses, select, Level(level), seed, mangled, IPC_READERS)
            events = reading.events() if vector is None else reading.one(inputs.find(vector))
            total = len(inputs.ids(select)) + mangled if vector is None else 1
            with ExitStack() as stack:
                log = stack.enter_context(LogWriter(STATE / f"read-{name}.jsonl"))
                results[name] = fold(log.copy(watch(events, total=total)))
            keep(name, results[name], reports)
    tell(results, outputs)
    sys.exit(1 if any(result.fails for result in results.values()) else 0)
