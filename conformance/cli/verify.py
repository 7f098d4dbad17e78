"""``conformance verify``: a statement against its report, its log and the suite, and the target once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._interrupts import Interrupted, until_interrupted
from conformance.cli._options import EXISTING
from conformance.cli._progress import progress, quiet_option, watch
from conformance.cli._statements import logs_option, material
from conformance.contain.text import many
from conformance.engine.events import RunStarted
from conformance.engine.log import LogChangedError
from conformance.engine.rerun import rerun
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.engine.session import STATE
from conformance.report.disagreements import again, disagreements
from conformance.report.document import Report, document
from conformance.report.statementnumbers import FileDigest
from conformance.report.statementpage import read_statement
from conformance.targets.shipped import shipped_targets
from conformance.targets.urls import is_url


@click.command()
@click.argument("statement", type=EXISTING)
@click.option(
    "--report", metavar="FILE", type=EXISTING, help="The JSON report; by default the file that the statement names."
)
@logs_option
@click.option("--rerun", "run_again", is_flag=True, help="Judge the target again, and compare clause by clause.")
@click.option(
    "--target",
    metavar="TARGET",
    help="The target for --rerun; by default that of the run, if it is a URL or ships with the suite.",
)
@quiet_option
def command(
    *, statement: Path, report: Path | None, logs: tuple[Path, ...], run_again: bool, target: str | None
) -> None:
    """Count STATEMENT again from the log of its run, and compare it with its report and with this suite.

    \b
    conformance verify statement.md
    conformance verify statement.md --report report.json --log run.jsonl
    conformance verify statement.md --rerun --target theirs.toml

    Each disagreement is one sentence. The report and the log are found next to the statement, in the current
    directory or in .conformance, by the names that the statement gives.

    Exit status: 0 valid, 1 refused, 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    if target is not None and not run_again:
        raise click.UsageError("expected --rerun with --target, which names the target to judge again")
    all_clauses()
    page = read_statement(statement)
    report = report or _found(page.statement.report, statement)
    said = [f"the text of the statement is not what its numbers give: {page.wrong}"] if page.wrong else []
    try:
        found = material(report, logs or [_found(log, statement) for log in page.statement.logs])
    except LogChangedError as error:
        _conclude([*said, str(error)])
    else:
        said += disagreements(page.statement, found)
        if run_again and not said:
            said += _again(found.report, target or _named(found.report.run.target_file))
        _conclude(said)
        run = page.statement.run
        counted = f"{many(page.statement.clauses, 'clause')} on {many(page.statement.cases, 'case')}"
        click.echo(f"valid: {run.target}, {counted}, suite release {', '.join(page.statement.releases)}")


def _conclude(said: Sequence[str]) -> None:
    for sentence in said:
        click.echo(sentence)
    if said:
        click.echo(f"refused: {many(len(said), 'disagreement')}", err=True)
        raise click.exceptions.Exit(1)


def _found(file: FileDigest, statement: Path) -> Path:
    """A file that the statement names, wherever such files are."""
    name = Path(file.name).name  # a statement may come from anybody
    for folder in (statement.parent, Path(), STATE):
        if name and (folder / name).is_file():
            return folder / name
    raise Unusable(f"{statement}: expected the file {file.name!r} next to it; name it with --report or --log")


def _named(target: str) -> str:
    """The target that a run names, if it may be judged without the user naming it too.

    A statement may come from anybody, and a target file says which programs start and where tokens go.
    """
    if is_url(target) or Path(target).resolve() in [path.resolve() for path in shipped_targets().values()]:
        return target
    raise Unusable(
        f"the run was on the target file {target}, which says what is started and where tokens go: if you trust it, "
        "name it with --target"
    )


def _again(before: Report, target: str) -> Iterator[str]:
    run: RunStarted = before.run
    total = run.repeat * (len(run.cases) + run.drawn)
    with progress(f"starting {target}") as shown:
        events, interrupted = until_interrupted(watch(rerun(run, target), shown, total=total))
    if interrupted:
        raise Interrupted("the statement agrees with its log; the second run was not completed")
    return again(before, document(fold(events)))
