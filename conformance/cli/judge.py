"""``conformance judge``: apply today's clauses to stored exchanges, of a campaign or of a log."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from conformance.campaign.runs import find_run
from conformance.campaign.sparksession import spark_session
from conformance.cli._campaigns import master_option, settings
from conformance.cli._judging import judged_again
from conformance.cli._outputs import all_option
from conformance.cli._progress import progress, quiet_option
from conformance.contain.text import many
from conformance.disk.locks import held
from conformance.engine.recorded import read_recorded
from conformance.records import Outcome


@click.command()
@click.argument("run", metavar="DIR[:RUN]|LOG")
@click.option("--java", is_flag=True, help="Let the Arrow Java in Spark's JVM read the exchanges as well.")
@master_option
@quiet_option
@all_option
def command(*, run: str, java: bool, master: str, conf: tuple[str, ...], complete: bool) -> None:
    """Judge stored exchanges again, without the target: those of a campaign, or those of a log.

    \b
    conformance judge DIR              the only run in DIR
    conformance judge DIR:53b80a8a4522 one of several
    conformance judge said.log         what `conformance record` recorded

    Exit status: 0 no clause fails, 1 findings, 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    if Path(run).is_file():
        sys.exit(1 if judged_again(read_recorded(Path(run)), complete=complete).fails else 0)
    layout, job = find_run(run)
    from conformance.campaign.java import read_stored  # noqa: PLC0415  # after the run was found
    from conformance.campaign.rejudging import judge_again  # noqa: PLC0415  # as above

    with (
        progress("starting Spark") as shown,
        held(layout.run / "rejudged"),
        spark_session(layout.run, master=master, conf=settings(conf)) as session,
    ):
        shown.update("judging")
        found = judge_again(session, layout, job)
        readings = read_stored(session, layout) if java else None
    click.echo(
        f"{many(found.exchanges, 'stored exchange')} of run {layout.run_id} judged"
        f" under {many(len(found.clauses), 'clause')}"
    )
    failing = 0
    for clause, outcomes in found.clauses.items():
        others = {outcome: count for outcome, count in outcomes.items() if Outcome(outcome).fails_run}
        failing += sum(others.values())
        if others:
            click.echo(f"  {clause}: " + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))
    for clause, was, now, cases in found.changed:
        click.echo(f"  changed: {clause}: {was} became {now} on {many(cases, 'case')}")
    if readings is not None:
        click.echo(f"Arrow Java {readings.version}: read {readings.read} correctly")
        for made, (count, first) in readings.others.items():
            click.echo(f"  {made}: {count}, first {', '.join(first)}")
    click.echo(f"verdicts: {found.directory}", err=True)
    sys.exit(1 if failing else 0)
