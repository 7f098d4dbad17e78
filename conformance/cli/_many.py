"""Judge several readers or writers of Arrow IPC in one call: select the installed ones, print and write the results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar

import click

from conformance.cli._group import Unusable
from conformance.cli._interrupts import Interrupted, until_interrupted
from conformance.cli._numbers import SECONDS
from conformance.cli._options import FOLDER, level_option
from conformance.cli._outputs import Outputs, conclude, reported
from conformance.cli._progress import progress, quiet_option, watch
from conformance.disk.files import DiskError
from conformance.engine.events import Event
from conformance.engine.log import LogWriter
from conformance.engine.result import Result, fold
from conformance.engine.session import STATE
from conformance.report.summary import verdict_line

__all__ = ["Judged", "judge_each", "known_names", "run_options"]

F = TypeVar("F", bound=Callable[..., Any])

Judged: TypeAlias = Callable[[str], tuple[Iterable[Event], int]]
"""A function from the name of an implementation to the events of its run and the number of its cases."""


class Judging(Protocol):
    """A pool of implementations, some of which may be missing here."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def absent(self) -> dict[str, str]: ...


def run_options(function: F) -> F:
    """Give a command the options ``--level``, ``--seconds``, ``--reports`` and ``--quiet``."""
    seconds = click.option(
        "--seconds",
        type=SECONDS,
        default=10.0,
        show_default=True,
        help="Processor time of one answer; by the clock, it may take three times as long.",
    )
    reports = click.option(
        "--reports", metavar="DIR", type=FOLDER, help="Write a report for each implementation to this directory."
    )
    return level_option(seconds(reports(quiet_option(function))))


def known_names(role: str, asked: tuple[str, ...], known: Collection[str]) -> tuple[str, ...]:
    """The implementations named by the user; all if none are named.

    Raises:
        Unusable: a name is unknown.
    """
    if unknown := sorted(set(asked) - set(known)):
        raise Unusable(f"expected {role}s out of {', '.join(known)}, got {', '.join(unknown)}")
    return asked or tuple(known)


def judge_each(role: str, pool: Judging, judged: Judged, *, outputs: Outputs, reports: Path | None) -> NoReturn:
    """Judge every installed implementation of the pool, each with a log of its own, and exit with the status.

    Missing implementations are reported on standard error. A single report is printed, several with a line each.
    ``outputs`` are the report files if there is one implementation; ``reports`` is a directory for reports of each,
    written as soon as it is judged.

    Raises:
        Unusable: none is installed.
    """
    absent = pool.absent()
    for name, why in absent.items():
        click.echo(f"{name}: skipped, {why}", err=True)
    here = [name for name in pool.names if name not in absent]
    if not here:
        raise Unusable(f"expected at least one installed {role}, got none; the lines above say what is missing")
    command = click.get_current_context().info_name
    results: dict[str, Result] = {}
    failures: list[DiskError | None] = []
    with ExitStack() as stack:
        # All locks at once: a second command must end immediately, not after its first implementation.
        logs = {name: stack.enter_context(LogWriter(STATE / f"{command}-{name}.jsonl")) for name in here}
        for name, log in logs.items():
            events, total = judged(name)
            try:
                with progress(f"starting {name}") as shown:
                    found, interrupted = until_interrupted(log.copy(watch(events, shown, total=total)))
            except Interrupted:
                if not results:
                    raise
                break
            results[name] = fold(found)
            failures += [*_kept(name, results[name], reports), log.failure]
            if interrupted or log.failure is not None:
                break
    failures += _reported(results, outputs, {name: log.path for name, log in logs.items()})
    left = [name for name in here if name not in results]
    if left:
        click.echo(f"not judged: {', '.join(left)}", err=True)
    conclude(failures, fails=bool(left) or any(result.fails for result in results.values()))


def _kept(name: str, result: Result, reports: Path | None) -> list[DiskError]:
    if reports is None:
        return []
    files = {kind: reports / f"{name}.{kind}" for kind in ("json", "html", "svg")}
    return Outputs(json=files["json"], html=files["html"], badge=files["svg"]).write(result)


def _reported(results: Mapping[str, Result], outputs: Outputs, logs: Mapping[str, Path]) -> list[DiskError]:
    width = max(map(len, results))
    failures: list[DiskError] = []
    for name, result in results.items():
        if len(results) == 1:
            failures += reported(result, outputs, logs[name])
        else:
            failures += Outputs(step_summary=outputs.step_summary).write(result)
            click.echo(f"{name:<{width}}  {result.start.target}: {verdict_line(result)}")
    return failures
