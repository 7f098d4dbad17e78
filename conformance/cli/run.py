"""``conformance run``: judge a target, print the report, write the requested files."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import click

from conformance.cli._common import corpus_option, target_option
from conformance.cli._interrupts import until_interrupted
from conformance.cli._numbers import ATTEMPTS, PROCESSES, deadline_option, seed_option
from conformance.cli._options import (
    DRAWN,
    FILE,
    clause_option,
    drawn_options,
    level_option,
    readers_option,
    select_option,
)
from conformance.cli._outputs import Outputs, conclude, output_options, reported
from conformance.cli._progress import progress, quiet_option, watch
from conformance.disk.files import DiskError, data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.events import Event, RunStarted
from conformance.engine.log import LogWriter
from conformance.engine.parallel import judged_in, run_parts
from conformance.engine.result import Result, fold
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.engine.session import Settings, default_log, open_session
from conformance.engine.shards import Shard
from conformance.engine.started import command_line
from conformance.records import Level
from conformance.targets import TargetKind, load_target


@click.command()
@target_option
@select_option("cases")
@clause_option
@click.option(
    "--capability", metavar="GLOB", multiple=True, help="Only cases that need a matching capability; may be repeated."
)
@level_option
@drawn_options
@seed_option
@click.option(
    "--shard", metavar="I/N", help="Run only shard I of N, by a hash of the case id; `report` merges the logs."
)
@click.option(
    "--parallel",
    metavar="N",
    type=PROCESSES,
    default=1,
    show_default=True,
    help="Run N shards in parallel, each with a target of its own, and report on all of them.",
)
@click.option(
    "--repeat",
    metavar="N",
    type=ATTEMPTS,
    default=1,
    show_default=True,
    help="Put each case to the target N times, and say which failures occur only sometimes.",
)
@click.option("--shrink/--no-shrink", default=True, show_default=True, help="Shrink failing generated cases.")
@readers_option
@click.option(
    "--smoke/--no-smoke",
    default=True,
    show_default=True,
    help="End early if no row comes for three plain cases, which are asked first.",
)
@deadline_option
@click.option(
    "--log",
    metavar="FILE",
    type=FILE,
    help="Write the event log here; `report` makes reports from it later.",
)
@output_options
@quiet_option
@corpus_option
def command(
    *,
    target: str,
    select: tuple[str, ...],
    clause: tuple[str, ...],
    capability: tuple[str, ...],
    level: str,
    generated: int | None,
    scenarios: int | None,
    seed: int,
    shard: str | None,
    parallel: int,
    repeat: int,
    shrink: bool,
    readers: bool,
    smoke: bool,
    deadline_multiplier: float,
    log: Path | None,
    corpus: Path,
    outputs: Outputs,
) -> None:
    """Judge a target and report what deviates.

    \b
    conformance run                                             the embedded reference server
    conformance run --target mine.toml                          your server
    conformance run --target mine.toml --select 'types.*'       some cases
    conformance run --target mine.toml --clause 'framing.*'     some clauses
    conformance run --target mine.toml --cases 500 --seed 7     with 500 generated cases in addition
    conformance run --target mine.toml --scenarios 1000         with 1,000 drawn histories in addition
    conformance run --target mine.toml --shard 2/4              a quarter of the cases
    conformance run --target mine.toml --parallel 2             on two cores
    conformance run --target mine.toml --repeat 5               each case five times, to find what fails sometimes
    conformance run --target mine.toml --junit out.xml --html out.html --json out.json

    \b
    Exit status: 0 nothing unexpected, 1 findings, 2 unusable input or a file that cannot be written.
    An interrupted run is reported as incomplete, with 1; if it had judged nothing, the status is 130.
    """  # noqa: D301  # click wants the character, not the escape
    spec = load_target(target)
    serves = spec.kind is TargetKind.SERVER
    if scenarios and not serves:
        raise click.UsageError(f"expected --scenarios with a server, got it with {spec.name}, which takes no requests")
    if not (select or capability or corpus != data_file("cases")):
        generated = DRAWN if generated is None else generated
        scenarios = DRAWN if scenarios is None and serves else scenarios
    if parallel > 1:
        if shard is not None:
            raise click.UsageError("expected --parallel or --shard, got both: a shard cannot be divided again")
        asked = {**click.get_current_context().params, "generated": generated or 0, "scenarios": scenarios or 0}
        _finish(*_in_parts(asked, parallel, target, log), outputs)
    selection = Selection(select, clause, Level(level), capability, Shard.parse(shard) if shard is not None else None)
    cases = list(load_corpus(corpus).values())
    chosen = plan(cases, all_clauses(), selection)
    settings = Settings(
        seed=seed,
        generated=generated or 0,
        scenarios=scenarios or 0,
        shrink=shrink,
        readers=readers,
        deadline_multiplier=deadline_multiplier,
        smoke=smoke,
        repeat=repeat,
    )
    with (
        progress(f"starting {spec.name}") as shown,
        LogWriter(log or default_log(spec)) as writer,
        open_session(spec, chosen, selection, settings, corpus=cases) as session,
    ):
        total = repeat * (len(session.plan.cases) + session.settings.generated + session.settings.scenarios)
        events = watch(writer.copy(session.events()), shown, total=total)
        result = fold(until_interrupted(events)[0])
    _finish(result, writer, outputs)


def _finish(result: Result, log: LogWriter, outputs: Outputs) -> NoReturn:
    failures = [*reported(result, outputs, log.path), log.failure]
    if log.failure is None:
        click.echo(f"log: {log.path}", err=True)
    conclude(failures, fails=result.fails)


def _in_parts(asked: Mapping[str, Any], count: int, target: str, log: Path | None) -> tuple[Result, LogWriter]:
    """The requested run as parallel shards; the logs of the shards are in a directory next to the run's log."""
    all_clauses()
    path = log or default_log(load_target(target))
    with LogWriter(path) as writer:
        folder = path.with_name(f"{path.name}.parts")
        for left in folder.glob("part-*-of-*.jsonl"):
            left.unlink()
        with progress("cases of all shards", measure=lambda: judged_in(folder)):
            events = [_as_asked(event) for event in run_parts(list(_arguments(asked)), count, folder)]
        try:
            deque(writer.copy(events), maxlen=0)
        except DiskError as error:
            writer.failure = error
    return fold(events), writer


def _as_asked(event: Event) -> Event:
    """``event``; the first one with the command line of the run instead of those of its shards."""
    if not isinstance(event, RunStarted):
        return event
    return dataclasses.replace(event, provenance=dataclasses.replace(event.provenance, command=command_line()))


def _arguments(asked: Mapping[str, Any]) -> Iterator[str]:
    """The arguments of the run for each shard, without the options for sharding and for report files."""
    for option in ("target", "level", "seed", "deadline_multiplier", "repeat", "corpus"):
        yield from (f"--{option.replace('_', '-')}", str(asked[option]))
    yield from ("--cases", str(asked["generated"]), "--scenarios", str(asked["scenarios"]))
    for option in ("select", "clause", "capability"):
        for glob in asked[option]:
            yield from (f"--{option}", glob)
    for option in ("shrink", "readers", "smoke"):
        yield f"--{option}" if asked[option] else f"--no-{option}"
