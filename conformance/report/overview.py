"""The first screen after a run: the counts, at most ten causes in the order in which to fix them, the verdict.

Ten causes fit a terminal of 80 columns and 40 lines: the first as cards, the others in two lines. The complete report
is :mod:`conformance.report.terminal`'s.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from conformance.contain.text import many
from conformance.engine.causes import Cause, causes
from conformance.engine.result import Result
from conformance.records import Outcome
from conformance.report.card import print_card
from conformance.report.document import service_of
from conformance.report.readertable import by_reader, reader_lines
from conformance.report.summary import (
    broken_cases,
    combined_line,
    header,
    numbers_line,
    replay_command,
    verdict_line,
)
from conformance.report.terminal import say
from conformance.report.terminallayout import cut
from conformance.report.untestable import untestable_lines

__all__ = ["FIRST", "print_concise", "print_overview"]

FIRST: Final = 10
"""The most causes on the first screen."""
CARDS: Final = 3
"""As many causes are all shown as cards; of more, only the first one is."""
NOTES: Final = 2
"""The most lines for remarks, and for problems other than causes; the complete report has all."""
CASE: Final = 40
"""The most characters of the name of a cause's smallest case."""
LONGEST: Final = 160
"""The longest line of foreign text where the output has no width."""
PLAIN: Final = 80
"""The column at which the reach of a cause ends."""
_LABEL: Final = 10
_EXPLAIN: Final = "conformance explain "
_SHOWN: Final = frozenset({"target", "selection", "shard", "profiles", "remark"})
"""The lines of the header that are on the first screen."""


def print_overview(console: Console, result: Result, *, run: str | None = None) -> None:
    """Print the first screen; ``run`` is the path that ``conformance explain`` is given for this run: empty for the
    last run, None for a run without a log, whose clauses are explained instead of its causes.
    """
    width = console.width
    shown = [(name, text) for name, text in header(result.start, result.remarks) if name in _SHOWN]
    counts = [("clauses", text) for text in numbers_line(result.start, result.standings).split("; ")]
    if result.combinations:
        counts.insert(0, ("scenarios", combined_line(result)))
    for name, text in [*_few(shown, len(shown) - len(result.remarks) + NOTES), *counts]:
        say(
            console,
            f"{name:<{_LABEL}}",
            cut(text, min(width, LONGEST) - _LABEL) if name in ("remark", "target") else text,
        )
    if (service := service_of(result)) is not None:
        say(console, "", service.sentence)
    for line in reader_lines(by_reader(result.start, result.cases)) if result.start.reader else ():
        say(console, "", line, indent=4)
    found = causes(result)
    if found:
        _print_causes(console, result, found, run)
    for line in untestable_lines(result):
        say(console, "", line, indent=4, style="yellow")
    for line in _others(result):
        console.print(Text(cut(line, min(width, LONGEST)), "yellow"))
    console.print()
    say(console, "", verdict_line(result), style="bold red" if result.fails else "bold green")


def print_concise(console: Console, result: Result) -> None:
    """Print a line for each cause, and the verdict: its number, level, key, cases and title."""
    for number, cause in enumerate(causes(result), 1):
        others = f" +{len(cause.failing) - 1}" if len(cause.failing) > 1 else ""
        line = f"{number} {cause.level.upper()} {cause.key} {cause.smallest}{others}: {' '.join(cause.title.split())}"
        console.print(Text(cut(line, console.width)))
    for line in _others(result):
        if line:
            console.print(Text(cut(line, console.width)))
    say(console, "", verdict_line(result), style="bold red" if result.fails else "bold green")


def _print_causes(console: Console, result: Result, found: Sequence[Cause], run: str | None) -> None:
    width = min(console.width, LONGEST)
    log = f"{shlex.quote(run)} " if run else ""
    console.print()
    more = f", the first {FIRST} of {len(found)}" if len(found) > FIRST else ""
    # A run that passes has failures of MAY clauses alone.
    title, style = ("FIX FIRST", "bold red") if result.fails else ("OPTIONAL", "bold")
    console.print(Text(f"{title}{more}", style))
    cards = len(found) if len(found) <= CARDS else 1
    for number, cause in enumerate(found[:FIRST], 1):
        if number <= cards:
            if number > 1:
                console.print()
            about = cause.clause if run is None else f"{log}{number}"
            print_card(console, number, cause, replay_command(result, cause), f"{_EXPLAIN}{about}")
            continue
        reach = many(len(cause.failing), "case")
        if cause.blocks:
            reach = f"blocks {many(len(cause.blocks), 'clause')}, {reach}"
        head = f"{number:>2} {cause.level.upper():<6} "
        name = cut(cause.key, width - len(head) - 2 - len(reach))
        space = " " * max(2, min(width, PLAIN) - len(head) - len(name) - len(reach))
        console.print(Text.assemble(head, (name, "bold"), space, reach))
        where = f"   in {cut(cause.smallest, CASE)}: "
        console.print(Text.assemble(where, (cut(" ".join(cause.title.split()), width - len(where)), "red")))
    if len(found) > cards:
        more = f"the next cause: {_EXPLAIN}{log}2 · all: conformance report {log}--all"
        if len(found) > FIRST:
            more = f"next: {_EXPLAIN}{log}2 · a line each: conformance report {log}--format concise"
        say(console, "", "--all shows everything" if run is None else more, style="dim")


def _others(result: Result) -> Iterator[str]:
    """What fails the run, or may need work, and is no cause; if nothing else explains why a run fails, what was not
    judged.
    """
    broken = broken_cases(result)
    lines = [
        *([f"the suite itself broke on {many(broken, 'case')}; please report it, --all shows where"] if broken else []),
        *(f"unexpected pass: {item.clause}: {item.text}" for item in result.listed(Outcome.UNEXPECTED_PASS)),
        *(f"{problem.kind.value}: {problem.text}" for problem in result.problems),
    ]
    if result.fails and not lines and result.failed == result.optional:
        lines = [f"not judged in {many(len(item.cases), 'case')}: {item.text}" for item in result.not_judged]
    if lines:
        yield ""
    shown = NOTES if len(lines) > NOTES + 1 else len(lines)
    yield from lines[:shown]
    if len(lines) > shown:
        yield f"and {len(lines) - shown} more, with --all"


def _few(lines: Sequence[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    if len(lines) <= most:
        return list(lines)
    return [*lines[:most], (lines[most][0], f"and {len(lines) - most} more, with --all")]
