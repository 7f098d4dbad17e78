"""``conformance run``: judge a target, print the report, write the files asked for."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import click
from rich.console import Console

from conformance.cli._common import corpus_option, target_option
from conformance.cli._outputs import Outputs, output_options
from conformance.cli._progress import watch
from conformance.engine.corpus import load_corpus
from conformance.engine.events import Event
from conformance.engine.log import LogWriter
from conformance.engine.result import fold
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.engine.session import Settings, open_session
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
    conformance run --target mine.toml --junit out.xml --html out.html --json out.json

    \b
    Exit status: 0 nothing unexpected, 1 findings, 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
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
    print_report(Console(soft_wrap=True), result)
    outputs.write(result)
    click.echo(f"log: {path}", err=True)
    sys.exit(1 if result.fails else 0)


def _until_interrupted(events: Iterator[Event]) -> Iterator[Event]:
    """``events``, ended early by an interrupt: what was judged by then is reported, as incomplete.

    A request to terminate counts as one, so that a target that was started is stopped with the run.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        yield from events
