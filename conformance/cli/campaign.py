"""``conformance campaign``: millions of cases on Spark, resumable, with results in Parquet."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

import conformance
from conformance.campaign import connected, sparksession
from conformance.campaign.campaignjob import ARROW, DECODERS, FAMILY, MUTATED, CampaignJob, family_of, server_profiles
from conformance.campaign.commits import Tally
from conformance.campaign.plugin import CampaignPlugin
from conformance.campaign.runfolders import RunFiles
from conformance.campaign.sparkwriter import SETTINGS, judge_spark
from conformance.cli._campaigns import master_option, print_results, settings
from conformance.cli._common import target_option
from conformance.cli._interrupts import Interrupted
from conformance.cli._mutated import input_job, print_inputs
from conformance.cli._numbers import PROCESSES, count_of, deadline_option, seed_option
from conformance.cli._options import FOLDER, clause_option
from conformance.cli._progress import progress, quiet_option
from conformance.contain.text import many
from conformance.contract.clause import Clause
from conformance.contract.viewing import profile_of
from conformance.disk.locks import held
from conformance.engine.run import READERS as ON_READERS
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.generate.forms import BASE, form_names, forms_of
from conformance.generate.plugin import GeneratePlugin
from conformance.protocol import DEFAULT_PROTOCOL, plugin
from conformance.readers import READERS
from conformance.readers.info import Takes
from conformance.records import Level
from conformance.report.terminal import terminal
from conformance.targets import TargetSpec, load_target

SPARK = "spark"
"""The name of a target without a file: Spark itself."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """What the user asked of ``conformance campaign``; each field is the value of an option."""

    target: str
    cases: int
    scenarios: int | None
    """How many drawn scenarios, instead of cases."""
    seed: int
    profile: str | None
    form: str
    guided: int
    """How many of a hundred cases are guided by what the others found."""
    family: int | None
    clause: tuple[str, ...]
    readers: tuple[str, ...]
    keep: int
    shrink: bool
    concurrency: int
    deadline_multiplier: float
    master: str
    conf: tuple[str, ...]
    out: Path

    def __post_init__(self) -> None:
        """Refuse options that a target does not have; raises `click.UsageError`."""
        of_suite = self.target in (SPARK, MUTATED)
        if self.scenarios is not None and (self.profile or self.guided or self.family or of_suite):
            raise click.UsageError("expected --scenarios alone with a server, got it with another kind of cases")
        if self.form != BASE and of_suite:
            raise click.UsageError(f"expected --data-format with a server, got it with {self.target}")

    @property
    def count(self) -> int:
        """How many cases or scenarios are judged."""
        return self.cases if self.scenarios is None else self.scenarios


@click.command()
@target_option
@click.option("--cases", metavar="N", type=count_of(1), default=20_000, show_default=True, help="Cases to draw.")
@click.option(
    "--scenarios",
    metavar="N",
    type=count_of(1),
    default=None,
    help="Draw N scenarios instead of cases: histories of calls to a server.",
)
@seed_option
@click.option(
    "--profile",
    type=click.Choice([ARROW, *server_profiles()]),
    default=None,
    show_default="by the target's kind",
    help="Kind of cases: tables alone, or requests to a server of a protocol.",
)
@click.option(
    "--data-format",
    "form",
    type=click.Choice(form_names()),
    default=BASE,
    show_default=True,
    help="The format of the rows that all cases ask a server for.",
)
@click.option(
    "--guided",
    metavar="PERCENT",
    type=click.IntRange(0, 90),
    default=0,
    show_default=True,
    help="Share of the cases that favour types that the other cases did not cover, or on which they failed.",
)
@click.option(
    "--family",
    metavar="N",
    type=count_of(1),
    default=None,
    show_default=f"{FAMILY} for {ARROW}, 1 for servers",
    help="Consecutive cases that share their columns; with 1, the cases equal those of `run` with this seed.",
)
@clause_option
@click.option(
    "--reader",
    "readers",
    metavar="NAME",
    multiple=True,
    default=DECODERS,
    show_default=True,
    help="A decoder that reads every case; may be repeated; 'none' for no decoder.",
)
@click.option(
    "--keep",
    metavar="PPM",
    type=click.IntRange(0, 1_000_000),
    default=1000,
    show_default=True,
    help="Passing exchanges to store, per million; all failing exchanges are stored.",
)
@click.option("--shrink/--no-shrink", default=True, show_default=True, help="Shrink the first case of each failure.")
@click.option(
    "--concurrency",
    metavar="N",
    type=PROCESSES,
    default=2,
    show_default=True,
    help="Parallel tasks if all tasks share one endpoint.",
)
@deadline_option
@master_option
@click.option(
    "--out",
    metavar="DIR",
    required=True,
    type=FOLDER,
    help="Directory for Parquet, commits and results; the same arguments with the same directory continue a campaign.",
)
@quiet_option
def command(**given: Any) -> None:
    """Judge millions of cases on Spark.

    \b
    conformance campaign --target targets/pyarrow.toml --cases 1000000 --out DIR
    conformance campaign --target mine.toml --scenarios 100000 --out DIR
    conformance campaign --target mine.toml --cases 50000 --master spark://host:7077 --out /shared/DIR

    A campaign can be killed at any point. Started again with the same arguments, it continues and ends with the same
    verdicts.

    ``--target spark`` judges Spark itself, as a writer of Arrow messages.
    ``--target mutated`` judges the suite itself: a case is a mutated stream, file, tensor or message.

    \b
    Exit status: 0 nothing unexpected, 1 findings, 2 unusable input or a file that cannot be written,
    130 interrupted: committed ranges are kept, and the same command continues.
    """  # noqa: D301  # click wants the character, not the escape
    options = CampaignOptions(**given)
    sparksession.check_java()
    if options.target == SPARK:
        with held(options.out.absolute() / SPARK):
            status = _judge_spark(options, {**SETTINGS, **settings(options.conf)})
        sys.exit(status)
    from conformance.campaign.run import Campaign, target_info  # noqa: PLC0415  # the command reports that pyspark is missing

    job = _mutated_job(options) if options.target == MUTATED else _job(options)
    python = settings(options.conf).get("spark.pyspark.python", "")
    job = job.of_version(target_info(job, python=python)["version"])
    _say_resumed(layout := RunFiles.of(options.out.absolute(), job), options.count)
    began = time.monotonic()
    try:
        with (
            progress("starting Spark") as shown,
            held(layout.run, advice="wait until it ends, or give this campaign a directory of its own"),
            sparksession.spark_session(layout.run, master=options.master, conf=settings(options.conf)) as spark,
        ):
            campaign = Campaign(spark, layout, job, concurrency=options.concurrency)
            shown.update("judging", total=options.count)
            campaign.run(
                lambda found: shown.update(done=found.cases, facts=f"{found.failing} failing" if found.failing else "")
            )
            shown.update("summing up")
            results = campaign.finish(shown.update, shrinking=options.shrink and options.target != MUTATED)
    except KeyboardInterrupt:
        tally = Tally(layout)
        tally.look()
        kept = f"{tally.cases} of {many(options.count, 'case')} committed in {layout.run}"
        raise Interrupted(f"{kept}, and the same command continues there") from None
    (print_inputs if options.target == MUTATED else print_results)(terminal(), results)
    click.echo(f"run {layout.run_id} in {layout.run}, {time.monotonic() - began:.0f} s", err=True)
    sys.exit(1 if results.unexpected else 0)


def _mutated_job(options: CampaignOptions) -> CampaignJob:
    """The job that judges the suite itself."""
    refused = bool(options.profile or options.guided or options.family or options.clause)
    return input_job(options.cases, options.seed, options.deadline_multiplier, refused=refused)


def _job(options: CampaignOptions) -> CampaignJob:
    """The job that judges a server or a serializer."""
    spec = load_target(options.target).anywhere()
    profile = _profile(spec, options.profile, scenarios=options.scenarios is not None)
    _check_form(spec, profile, options.form)
    readers = _known_readers(options.readers)
    selection = Selection(clauses=options.clause, level=Level.MAY)
    chosen = plan([], register_for(readers, spec.protocol), selection, profile=profile_of(spec.protocol))
    return CampaignJob(
        spec,
        cases=options.count,
        seed=options.seed,
        profile=profile,
        clauses=tuple(one.id for one in chosen.clauses),
        readers=readers,
        guided=options.count * options.guided // 100,
        family=options.family or family_of(profile),
        sample=options.keep,
        multiplier=options.deadline_multiplier,
        suite=conformance.__version__,
        form=options.form,
    )


def _say_resumed(layout: RunFiles, cases: int) -> None:
    """Say what an earlier start of this campaign committed, which is not judged again."""
    tally = Tally(layout)
    tally.look()
    if tally.numbers:
        failing = f", {tally.failing} of them failing" if tally.failing else ""
        done = f"{tally.cases} of {many(cases, 'case')} committed already{failing}"
        click.echo(f"{done}: the campaign in {layout.run} goes on", err=True)


def _profile(spec: TargetSpec, given: str | None, *, scenarios: bool) -> str:
    """The profile of the cases for a target: the one that was ``given``, if it fits, or that of its kind."""
    plugin(CampaignPlugin, spec.protocol)  # raises a sentence for a protocol without campaigns
    drawn = plugin(GeneratePlugin, spec.protocol)
    fitting = (drawn.run_profile,) if spec.protocol != DEFAULT_PROTOCOL else (ARROW, drawn.run_profile)
    if given and given not in fitting:
        wanted = " or ".join(fitting)
        raise click.UsageError(f"expected the profile {wanted} with a target of the kind {spec.kind}, got {given}")
    if scenarios and not spec.serves:
        raise click.UsageError(f"expected --scenarios with a server, got it with {spec.name}")
    return drawn.scenario_word if scenarios else given or (drawn.run_profile if spec.serves else ARROW)


def _check_form(spec: TargetSpec, profile: str, form: str) -> None:
    """Refuse a form that cases of a profile do not have."""
    if form != BASE and (profile == ARROW or form not in forms_of(spec.protocol)):
        raise click.UsageError(f"expected no --data-format {form} with {spec.name}: its cases have no such form")


def _known_readers(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of readers without ``none``."""
    readers = tuple(reader for reader in names if reader != "none")
    if unknown := [reader for reader in readers if reader not in READERS]:
        raise click.UsageError(f"expected a reader of {', '.join(READERS)}, or none, got {unknown[0]}")
    return readers


def register_for(readers: Collection[str], protocol: str) -> Mapping[str, Clause]:
    """The register of clauses. With decoders, those on readers judge what these make of streams of any protocol."""
    register = all_clauses()
    if protocol == DEFAULT_PROTOCOL or not readers:
        return register
    for reader in readers:
        if READERS[reader].takes in (Takes.SERVER, Takes.QUERY):
            raise click.UsageError(
                f"expected a decoder, which can read a stream of {protocol}, got the client {reader}"
            )
    return {
        name: dataclasses.replace(one, profiles=(*one.profiles, profile_of(protocol)))
        if name.startswith(ON_READERS)
        else one
        for name, one in register.items()
    }


def _judge_spark(options: CampaignOptions, conf: dict[str, str]) -> int:
    """Judge Spark as a writer and print the result of each of its paths; returns the exit status."""
    counts: Counter[tuple[str, str]] = Counter()
    failing = 0
    with ExitStack() as stack:
        shown = stack.enter_context(progress("starting Spark"))
        lacking = connected.lacking()
        if lacking:
            click.echo(lacking, err=True)
        served = conf if lacking else connected.server_settings(conf)
        spark = stack.enter_context(
            sparksession.spark_session(options.out.absolute(), master=options.master, conf=served)
        )
        connection = (
            None if lacking else stack.enter_context(connected.connected(spark, multiplier=options.deadline_multiplier))
        )
        shown.update("judging Spark")
        judged = judge_spark(spark, cases=options.cases, seed=options.seed, connection=connection)
        for done, one in enumerate(judged, 1):
            shown.update(done=done)
            failed = [verdict for verdict in one.verdicts if verdict.outcome.fails_run]
            broke = bool(failed or one.error or one.kept is False)
            failing += broke
            counts[one.path, "failing" if broke else "clean" if one.kept else "clean, in types of Spark's own"] += 1
            for verdict in failed:
                click.echo(f"{one.case_id}, {one.path}: {verdict.clause}: {verdict.findings[0].observed}")
            if one.error or one.kept is False:
                click.echo(f"{one.case_id}, {one.path}: {one.error or 'the rows differ from those passed to Spark'}")
    for (path, made), count in sorted(counts.items()):
        click.echo(f"{path}: {count} {made}")
    return 1 if failing else 0
