"""``conformance replay``: run one case again, and print every byte of its exchange."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

from conformance.campaign.campaignjob import MUTATED
from conformance.cli._common import corpus_option, target_option
from conformance.cli._judging import judged_again
from conformance.cli._mutated import replay_input
from conformance.cli._numbers import deadline_option
from conformance.cli._one import put
from conformance.cli._options import FILE, chosen_readers, readers_option, secure_backend
from conformance.cli._outputs import all_option, print_result
from conformance.cli._progress import quiet_option
from conformance.contract.view import View
from conformance.engine.events import ExchangeRecorded
from conformance.engine.log import LogWriter
from conformance.engine.recorded import read_recorded, with_exchange
from conformance.engine.session import Settings
from conformance.engine.transcript import transcript
from conformance.report.terminallayout import columns, flowed


@click.command()
@click.argument("name", metavar="CASE")
@target_option
@readers_option
@deadline_option
@corpus_option
@quiet_option
@click.option(
    "--log",
    metavar="FILE",
    type=FILE,
    help="Store the exchange and its verdicts in this log, which `replay` accepts as CASE.",
)
@click.option(
    "--save",
    metavar="FILE",
    type=FILE,
    help="Save the bytes of a mutated input; of several messages, each goes to a file with its number.",
)
@all_option
def command(
    *,
    name: str,
    target: str,
    readers: bool,
    reader: tuple[str, ...],
    deadline_multiplier: float,
    corpus: Path,
    log: Path | None,
    save: Path | None,
    complete: bool,
) -> None:
    """Run CASE (an id, or the path of a case file) on a target; print the exchange, then the verdicts.

    If CASE is the path of a log (.jsonl or .log) with exchanges, they are judged again, without a target. So is what
    `conformance record` has recorded, by the clauses that need no table.

    With ``--target mutated``, CASE is an input of a campaign over mutated bytes: mutated.s1.i42.

    Exit status: 0 nothing unexpected, 1 findings, 2 unusable input.
    """
    if target == MUTATED:
        sys.exit(1 if replay_input(name, save) else 0)
    if save is not None:
        raise click.UsageError("--save requires --target mutated, whose cases are bytes")
    if Path(name).suffix in (".jsonl", ".log"):
        recorded = read_recorded(Path(name))
        _show(recorded.views())
        sys.exit(1 if judged_again(recorded, complete=complete).fails else 0)
    settings = Settings(
        readers=readers,
        deadline_multiplier=deadline_multiplier,
        reader=chosen_readers(reader),
        secure=secure_backend,
    )
    one = put(name, target=target, corpus=corpus, settings=settings)
    if log is not None:
        with LogWriter(log) as writer:
            for event in with_exchange(one.events, ExchangeRecorded(one.case, one.exchange)):
                writer.write(event)
    _show([one.view])
    print_result(one.result, complete=complete, run=log)
    sys.exit(1 if one.result.fails else 0)


def _show(views: Iterable[View]) -> None:
    for view in views:
        for line in transcript(view):
            for part in _fitting(line, columns()):
                click.echo(part)
        click.echo()


_HEAD: Final = re.compile(r" *(?:0x[0-9a-f]+  )?")
_RULER: Final = "─"


def _fitting(line: str, width: int) -> list[str]:
    """A line of a transcript in the width of the terminal: rulers become shorter, and texts go on below."""
    if not line[width:].strip(_RULER):
        return [line[:width]]
    head = _HEAD.match(line)
    size = head.end() if head is not None else 0
    return [part.rstrip() for part in flowed(line[size:], width, head=line[:size], indent=size + 4)]
