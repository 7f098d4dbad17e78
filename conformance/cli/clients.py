"""``conformance clients``: judge clients of the service by what they make of servers that behave in known ways."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from conformance.cli._common import corpus_option
from conformance.cli._gates import GateOption
from conformance.cli._group import Unusable
from conformance.cli._many import judge_each, putting_options, run_options
from conformance.cli._options import EXISTING, protocol_options, select_option
from conformance.cli._outputs import Outputs, output_options
from conformance.clients.plugin import ClientsPlugin
from conformance.clients.task import ClientTask, client_clauses
from conformance.contract.clause import Clause
from conformance.engine.answerers import Putting
from conformance.engine.events import Event
from conformance.engine.selection import LeftOut, Patterns, all_clauses, binds, undisputed
from conformance.protocol import DEFAULT_PROTOCOL, plugin
from conformance.readers.ipc.adapters import adapters_directory
from conformance.readers.programs.clientspec import ClientProgram, load_program
from conformance.readers.registry import client_programs, matching_readers
from conformance.records import Level


@click.command()
@click.option(
    "--client", "globs", metavar="GLOB", multiple=True, help="Paths of clients; all that are built by default."
)
@click.option(
    "--program",
    "file",
    metavar="FILE",
    type=EXISTING,
    help="The file that describes a client of your own, instead of the clients that ship with the suite.",
)
@protocol_options(ClientsPlugin, "Clients of {title}, instead of those of the Storage Read API.")
@select_option("situations")
@corpus_option
@putting_options
@run_options
@output_options
def command(
    *,
    globs: tuple[str, ...],
    file: Path | None,
    protocol: str,
    select: tuple[str, ...],
    corpus: Path,
    level: str,
    seconds: float,
    reports: Path | None,
    putting: Putting,
    gate: GateOption,
    outputs: Outputs,
) -> None:
    """Judge clients of a protocol: whether their rows are true, errors stay errors, broken
    bytes are refused, and interrupted reads are resumed or refused.

    \b
    conformance clients                                     every client that is built here
    conformance clients --client 'bigquery-go.*'            the paths of one client
    conformance clients --select 'interrupted.*'            some situations
    conformance clients --reports reports/clients           a report for each path, for `conformance matrix`

    A situation is a case that the reference server answers correctly, or a table whose reads are interrupted, refused,
    empty or broken. Clients are programs that `python -m adapters` builds; if one dies, only one situation is lost.
    --seconds is processor time.

    \b
    Exit status: 0 no findings, 1 findings, 2 unusable input or no client to judge.
    """  # noqa: D301  # click wants the character, not the escape
    programs = dict(client_programs(protocol)) if file is None else _of_file(file)
    names = [info.name for program in programs.values() for info in program.paths.values()]
    if globs:
        names = _matching(globs, names, shipped=file is None and protocol == DEFAULT_PROTOCOL)
    patterns = Patterns(select)
    brought = plugin(ClientsPlugin, protocol)
    # Patterns remember what they matched, and each situation is named once.
    found = [*brought.situations(corpus, Patterns(patterns.globs).match)]
    situations = [one for one in found if patterns.match(one.id)]
    _check(patterns)
    clauses, aside = _clauses(level, protocol)

    def judged(name: str) -> tuple[Iterable[Event], int]:
        task: ClientTask[Any] = ClientTask(
            pool,
            name,
            situations,
            clauses,
            select=select,
            level=Level(level),
            left_out=aside,
            file=str(file or ""),
            putting=putting,
        )
        return task.events(), len(situations)

    with brought.pool(programs, names, seconds=seconds) as pool:
        judge_each("client", pool, judged, outputs=outputs, reports=reports, gate=gate)


def _of_file(file: Path) -> dict[str, ClientProgram]:
    """The user's own program, by its name."""
    own = load_program(file)
    if not own.direct and file.resolve().parents[1] != adapters_directory():
        raise Unusable(
            f"{file}: expected a command that names the program by {{here}}, and no build, got one or {{cache}}: "
            "only the folders of adapters/ are built"
        )
    return {own.adapter.name: own}


def _matching(globs: tuple[str, ...], names: Sequence[str], *, shipped: bool) -> list[str]:
    """The paths that one of the globs matches; all readers share the rules of globs for ``shipped`` clients."""
    if not shipped:
        for glob in globs:
            if not fnmatch.filter(names, glob):
                raise Unusable(f"expected a path of a client, such as {names[0]}, got {glob!r}")
        return [name for name in names if any(fnmatch.fnmatchcase(name, glob) for glob in globs)]
    try:
        return [name for name in matching_readers(globs) if name in names]
    except ValueError as error:
        raise Unusable(str(error)) from None


def _check(patterns: Patterns) -> None:
    if patterns.dead:
        raise Unusable(f"expected globs that match ids of situations, got {patterns.dead[0]!r}")


def _clauses(level: str, protocol: str) -> tuple[tuple[Clause, ...], tuple[LeftOut, ...]]:
    """The clauses that bind at this level, and those that are left out."""
    all_clauses()
    clauses, aside = undisputed(clause for clause in client_clauses(protocol) if binds(clause, Level(level)))
    return tuple(clauses), tuple(aside)
