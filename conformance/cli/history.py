"""``conformance history``: find anomalies in the ids of rows that sessions returned, and the calls that prove them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._options import EXISTING
from conformance.contain.text import escaped, many
from conformance.history import History, check, lines
from conformance.history.files import as_lines, is_history, read_history


@click.command()
@click.argument("file", metavar="FILE", type=EXISTING)
@click.option("--calls", "shows_calls", is_flag=True, help="Print the calls of the history as JSON lines instead.")
def command(*, file: Path, shows_calls: bool) -> None:
    """Judge FILE, a history of any server or a log with exchanges: rows with unique ids, written and read.

    \b
    conformance history calls.jsonl            one call a line, as docs/history.md describes
    conformance history .conformance/it.jsonl  each case of a log whose table has a row_id

    Exit status: 0 no anomaly, 1 anomalies, 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    found = 0
    for name, history in _histories(file):
        if name:
            click.echo(f"CASE {name}")
        if shows_calls:
            for call in as_lines(history.calls):
                click.echo(escaped(json.dumps(call, ensure_ascii=False)))
            continue
        judgement = check(history)
        found += len(judgement.anomalies)
        for line in lines(history, judgement):
            click.echo(line)
    sys.exit(1 if found else 0)


def _histories(file: Path) -> Iterator[tuple[str, History]]:
    """Yield each history in a file with the id of its case, empty if the file is a history itself."""
    if is_history(file):
        yield "", read_history(file)
        return
    from conformance.engine.recorded import read_recorded  # noqa: PLC0415  # a history needs no Arrow

    recorded = read_recorded(file)
    seen = [(view.case.id, one) for view in recorded.views() if (one := view.history()) is not None]
    if not seen:
        cases = many(len(recorded.exchanges), "case")
        raise Unusable(f"{file}: expected a case with sessions over rows with a row_id, got none in {cases}")
    yield from seen
