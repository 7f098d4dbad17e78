"""Judge several readers or writers of Arrow IPC in one call: select the installed ones, print and write the results.

Each implementation is judged in a thread of its own, because most of the time is spent in its process and not in ours.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol, TypeAlias, TypeVar

import click

from conformance.cli._gates import GateOption, fails_by, gate_option
from conformance.cli._group import Unusable
from conformance.cli._interrupts import Interrupted
from conformance.cli._numbers import SECONDS
from conformance.cli._options import EXISTING, FOLDER, level_option, repeat_option, shard_option, smoke_option
from conformance.cli._outputs import Outputs, conclude, open_page, reported
from conformance.cli._progress import Progress, progress, quiet_option, watch
from conformance.disk.files import DiskError, write_whole
from conformance.engine.answerers import Putting
from conformance.engine.events import CaseJudged, Event
from conformance.engine.log import LogWriter
from conformance.engine.reading import REUSE
from conformance.engine.result import Result, fold
from conformance.engine.selection import Patterns
from conformance.engine.session import own_file
from conformance.engine.shards import Shard
from conformance.readers.ipc.job import WAITS, JobLimits
from conformance.report.summary import verdict_line
from conformance.targets.specfile import load_expected

__all__ = [
    "ANSWER_SECONDS",
    "PROGRAM_SECONDS",
    "Judged",
    "Run",
    "answer_options",
    "judge_all",
    "judge_each",
    "known_names",
    "limits_of",
    "putting_options",
    "run_options",
    "skipped",
]

F = TypeVar("F", bound=Callable[..., Any])

_NAME: Final = "\0"
"""The place of an implementation's name in a reason; no reason has this character."""

ANSWER_SECONDS: Final = 2.0
"""The limit of a Python library: its slowest answer to a legal input of the default run took 0.06 s (2026-11-26; the
import of a library is not counted), so that an answer which takes thirty times as long is taken to never come. The
longest input of ``--combinations``, 2,000 dictionaries, took 0.5 s on a busy machine.
"""
ANSWER_WAITS: Final = 10.0
"""By the clock, an answer may take ten times as long: a machine under load gives a process a tenth of a core."""
PROGRAM_SECONDS: Final = 5.0
"""The limit of a program: the first answer of a new JVM took 0.79 s, because it compiles while it reads. No answer of
a JavaScript program to a legal input took more than 0.9 s, by the clock and on a busy machine (2026-11-26).
"""
Judged: TypeAlias = Callable[[str], tuple[Iterable[Event], int | None]]
"""A function from an implementation's name to the events of its run and the number of its cases, if that is known."""


class Judging(Protocol):
    """A pool of implementations, some of which may be missing here."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def absent(self) -> dict[str, str]: ...


def run_options(function: F) -> F:
    """Give a command the options ``--level``, ``--seconds``, ``--reports`` and ``--quiet``."""
    return _with_options(function, default=10.0, show_default=True)


def answer_options(function: F) -> F:
    """As :func:`run_options`; ``--seconds`` is None by default, which :func:`limits_of` understands."""
    shown = f"{ANSWER_SECONDS:g}, and {PROGRAM_SECONDS:g} for programs in other languages"
    return _with_options(function, default=None, show_default=shown)


def _with_options(function: F, **default: Any) -> F:
    seconds = click.option(
        "--seconds",
        metavar="S",
        type=SECONDS,
        help=f"Processor time of one answer; by the clock, it may take {WAITS:g} times as long.",
        **default,
    )
    reports = click.option(
        "--reports", metavar="DIR", type=FOLDER, help="Write a report for each implementation to this directory."
    )
    return level_option(seconds(reports(quiet_option(function))))


def putting_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options for how inputs are put to an implementation, as one argument ``putting``, and
    ``--gate``.
    """

    @shard_option("inputs")
    @repeat_option("input")
    @click.option(
        "--expected",
        metavar="FILE",
        type=EXISTING,
        help="A TOML file whose [[expected_failures]] are known; `conformance expect --expected` writes it.",
    )
    @smoke_option("inputs")
    @gate_option
    @functools.wraps(function)
    def with_putting(
        *, shard: str | None, repeat: int, expected: Path | None, smoke: bool, gate: GateOption, **arguments: Any
    ) -> Any:
        if gate is not None and shard is not None:
            raise click.UsageError("expected --gate without --shard: give it to `report` with the logs of all shards")
        part = None if shard is None else Shard.parse(shard)
        known = () if expected is None else load_expected(expected)
        return function(putting=Putting(part, repeat, known, smoke=smoke), gate=gate, **arguments)

    return with_putting


def limits_of(seconds: float | None) -> tuple[JobLimits, JobLimits]:
    """The limits of one job of a Python library, and of a program."""
    if seconds is None:
        program = JobLimits.of_work(PROGRAM_SECONDS, waits=ANSWER_WAITS)
        return JobLimits.of_work(ANSWER_SECONDS, waits=ANSWER_WAITS, reuse=REUSE), program
    limits = JobLimits.of_work(seconds, reuse=REUSE)
    return limits, limits


def known_names(role: str, asked: tuple[str, ...], known: Collection[str]) -> tuple[str, ...]:
    """The implementations that match the names or globs of the user, in the order of ``known``; all if none are given.

    Raises:
        Unusable: a glob matches nothing.
    """
    globs = Patterns(asked)
    chosen = tuple(name for name in known if globs.match(name))
    if globs.dead:
        raise Unusable(f"expected {role}s out of {', '.join(known)}, or globs of them, got {', '.join(globs.dead)}")
    return chosen


def judge_each(
    role: str,
    pool: Judging,
    judged: Judged,
    *,
    outputs: Outputs,
    reports: Path | None,
    gate: GateOption = None,
    at_once: int = 1,
    first: Collection[str] = (),
) -> NoReturn:
    """Judge every installed implementation of the pool, each with a log of its own, and exit with the status.

    Missing implementations are reported on standard error. A single report is printed. Of several, each has a line, and
    its report below it if the user said how much of it to show.
    ``outputs`` are the report files of a single implementation. Of several, the HTML page is the matrix of all, and
    any other of these files is refused, and so is a ``gate``.
    ``reports`` is a directory for reports of each, written as soon as it is
    judged. ``at_once`` is the number of implementations that are judged at the same time, and
    those in ``first`` begin before others; the results and their order do not depend on either.

    Raises:
        Unusable: none is installed, or several are and a file that is the report of one is asked for.
    """
    here = _installed(role, pool, [*outputs.of_one, *(["gate"] if gate is not None else [])])
    command = click.get_current_context().info_name or role
    with ExitStack() as stack:
        # All locks at once: a second command must end immediately, not after its first implementation.
        logs = {name: stack.enter_context(LogWriter(own_file(f"{command}-{name}.jsonl"))) for name in here}
        runs = [Run(name, log, *judged(name)) for name, log in logs.items()]
        with progress(f"starting {here[0]}", measure=lambda: sum(run.part.done for run in runs)) as shown:
            totals = [run.total for run in runs if run.total is not None]
            shown.update(total=sum(totals) if len(totals) == len(runs) else None)
            ordered = sorted(runs, key=lambda run: run.name not in first)
            interrupted = judge_all(ordered, at_once, reports, shown, threading.Event())
        results = {run.name: run.result for run in runs if run.result is not None}
    if interrupted and not results:
        raise Interrupted
    failures = [failure for run in runs for failure in run.failures]
    failures += _reported(results, outputs, {name: log.path for name, log in logs.items()})
    if len(results) > 1:
        failures += _compared(results, outputs, own_file(f"{command}.html"))
    left = [name for name in here if name not in results]
    if left:
        click.echo(f"not judged: {', '.join(left)}", err=True)
    failing = [name for name, result in results.items() if fails_by(gate, result)]
    conclude(failures, fails=bool(left or failing))


def _installed(role: str, pool: Judging, single: Sequence[str]) -> list[str]:
    """The names of those that are installed, the others are reported; refuses several with the ``single`` options."""
    absent = pool.absent()
    for line in skipped(absent):
        click.echo(line, err=True)
    here = [name for name in pool.names if name not in absent]
    if not here:
        raise Unusable(f"expected at least one installed {role}, got none; the lines above say what is missing")
    if len(here) > 1 and single:
        options = ", ".join(f"--{one}" for one in single)
        raise Unusable(f"expected one {role} for {options}, got {len(here)}: --reports DIR writes the reports of each")
    return here


@dataclasses.dataclass(slots=True)
class Run:
    """The run of one implementation: its log, its events, and the result, which is None until it is judged."""

    name: str
    log: LogWriter
    events: Iterable[Event]
    total: int | None
    part: Progress = dataclasses.field(default_factory=lambda: Progress(""))
    result: Result | None = None
    failures: list[DiskError | None] = dataclasses.field(default_factory=list)

    def judge(self, stop: threading.Event, reports: Path | None, shown: Progress) -> None:
        """Judge the implementation until its events end or ``stop`` is set, and write its reports."""
        found = [*self.log.copy(watch(_until(stop, self._shown(shown)), self.part, total=self.total))]
        if self.log.failure is not None:
            stop.set()
        if any(isinstance(event, CaseJudged) for event in found) or not stop.is_set():
            self.result = fold(found)
            self.failures = [*_kept(self.name, self.result, reports), self.log.failure]

    def _shown(self, shown: Progress) -> Iterator[Event]:
        for event in self.events:
            shown.update(f"{self.name}: {self.part.what}", facts=self.part.facts)
            yield event


def _until(stop: threading.Event, events: Iterable[Event]) -> Iterator[Event]:
    for event in events:
        if stop.is_set():
            return
        yield event


def judge_all(runs: Sequence[Run], at_once: int, reports: Path | None, shown: Progress, stop: threading.Event) -> bool:
    """Judge all, ``at_once`` at a time; returns True if an interrupt ended it early.

    An interrupt reaches the main thread only. It sets ``stop``, which ends each run after the answer that it waits for.
    """

    def judge(run: Run) -> None:
        try:
            if not stop.is_set():
                run.judge(stop, reports, shown)
        except BaseException:
            stop.set()
            raise

    with concurrent.futures.ThreadPoolExecutor(at_once, thread_name_prefix="judging") as threads:
        try:
            for future in [threads.submit(judge, run) for run in runs]:
                future.result()
        except KeyboardInterrupt:
            return True
        finally:
            stop.set()
    return False


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
            line = f"{name:<{width}}  {result.start.target}: {verdict_line(result)}"
            failures += reported(result, outputs.of_each, logs[name], line=line)
    return failures


def _compared(results: Mapping[str, Result], outputs: Outputs, otherwise: Path) -> list[DiskError]:
    """Write the page that compares several implementations, and open it, if one of that is asked for."""
    path = outputs.html or (otherwise if outputs.opened else None)
    if path is None:
        return []
    from conformance.report.document import document  # noqa: PLC0415  # only here
    from conformance.report.matrixtable import Implementation, build  # noqa: PLC0415  # only here
    from conformance.report.site import html  # noqa: PLC0415  # only here

    compared = build([Implementation(name, document(result)) for name, result in results.items()])
    try:
        write_whole(path, html(compared))
    except DiskError as error:
        return [error]
    if outputs.opened:
        open_page(path)
    return []


def skipped(absent: Mapping[str, str]) -> Iterator[str]:
    """A line for each reason why implementations are absent, by name: reasons that differ in the name alone are one."""
    groups: dict[str, list[str]] = {}
    for name, why in absent.items():
        reason = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", _NAME, why)
        groups.setdefault(reason, []).append(name)
    for reason, names in groups.items():
        yield f"{', '.join(names)}: skipped, {reason.replace(_NAME, ' '.join(names))}"
