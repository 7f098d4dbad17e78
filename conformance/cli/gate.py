"""``conformance gate``: write what held in each of the last runs of a target, for runs that must not lose it."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from pathlib import Path

import click

from conformance.cli._causes import report_at
from conformance.cli._group import Unusable
from conformance.cli._options import EXISTING, FILE
from conformance.contain.text import many
from conformance.report.gatefile import GateError, make_gate, read_gate, write_gate


@click.command()
@click.argument("paths", metavar="RUN...", nargs=-1, required=True, type=EXISTING)
@click.option("--out", metavar="FILE", type=FILE, default="gate.toml", show_default=True, help="Write the gate here.")
def command(*, paths: tuple[Path, ...], out: Path) -> None:
    """Write a gate: what held in each RUN of one target, given as logs or JSON reports.

    A cell of a gate is a clause with what it judges: a reader, such as a path of a client, or the target itself. It is
    in the gate if it held in each run. Every other cell is listed with its reason. `conformance run --gate FILE` and
    `conformance report LOG --gate FILE` fail exactly if a cell of the gate holds no longer; other findings and the
    failure of a MAY clause do not fail them.

    \b
    conformance run --target mine.toml --log 1.jsonl
    conformance run --target mine.toml --log 2.jsonl
    conformance gate 1.jsonl 2.jsonl --out gate.toml
    conformance run --target mine.toml --gate gate.toml

    \b
    Exit status: 0 written; 1 written, but no cell held in each run; 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    _leave_what_is_no_gate(out)
    # A file that is no report is refused before all of it is read for its digest.
    reports = [report_at(path) for path in paths]
    gate = make_gate([(str(path), _digest(path), report) for path, report in zip(paths, reports, strict=True)])
    write_gate(gate, out)
    reasons = Counter(kind for item in gate.left_out for kind in [item.kind] * len(item.clauses))
    others = "".join(f", {count} {kind.replace('-', ' ')}" for kind, count in sorted(reasons.items()))
    every = f"each of {len(reports)} runs" if len(reports) > 1 else "1 run"
    click.echo(f"{out}: {many(len(gate.cells), 'cell')} held in {every}{others}")
    sys.exit(0 if gate.cells else 1)


def _leave_what_is_no_gate(out: Path) -> None:
    """Refuse to replace a file of the user under the default name: nobody named it, and only a gate is made again."""
    if click.get_current_context().get_parameter_source("out") is not click.core.ParameterSource.DEFAULT:
        return
    if out.exists():
        try:
            read_gate(out)
        except GateError as error:
            raise Unusable(f"{error}; name another file with --out, or this one to replace it") from None


def _digest(path: Path) -> str:
    """The SHA-256 of a file, which need not fit into memory."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
