"""``conformance expect``: rewrite the expected failures of a target from the results of a run."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from conformance.cli._options import EXISTING, FILE
from conformance.contain.text import many
from conformance.engine.log import read_log
from conformance.engine.repair import describe_changes, repaired, rewrite
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.engine.session import default_log
from conformance.targets import ExpectedFailure, load_target
from conformance.targets.specfile import load_expected


@click.command()
@click.option("--target", metavar="FILE", help="TOML file of the target.")
@click.option(
    "--expected",
    metavar="FILE",
    type=FILE,
    help="A file with a list alone, for `read`, `write` and `clients`, instead of a target; it need not exist.",
)
@click.option(
    "--log",
    metavar="FILE",
    type=EXISTING,
    help="Log of the run to use; by default the target's last run.",
)
@click.option("--write", is_flag=True, help="Rewrite the file; without this option the changes are only shown.")
def command(*, target: str | None, expected: Path | None, log: Path | None, write: bool) -> None:
    """Update the [[expected_failures]] of a target file from its last run, or those of a reader, a writer or a client.

    Entries that excuse nothing are removed, and failures that nothing excuses are added at the end of the file. An
    entry whose reason is that of an older suite gets the new reason if its clause and case still fail. Everything
    else in the file stays byte for byte the same, comments and order included. Check the additions before you keep
    them: each new entry declares a defect as known.

    \b
    conformance run --target mine.toml
    conformance expect --target mine.toml
    conformance expect --target mine.toml --write
    conformance expect --expected known.toml --log .conformance/read-polars.jsonl --write

    \b
    Exit status: 0 nothing to change, or changed; 1 there are changes and --write was not given; 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    all_clauses()
    if (target is None) == (expected is None):
        raise click.UsageError("expected --target or --expected")
    if target is not None:
        file, known, path = _of_target(target, log)
    elif expected is not None:
        if log is None:
            raise click.UsageError("expected --log with --expected: the log of the run, which its report names")
        file, known, path = expected, load_expected(expected) if expected.exists() else (), log
    result = fold(read_log(path))
    if not result.complete:
        raise click.UsageError(f"{path} is incomplete; a list made from part of a run would lose entries")
    entries = repaired(result, known)
    changes = describe_changes(known, entries)
    for line in changes:
        click.echo(line)
    click.echo(f"{many(len(entries), 'entry', 'entries')}, {many(len(changes), 'change')}")
    if write:
        rewrite(file, entries)
    sys.exit(1 if changes and not write else 0)


def _of_target(target: str, log: Path | None) -> tuple[Path, tuple[ExpectedFailure, ...], Path]:
    """The file of a target, the failures that it lists, and the log to use."""
    spec = load_target(target)
    if spec.by_url:
        raise click.UsageError(f"expected a target file, which holds the list of known failures, got {target}")
    path = log or default_log(spec)
    if not path.exists():
        raise click.UsageError(f"{path} does not exist; run `conformance run --target {target}` first")
    return Path(spec.file), spec.expected_failures, path
