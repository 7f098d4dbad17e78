"""``conformance run``: judge a target, print the report, write the files asked for."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console

from conformance.cli._common import corpus_option, target_option
from conformance.cli._outputs import Outputs, output_options
from conformance.cli._progress import watch
from conformance.engine.corpus import load_corpus
from conformance.engine.events import Event
from conformance.engine.log import LogWriter
from conformance.engine.parallel import run_parts
from conformance.engine.result import Result, fold
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.engine.session import STATE, Settings, open_session
from conformance.engine.shards import Shard
from conformance.records import Level
from conformance.report.terminal import print_report
from conformance.targets import load_target


@click.command()
@target_option
@click.option("--select", metavar="GLOB", multiple=True, help="Only cases whose id matches; may be repeated.")
@click.option("--clause", metavar="GLOB", multiple=True, help="Only clauses whose id matches; may be repeated.")
@click.option("--capability", metavar="GLOB", multiple=True, help="Only cases that need such a capability.")
@click.option(
    "--level",
    type=click.Choice([level.value for level in Level]),
    default="may",
    show_default=True,
    help="Least binding level judged.",
)
@click.option(
    "--cases",
    "generated",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Add N generated cases.",
)
@click.option(
    "--seed", metavar="S", type=click.IntRange(0), default=0, show_default=True, help="Decides every random choice."
)
@click.option("--shard", metavar="I/N", help="Only part I of N, by a hash of the case id; `report` joins the logs.")
@click.option(
    "--parallel",
    metavar="N",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Run N shards beside each other, each with a target of its own, and report on the whole.",
)
@click.option("--shrink/--no-shrink", default=True, show_default=True, help="Shrink failing generated cases.")
@click.option("--readers/--no-readers", default=True, show_default=True, help="Let real clients and decoders read.")
@click.option(
    "--deadline-multiplier",
    metavar="X",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="Stretch every deadline.",
)
@click.option(
    "--log",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Event log; reports can be made from it later.",
)
@output_options
@corpus_option
def command(
    *,
    target: str,
    select: tuple[str, ...],
    clause: tuple[str, ...],
    capability: tuple[str, ...],
    level: str,
    generated: int,
    seed: int,
    shard: str | None,
    parallel: int,
    shrink: bool,
    readers: bool,
    deadline_multiplier: float,
    log: Path | None,
    corpus: Path,
    outputs: Outputs,
) -> None:
    """Judge a target and report what deviates.

    \b
    conformance run                                             the embedded reference server
    conformance run --target mine.toml                          yours
    conformance run --target mine.toml --select 'nested-*'      some cases
    conformance run --target mine.toml --clause 'framing.*'     some clauses
    conformance run --target mine.toml --cases 500 --seed 7     and 500 generated cases
    conformance run --target mine.toml --shard 2/4              a quarter of the cases
    conformance run --target mine.toml --parallel 2             on two cores
    conformance run --target mine.toml --junit out.xml --html out.html --json out.json

    \b
    Exit status: 0 nothing unexpected, 1 findings, 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    if parallel > 1:
        if shard is not None:
            raise click.UsageError("expected --parallel or --shard, got both: a shard is a part already")
        _finish(*_in_parts(click.get_current_context().params, parallel, target, log), outputs)
    selection = Selection(select, clause, Level(level), capability, Shard.parse(shard) if shard is not None else None)
    chosen = plan(list(load_corpus(corpus).values()), all_clauses(), selection)
    settings = Settings(
        seed=seed, generated=generated, shrink=shrink, readers=readers, deadline_multiplier=deadline_multiplier
    )
    with ExitStack() as stack:
        session = stack.enter_context(open_session(load_target(target), chosen, selection, settings))
        path = log or session.default_log
        events = stack.enter_context(LogWriter(path)).copy(session.events())
        result = fold(_until_interrupted(watch(events, total=len(chosen.cases) + generated)))
    _finish(result, path, outputs)


def _finish(result: Result, log: Path, outputs: Outputs) -> NoReturn:
    print_report(Console(soft_wrap=True), result)
    outputs.write(result)
    click.echo(f"log: {log}", err=True)
    sys.exit(1 if result.fails else 0)


def _in_parts(asked: Mapping[str, Any], count: int, target: str, log: Path | None) -> tuple[Result, Path]:
    """The run that was asked for, as shards beside each other."""
    all_clauses()
    path = log or STATE / f"{load_target(target).name}.jsonl"
    events = run_parts(list(_arguments(asked)), count, STATE / "parts")
    with LogWriter(path) as writer:
        return fold(writer.copy(events)), path


def _arguments(asked: Mapping[str, Any]) -> Iterator[str]:
    """What was asked for as words of a command line, but for the parts, and for what is written of the whole."""
    for option in ("target", "level", "seed", "deadline_multiplier", "corpus"):
        yield from (f"--{option.replace('_', '-')}", str(asked[option]))
    yield from ("--cases", str(asked["generated"]))
    for option in ("select", "clause", "capability"):
        for glob in asked[option]:
            yield from (f"--{option}", glob)
    for option in ("shrink", "readers"):
        yield f"--{option}" if asked[option] else f"--no-{option}"


def _until_interrupted(events: Iterator[Event]) -> Iterator[Event]:
    """``events``, ended early by an interrupt: what was judged by then is reported, as incomplete.

    A request to terminate counts as one, so that a target that was started is stopped with the run.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        yield from events
