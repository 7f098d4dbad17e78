"""``conformance write``: judge writers of Arrow IPC data over their complete option space."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from conformance.cli._gates import GateOption
from conformance.cli._group import Unusable
from conformance.cli._many import answer_options, judge_each, known_names, limits_of, putting_options
from conformance.cli._options import select_option
from conformance.cli._outputs import Outputs, output_options
from conformance.contract.ipc.judging import PROFILE_OF, ipc_clauses
from conformance.engine.answerers import Putting
from conformance.engine.events import Event
from conformance.engine.selection import Patterns, all_clauses, binds, undisputed
from conformance.engine.writing import WriterTask, sample_ids
from conformance.readers.ipc.implementations import IPC_READERS, IPC_WRITERS
from conformance.readers.ipc.jobpool import IpcPool
from conformance.records import Level
from conformance.wire import Kind


@click.command()
@click.option("--writer", "names", metavar="GLOB", multiple=True, help="A writer; may be repeated. All by default.")
@select_option("samples")
@click.option("--case", "case_id", metavar="ID", help="Only this row of the covering array.")
@putting_options
@answer_options
@output_options
def command(
    *,
    names: tuple[str, ...],
    select: tuple[str, ...],
    case_id: str | None,
    level: str,
    seconds: float | None,
    reports: Path | None,
    putting: Putting,
    gate: GateOption,
    outputs: Outputs,
) -> None:
    """Judge writers of Arrow IPC: every type with every option that they have, pairwise.

    \b
    conformance write                                       every installed writer
    conformance write --writer pyarrow --select 'types.*'   one writer, with some samples
    conformance write --writer arro3 --case ID              one case alone
    conformance write --reports reports/writers             a report for each writer, for `conformance matrix`

    A writer reads the reference's stream or tensor of a sample and writes it again. Every clause on streams, files and
    tensors judges the result. An option that its interface lacks does not apply, and the report says so.

    \b
    Exit status: 0 no findings, 1 findings, 2 unusable input or no writer to judge.
    """  # noqa: D301  # click wants the character, not the escape
    chosen = known_names("writer", names, IPC_WRITERS)
    all_clauses()
    globs: Patterns = Patterns(select)
    if not [name for name in sample_ids() if globs.match(name)] or globs.dead:
        raise Unusable(f"expected globs that match ids of samples, got {globs.dead[0]!r}; types.int32 is one")

    def judged(name: str) -> tuple[Iterable[Event], int]:
        profiles = [PROFILE_OF[Kind(kind)] for kind in pool.hello(name).writes]
        by_id = {one.id: one for profile in profiles for one in ipc_clauses(profile, writer=True)}
        clauses, aside = undisputed(clause for clause in by_id.values() if binds(clause, Level(level)))
        writing = WriterTask(pool, name, clauses, select, Level(level), IPC_READERS, aside, putting)
        try:
            rows = writing.rows() if case_id is None else [writing.find(case_id)]
        except ValueError as error:
            raise Unusable(str(error)) from error
        return writing.events(rows, whole=case_id is None), len(rows)

    limits, programs = limits_of(seconds)
    with IpcPool(chosen, limits=limits, programs=programs, readers=IPC_READERS, writers=IPC_WRITERS) as pool:
        judge_each("writer", pool, judged, outputs=outputs, reports=reports, gate=gate)
