"""``conformance write``: judge writers of Arrow IPC data over their whole option space."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._many import keep, tell
from conformance.cli._outputs import Outputs, output_options
from conformance.cli._progress import watch
from conformance.contract.ipc.judging import ipc_clauses
from conformance.engine.log import LogWriter
from conformance.engine.reading import REUSE, available, bound_by
from conformance.engine.result import Result, fold
from conformance.engine.selection import Patterns, all_clauses
from conformance.engine.session import STATE
from conformance.engine.writing import Writing
from conformance.readers.ipc.job import Limits
from conformance.readers.ipc.pool import IpcPool
from conformance.readers.ipc.registry import IPC_READERS, IPC_WRITERS
from conformance.records import Level
from conformance.reference.ipc.samples import SAMPLES


@click.command()
@click.option("--writer", "names", metavar="NAME", multiple=True, help="A writer; may be repeated. All by default.")
@click.option("--select", metavar="GLOB", multiple=True, help="Only samples whose id matches; may be repeated.")
@click.option("--case", "case_id", metavar="ID", help="One row of the covering array alone.")
@click.option("--level", type=click.Choice([level.value for level in Level]), default="may", show_default=True)
@click.option("--seconds", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True, help="Per case.")
@click.option(
    "--reports", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), help="Write a report per writer."
)
@output_options
def command(
    *,
    names: tuple[str, ...],
    select: tuple[str, ...],
    case_id: str | None,
    level: str,
    seconds: float,
    reports: Path | None,
    outputs: Outputs,
) -> None:
    """Judge writers of Arrow IPC: every type with every option that they have, pairwise.

    \b
    conformance write                                       every writer that is here
    conformance write --writer pyarrow --select 'types.*'   one, with some samples
    conformance write --writer arro3 --case ID              one case alone
    conformance write --reports reports/writers             a report for each writer, for `conformance matrix`

    A writer reads the reference's stream of a sample and writes its batches anew; what it wrote is judged by every
    clause on streams and files. An option that its interface lacks is not applicable, and the report says so.

    \b
    Exit status: 0 nothing found, 1 findings, 2 unusable input or no writer to judge.
    """  # noqa: D301  # click wants the character, not the escape
    if unknown := sorted(set(names) - set(IPC_WRITERS)):
        raise Unusable(f"expected writers out of {', '.join(IPC_WRITERS)}, got {', '.join(unknown)}")
    all_clauses()
    by_id = {one.id: one for profile in ("ipc-stream", "ipc-file") for one in ipc_clauses(profile, writer=True)}
    clauses = bound_by(by_id.values(), Level(level))
    globs: Patterns = Patterns(select)
    if not [name for name in SAMPLES if globs.match(name)] or globs.dead:
        raise Unusable(f"expected globs that match ids of samples, got {globs.dead[0]!r}; types.int32 is one")
    results: dict[str, Result] = {}
    limits = Limits(seconds=seconds, reuse=REUSE)
    with IpcPool(names or tuple(IPC_WRITERS), limits=limits, readers=IPC_READERS, writers=IPC_WRITERS) as pool:
        here, absent = available(pool, names or tuple(IPC_WRITERS))
        for name, why in absent.items():
            click.echo(f"{name}: skipped, {why}", err=True)
        if not here:
            raise Unusable("expected at least one writer that is here, got none; the lines above say what is missing")
        for name in here:
            writing = Writing(pool, name, clauses, select, Level(level), IPC_READERS)
            try:
                chosen = writing.rows() if case_id is None else [writing.find(case_id)]
            except ValueError as error:
                raise Unusable(str(error)) from error
            events = writing.events(chosen, whole=case_id is None)
            with ExitStack() as stack:
                log = stack.enter_context(LogWriter(STATE / f"write-{name}.jsonl"))
                results[name] = fold(log.copy(watch(events, total=len(chosen))))
            keep(name, results[name], reports)
    tell(results, outputs)
    sys.exit(1 if any(result.fails for result in results.values()) else 0)
