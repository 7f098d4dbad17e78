"""``conformance run``: judge a target, print the report, write the requested files."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

import click

from conformance.cli._common import corpus_option, known_scenario, target_option
from conformance.cli._gates import fails_by, gate_option
from conformance.cli._group import Unusable
from conformance.cli._interrupts import until_interrupted
from conformance.cli._numbers import BYTES, PROCESSES, deadline_option, seed_option
from conformance.cli._options import (
    DRAWN,
    FILE,
    chosen_readers,
    clause_option,
    data_format_option,
    drawn_options,
    level_option,
    readers_option,
    repeat_option,
    secure_backend,
    select_option,
    shard_option,
    smoke_option,
)
from conformance.cli._outputs import conclude, output_options, reported
from conformance.cli._progress import progress, quiet_option, watch
from conformance.cli._runoptions import RunOptions
from conformance.contain.text import safe
from conformance.contract.viewing import profile_of
from conformance.disk.files import DiskError, data_file
from conformance.engine.casestep import drawn
from conformance.engine.corpus import load_corpus
from conformance.engine.events import Event, ExchangeRecorded, RunStarted
from conformance.engine.log import LogWriter
from conformance.engine.parallel import judged_in, run_parts
from conformance.engine.plugin import EnginePlugin, no_scenarios
from conformance.engine.result import Result, fold
from conformance.engine.selection import Plan, Selection, all_clauses, plan
from conformance.engine.session import Settings, default_log, open_session, own_file
from conformance.engine.shards import Shard
from conformance.engine.smoke import refuse_without_tables
from conformance.engine.started import command_line
from conformance.generate import draw_case, draw_scenario, generated_id, scenario_id
from conformance.generate.forms import BASE, EVERY, forms_of, wanted
from conformance.generate.plugin import GeneratePlugin
from conformance.protocol import plugin
from conformance.records import Case, Level
from conformance.targets import TargetSpec, load_target
from conformance.targets.costs import estimate
from conformance.targets.projects import with_project
from conformance.targets.service import sized
from conformance.targets.targeterrors import LeftBehind


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
@data_format_option
@click.option("--scenario", metavar="NAME", help="Ask what Arrow's integration client of this name asks of a server.")
@shard_option("cases")
@click.option(
    "--parallel",
    metavar="N",
    type=PROCESSES,
    default=1,
    show_default=True,
    help="Run N shards in parallel, each with a target of its own, and report on all of them.",
)
@repeat_option("case")
@click.option("--exchanges", is_flag=True, help="Write every exchange to the log too, for `truth make` and `replay`.")
@click.option(
    "--shrink/--no-shrink",
    default=True,
    show_default=True,
    help="Shrink failing generated cases, and draw cases to tell which options a cause takes.",
)
@readers_option
@smoke_option("cases")
@deadline_option
@click.option(
    "--project",
    metavar="ID",
    help="The project that holds the tables and is billed, instead of that of the target file.",
)
@click.option(
    "--max-bytes",
    metavar="N",
    type=BYTES,
    help="Stop after the server has read N bytes; for a target with a [service].",
)
@click.option("--estimate", "only_estimate", is_flag=True, help="Say what a run would read and cost, and ask nothing.")
@click.option(
    "--log",
    metavar="FILE",
    type=FILE,
    help="Write the event log here; `report` makes reports from it later.",
)
@gate_option
@output_options
@quiet_option
@corpus_option
def command(**options: Any) -> None:
    """Judge a target and report what deviates.

    \b
    conformance run                                             the embedded reference server
    conformance run --target mine.toml                          your server
    conformance run --target 'grpc://localhost:9060?rest=http://localhost:9050'    your server
    conformance run --target mine.toml --select 'types.*'       some cases
    conformance run --target mine.toml --clause 'framing.*'     some clauses
    conformance run --target mine.toml --cases 500 --seed 7     with 500 generated cases in addition
    conformance run --target mine.toml --scenarios 1000         with 1,000 drawn histories in addition
    conformance run --target mine.toml --data-format both       each case in Arrow and in Avro
    conformance run --target mine.toml --scenario ordered       as Arrow's integration client of that scenario
    conformance run --target mine.toml --shard 2/4              a quarter of the cases
    conformance run --target mine.toml --parallel 2             on two cores
    conformance run --target mine.toml --repeat 5               each case five times, to find what fails sometimes
    conformance run --target mine.toml --junit out.xml --html out.html --json out.json
    conformance run --target mine.toml --gate gate.toml         fail only if something holds no longer
    conformance run --target bigquery --project mine            the service itself, in a project of yours

    \b
    Exit status: 0 nothing unexpected, 1 findings, 2 unusable input or a file that cannot be written.
    An interrupted run is reported as incomplete, with 1; if it had judged nothing, the status is 130.
    """  # noqa: D301  # click wants the character, not the escape
    asked = RunOptions(**options)
    spec = _playing(_limited(load_target(asked.target), asked.max_bytes), asked.scenario)
    selection, chosen, cases = _chosen(asked, spec)
    settings = _settings(asked, spec, selection)
    if not asked.only_estimate:
        spec = with_project(spec, asked.project)
    if spec.service is not None or asked.only_estimate:
        drawn_cases = [*_drawn(settings, spec.not_offered)] * len(wanted(spec.protocol, selection.form))
        _say_estimate(spec, [*chosen.cases, *drawn_cases], repeat=asked.repeat)
    if asked.only_estimate:
        return
    if asked.smoke and not selection.narrows_cases:
        drawn_count = (settings.generated + settings.scenarios) * len(wanted(spec.protocol, selection.form))
        refuse_without_tables(spec, chosen.cases, drawn_count)
    if asked.parallel > 1:
        _finish(*_in_parts(asked, settings, spec), asked)
    left: list[LeftBehind] = []
    with (
        _noting(left),
        progress(f"starting {spec.name}") as shown,
        LogWriter(asked.log or own_file(default_log(spec).name), keep=True) as writer,
        open_session(spec, chosen, selection, settings, corpus=cases) as session,
    ):
        events = watch(writer.copy(session.events()), shown, total=session.expected_jobs)
        judged = (event for event in events if not isinstance(event, ExchangeRecorded))  # they are many, and in the log
        result = fold(until_interrupted(judged)[0])
    _finish(result, writer, asked, left)


def _settings(asked: RunOptions, spec: TargetSpec, selection: Selection) -> Settings:
    """How the target is asked; a run of all written cases draws some more, unless the user says how many."""
    _check_drawn(spec, asked.generated, asked.scenarios)
    spoken = plugin(EnginePlugin, spec.protocol)
    generated, scenarios = asked.generated, asked.scenarios
    if not (selection.narrows_cases or asked.corpus != data_file("cases")):
        generated = DRAWN if generated is None and spoken.draws_cases else generated
        scenarios = DRAWN if scenarios is None and spec.serves and not no_scenarios(spec) else scenarios
    return Settings(
        seed=asked.seed,
        generated=generated or 0,
        scenarios=scenarios or 0,
        shrink=asked.shrink,
        readers=asked.readers,
        deadline_multiplier=asked.deadline_multiplier,
        smoke=asked.smoke,
        repeat=asked.repeat,
        exchanges=asked.exchanges,
        reader=chosen_readers(asked.reader),
        secure=secure_backend,
    )


def _chosen(asked: RunOptions, spec: TargetSpec) -> tuple[Selection, Plan, list[Case]]:
    """What the user selected, the plan of it, and all cases that there are for the target."""
    spoken = plugin(EnginePlugin, spec.protocol)
    described = spoken.described(spec)
    select = asked.select
    if spoken.described_alone(spec):
        select = select or tuple(case.id for case in described)
    part = Shard.parse(asked.shard) if asked.shard is not None else None
    level, form = Level(asked.level), _form(spec, asked.form)
    selection = Selection(select, asked.clause, level, asked.capability, part, form)
    cases = [*load_corpus(asked.corpus, spec.protocol).values(), *described]
    return selection, plan(cases, all_clauses(), selection, profile=profile_of(spec.protocol)), cases


def _playing(spec: TargetSpec, scenario: str | None) -> TargetSpec:
    """``spec`` as the server of the scenario that the user named."""
    if scenario is None:
        return spec
    known = plugin(EnginePlugin, spec.protocol).scenarios
    if not known:
        raise click.UsageError(f"expected --scenario with a server that plays scenarios, got it with {spec.name}")
    return known[known_scenario(scenario, tuple(known))](spec)


def _check_drawn(spec: TargetSpec, generated: int | None, scenarios: int | None) -> None:
    """Refuse drawn cases and scenarios that a target of this kind cannot be asked."""
    if generated and not plugin(GeneratePlugin, spec.protocol).draws:
        raise click.UsageError(f"expected no --cases with {spec.name}: cases of {spec.protocol} are not drawn")
    if scenarios and not spec.serves:
        raise click.UsageError(f"expected --scenarios with a server, got it with {spec.name}, which takes no requests")
    if scenarios and (why := no_scenarios(spec)):
        raise click.UsageError(f"expected --scenarios with a server that stores tables, got it with {spec.name}, {why}")


def _form(spec: TargetSpec, form: str) -> str:
    """The form of the cases, if a target of this kind can be asked for it."""
    if form == BASE or (form == EVERY and spec.serves):
        return form
    if not spec.serves:
        raise click.UsageError(
            f"expected --data-format with a server, got it with {spec.name}, which takes no requests"
        )
    if form not in forms_of(spec.protocol):
        raise click.UsageError(
            f"expected no --data-format {form} with {spec.name}: cases of {spec.protocol} have no such form"
        )
    return form


def _limited(spec: TargetSpec, max_bytes: int | None) -> TargetSpec:
    """``spec`` with the limit that the user gave."""
    if max_bytes is None:
        return spec
    if spec.service is None:
        raise Unusable(f"expected no --max-bytes for {spec.name}, whose target file has no [service]")
    return dataclasses.replace(spec, service=dataclasses.replace(spec.service, max_bytes=max_bytes))


def _drawn(settings: Settings, not_offered: Sequence[str]) -> Iterator[Case]:
    """The generated cases and the scenarios that the run adds."""
    seed = settings.seed
    for index in range(settings.generated):
        draw = partial(draw_case, seed, index, profile="server")
        yield drawn(generated_id(seed, index, profile="server"), draw).case
    for index in range(settings.scenarios):
        yield drawn(scenario_id(seed, index), partial(draw_scenario, seed, index, not_offered=not_offered)).case


def _say_estimate(spec: TargetSpec, cases: Sequence[Case], *, repeat: int) -> None:
    """Print what the run will read; a run that would read more than its limit does not begin."""
    if spec.service is None:
        raise Unusable(f"expected a target with a [service] for --estimate, got {spec.name}, which bills nobody")
    found = estimate(cases, repeat=repeat)
    click.echo(found.text(spec.service), err=True)
    if found.read > spec.service.max_bytes:
        raise Unusable(
            f"expected a run that reads at most {sized(spec.service.max_bytes)}, but the selected cases read about"
            f" {sized(found.read)}: select fewer cases, or raise the limit with --max-bytes"
        )


@contextmanager
def _noting(left: list[LeftBehind]) -> Iterator[None]:
    """Keep an error about what was left in the target for the end: it must not cost the report."""
    try:
        yield
    except LeftBehind as error:
        left.append(error)


def _finish(result: Result, log: LogWriter, asked: RunOptions, left: Sequence[LeftBehind] = ()) -> NoReturn:
    failures: list[Exception | None] = [*reported(result, asked.outputs, log.path), log.failure, *left]
    fails = fails_by(asked.gate, result)
    if log.failure is None:
        click.echo(f"log: {log.path}", err=True)
        if log.before is not None:
            which = "an earlier run, which judged more cases" if log.earlier else "the run before"
            click.echo(f"log of {which}: {log.before}", err=True)
    conclude(failures, fails=fails)


def _in_parts(asked: RunOptions, settings: Settings, spec: TargetSpec) -> tuple[Result, LogWriter]:
    """The requested run as parallel shards; the logs of the shards are in a directory next to the run's log."""
    most = None if spec.service is None else max(1, spec.service.max_bytes // asked.parallel)
    each = dataclasses.replace(
        asked, generated=settings.generated, scenarios=settings.scenarios, max_bytes=most
    ).arguments()
    path = asked.log or own_file(default_log(load_target(asked.target)).name)
    with LogWriter(path, keep=True) as writer:
        folder = path.with_name(f"{path.name}.parts")
        for left in folder.glob("part-*-of-*.jsonl"):
            left.unlink()
        with progress("cases of all shards", measure=lambda: judged_in(folder)):
            events = [_as_asked(event) for event in run_parts(list(each), asked.parallel, folder, say=_warn)]
        try:
            deque(writer.copy(events), maxlen=0)
        except DiskError as error:
            writer.failure = error
    return fold(events), writer


def _warn(sentence: str) -> None:
    """A sentence on standard error, which may quote foreign text."""
    click.echo(safe(sentence), err=True)


def _as_asked(event: Event) -> Event:
    """``event``; the first one with the command line of the run instead of those of its shards."""
    if not isinstance(event, RunStarted):
        return event
    return dataclasses.replace(event, provenance=dataclasses.replace(event.provenance, command=command_line()))
