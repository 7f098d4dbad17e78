"""``conformance truth``: make packs of what the service did, judge them offline, check them."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._options import EXISTING, FOLDER
from conformance.contain.text import many
from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.records import Level, RecordError, to_json
from conformance.truth.checking import aged, before, changed_cases, period, problems
from conformance.truth.making import answers_of, make_pack
from conformance.truth.pack import Pack, read_pack
from conformance.truth.packjudging import findings_of
from conformance.truth.records import ClauseTruth, TruthFindings, TruthStanding
from conformance.truth.references import UnresolvedError
from conformance.truth.scanning import leaks

PACK = click.Path(exists=True, file_okay=False, path_type=Path)
"""A pack to read."""


@click.group(no_args_is_help=False)
def command() -> None:
    """Make, judge and check truth packs: what the service did, as exchanges that are judged again offline.

    \b
    conformance run --target bigquery --exchanges --log first.jsonl
    conformance run --target bigquery --exchanges --log second.jsonl
    conformance truth make first.jsonl second.jsonl --out pack
    conformance truth judge pack
    conformance truth check pack --older-than 90d

    Exit status: 0 done, nothing to say; 1 contradictions or problems; 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape


@command.command("make")
@click.argument("logs", metavar="LOG LOG [LOG]...", nargs=-1, type=EXISTING)
@click.option("--out", metavar="PACK", required=True, type=FOLDER, help="The directory of the pack.")
@click.option(
    "--region",
    "regions",
    metavar="NAME",
    multiple=True,
    help="The region of each log, if its sessions do not name one.",
)
@click.option(
    "--cost",
    "costs",
    metavar="TEXT",
    multiple=True,
    help="What each run cost, such as 'USD 0.12'; one for all, or each.",
)
def make(*, logs: tuple[Path, ...], out: Path, regions: tuple[str, ...], costs: tuple[str, ...]) -> None:
    """Make PACK from the logs of two or more runs with `--exchanges`.

    A case on which two runs of one region do not agree is unsettled, and one that a timeout, throttling or a transport
    fault kept from being shown is indeterminate. Both are named, and nothing is concluded from them.

    Exit status: 0 written, 1 it holds what must not be published and is not written, 2 unusable input.
    """
    for option, given in (("--region", regions), ("--cost", costs)):
        if len(given) not in (0, 1, len(logs)):
            raise click.UsageError(f"expected {option} once, or once for each of {many(len(logs), 'log')}")
    all_clauses()
    pack = make_pack(logs, regions=regions, costs=costs)
    private = list(leaks(pack))
    for sentence in private:
        click.echo(f"must not be published: {sentence}")
    if private:
        click.echo(f"refused: {many(len(private), 'place')} in the recordings; {out} is not written", err=True)
        raise click.exceptions.Exit(1)
    pack.write(out)
    _print_findings(pack.findings)
    click.echo(f"{out}: written, {many(len(pack.recordings), 'recording')}")


@command.command("judge")
@click.argument("folder", metavar="PACK", type=PACK)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--write", is_flag=True, help="Write the result to the pack's verdicts.json, after a change of the suite."
)
def judge(*, folder: Path, as_json: bool, write: bool) -> None:
    """Judge the exchanges of PACK under every clause of this version, without any server.

    A clause that the service contradicts is named first.

    Exit status: 0 none is broken, 1 the service contradicts a clause or the recorded target fails one,
    2 unusable input.
    """
    all_clauses()
    pack = read_pack(folder)
    findings = _judged(pack)
    if write:
        dataclasses.replace(pack, findings=findings).write(folder)
    if as_json:
        click.echo(json.dumps(to_json(findings), indent=1, ensure_ascii=False))
    else:
        _print_findings(findings)
    sys.exit(int(any(one.standing in _BROKEN for one in findings.clauses)))


_BROKEN = (TruthStanding.CONTRADICTED, TruthStanding.FAILED)


def _judged(pack: Pack) -> TruthFindings:
    try:
        return findings_of(pack.recordings, answers_of(pack.recordings))
    except (UnresolvedError, RecordError) as error:
        raise Unusable(f"{error}; `conformance truth check` says more") from error


@command.command("check")
@click.argument("folder", metavar="PACK", type=PACK)
@click.option("--older-than", "age", metavar="DAYS", help="List what was last confirmed longer ago, such as 90d.")
@click.option(
    "--on",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    default=None,
    help="The day from which to count.  [default: today]",
)
def check(*, folder: Path, age: str | None, day: dt.datetime | None) -> None:
    """Check that the parts of PACK agree, that two recordings agree on each answer, and that nothing in it is private.

    Exit status: 0 nothing found, 1 problems, or something to confirm again, 2 unusable input.
    """
    try:
        longest = None if age is None else period(age)
    except ValueError as error:
        raise click.UsageError(f"--older-than: {error}") from None
    all_clauses()
    pack = read_pack(folder)
    found = list(problems(pack))
    for sentence in found:
        click.echo(sentence)
    if found:
        click.echo(f"refused: {many(len(found), 'problem')}", err=True)
        raise click.exceptions.Exit(1)
    if changed := changed_cases(pack, load_corpus(data_file("cases"))):
        click.echo(f"recorded for cases that are others today: {', '.join(changed)}")
    old = 0
    if longest is not None:
        today = (day or dt.datetime.now(dt.UTC)).date()
        for case_id, last, regions in aged(pack, before(today, longest)):
            click.echo(f"confirm again: {case_id}, last on {last} in {', '.join(regions)}")
            old += 1
    findings = pack.findings
    click.echo(
        f"{folder}: consistent, {many(len(findings.answers), 'answer')} of {many(len(pack.recordings), 'recording')}"
    )
    sys.exit(int(bool(old)))


def _print_findings(findings: TruthFindings) -> None:
    """Print the clauses that are broken, what is put aside, and the counts."""
    for one in findings.clauses:
        if one.standing in _BROKEN:
            click.echo(f"{one.standing.upper()} {one.id} ({one.level.upper()})")
            for answer in one.answers:
                until = f", replaced on {answer.replaced}" if answer.replaced else ""
                cases = f": {', '.join(answer.cases)}" if answer.cases else ""
                click.echo(f"  {answer.region} on {answer.date}{until}: {answer.standing}{cases}")
    for word, texts in (("unsettled", findings.unsettled), ("indeterminate", findings.indeterminate)):
        for text in texts:
            click.echo(f"{word}: recording {text}")
    for level in Level:
        if words := _counted([one for one in findings.clauses if one.level is level]):
            click.echo(f"{level.upper()}: {words}")
    settled = len({one.case_id for one in findings.answers})
    counts = f"{many(settled, 'case')} settled, {len(findings.unsettled)} unsettled and {len(findings.indeterminate)}"
    who = "the service itself" if findings.service else "not of the service itself: this confirms no clause"
    click.echo(f"{counts} indeterminate by recording; {who}")


def _counted(clauses: Sequence[ClauseTruth]) -> str:
    counts = {standing: sum(one.standing is standing for one in clauses) for standing in TruthStanding}
    return ", ".join(f"{count} {standing}" for standing, count in counts.items() if count)
