"""``conformance compare``: the differences between two campaigns."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from conformance.campaign.runs import find_run
from conformance.campaign.sparksession import spark_session
from conformance.cli._campaigns import master_option, settings
from conformance.cli._progress import progress, quiet_option
from conformance.contain.text import many


@click.command()
@click.argument("first", metavar="DIR[:RUN]")
@click.argument("second", metavar="DIR[:RUN]")
@master_option
@quiet_option
def command(*, first: str, second: str, master: str, conf: tuple[str, ...]) -> None:
    """Compare two campaigns case by case: newly failing, newly passing, bytes changed, values changed.

    \b
    conformance compare before after
    conformance compare DIR:53b80a8a4522 DIR:9f31c1ba0a77

    Exit status: 0 nothing that passed before fails now, 1 regressions, 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    one, _ = find_run(first)
    other, _ = find_run(second)
    from conformance.campaign.comparison import ChangeCount, compare  # noqa: PLC0415  # after the runs were found

    with (
        progress("starting Spark") as shown,
        spark_session(other.run, master=master, conf=settings(conf)) as session,
    ):
        shown.update("comparing")
        found = compare(session, one, other)

    def report(title: str, changes: Mapping[str, ChangeCount]) -> None:
        total = sum(change.cases for change in changes.values())
        click.echo(f"{title}: {total or 'none'}")
        for clause, change in changes.items():
            click.echo(f"  {clause}: {change.cases}, first {', '.join(change.first)}")

    click.echo(
        f"{many(found.both, 'case')} in both, {found.only_first} in the first only,"
        f" {found.only_second} in the second only"
    )
    if found.stopped:
        click.echo(f"{many(found.stopped, 'case')} stopped before the end in one of them, and not compared")
    report("newly failing", found.failing)
    report("newly passing", found.passing)
    for title, change in (("bytes", found.bytes), ("values", found.values), ("decoders that read it", found.read)):
        click.echo(f"{title} changed: {change.cases or 'none'}")
        if change.cases:
            click.echo(f"  first {', '.join(change.first)}")
    sys.exit(1 if found.worse else 0)
