"""Judge the exchanges of a log and print the result, for the commands that read recorded exchanges."""

from __future__ import annotations

import click

from conformance.cli._outputs import print_result
from conformance.contain.text import many
from conformance.engine.recorded import Recorded
from conformance.engine.result import Result, fold
from conformance.records import Outcome

__all__ = ["judged_again"]


def judged_again(recorded: Recorded, *, complete: bool) -> Result:
    """Judge the exchanges of ``recorded`` and print the report; of a client and its server also what was judged."""
    result = fold(recorded.judged())
    print_result(result, complete=complete, run=recorded.path)
    if recorded.conversed:
        calls = sum(len(one.exchange.calls) for one in recorded.exchanges)
        decided = {one.clause for one in result.verdicts if one.outcome in (Outcome.PASS, Outcome.FAIL)}
        failed = sorted({one.clause for one in result.verdicts if one.outcome is Outcome.FAIL})
        click.echo(
            f"{many(len(recorded.exchanges), 'exchange')} of {many(calls, 'call')}:"
            f" {many(len(decided), 'clause')} judged, {len(failed)} failed{''.join(f' {one}' for one in failed)}"
        )
    return result
