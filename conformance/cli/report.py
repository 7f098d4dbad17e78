"""``conformance report``: make any report from the log of an earlier run, complete or not, or from those of its
shards.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from conformance.cli._causes import last_run
from conformance.cli._gates import fails_by, gate_option
from conformance.cli._options import EXISTING
from conformance.cli._outputs import Outputs, conclude, output_options, reported
from conformance.engine.merge import merge
from conformance.engine.recorded import judged_events
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.report.gatefile import Gate


@click.command()
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=EXISTING)
@click.option("--schema", type=click.Choice(["report", "log", "statement"]), help="Print the JSON Schema of a format.")
@gate_option
@output_options
def command(*, logs: tuple[Path, ...], schema: str | None, gate: tuple[Path, Gate] | None, outputs: Outputs) -> None:
    """Make reports from LOG, the event log of a run, and print the summary. Without LOG, take the last run in this
    directory.

    The logs of all shards of a run give the report of the complete run. The log of `conformance record` has no
    verdicts; it is judged first.

    Exit status: the status of the run, or with --gate that of the gate; 1 if the log is incomplete; 2 if a file is not
    a log, or if there is none.
    """
    if schema is not None:
        click.echo(json.dumps(_schema(schema), indent=1))
        return
    if not logs:
        logs = (last_run(),)
        click.echo(f"log: {logs[0]}", err=True)
    all_clauses()
    result = fold(merge([list(judged_events(path)) for path in logs]))
    failures = reported(result, outputs, logs[0] if len(logs) == 1 else None)
    conclude(failures, fails=fails_by(gate, result))


def _schema(name: str) -> object:
    if name == "log":
        from conformance.engine.log import log_schema  # noqa: PLC0415  # only here

        return log_schema()
    if name == "statement":
        from conformance.report.statementnumbers import statement_schema  # noqa: PLC0415  # only here

        return statement_schema()
    from conformance.report.document import report_schema  # noqa: PLC0415  # only here

    return report_schema()
