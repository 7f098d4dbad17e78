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
from conformance.report.readertable import by_reader, reader_lines
from conformance.report.summary import (
    broken_cases,
    header,
    named_target,
    number_rows,
    replay_command,
    unjudged_cases,
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
MANY: Final = 0.1
"""The part of the cases that could not be judged above which the first lines say so."""
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
_SHOWN: Final = frozenset({"selection", "shard", "profiles", "remark"})
"""The lines of the header that are on the first screen as they are in every report."""


def print_overview(console: Console, result: Result, *, run: str | None = None) -> None:
    """Print the first screen; ``run`` is the path that ``conformance explain`` is given for this run: empty for the
    last run, None for a run without a log, whose clauses are explained instead of its causes.
    """
    width = console.width
    about = [*_about(result), *((name, text) for name, text in header(result.start, result.remarks) if name in _SHOWN)]
    for name, text in _few(about, len(about) - len(result.remarks) + NOTES):
        room = (width - _LABEL) * (1 if name == "remark" and len(result.remarks) > 1 else 2)
        most = min(room, LONGEST - _LABEL) if name in ("remark", "target") else len(text)
        say(console, f"{name:<{_LABEL}}", cut(text, most))
    if unjudged := _unjudged(result):
        say(console, f"{'cases':<{_LABEL}}", unjudged, style="yellow")
    rows = number_rows(result.start, result.standings, judged=True)
    longest = max((len(name) for name, _ in rows), default=0)
    for place, (name, numbers) in enumerate(rows):
        say(console, f"{'' if place else 'clauses':<{_LABEL}}{name:<{longest}} ", numbers)
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


def _about(result: Result) -> Iterator[tuple[str, str]]:
    """The target; of one that ships with the suite, not where its file is, which is long and the same for everybody."""
    start = result.start
    ships = named_target(start) != start.target_file
    yield "target", f"{start.target} ({start.target_file})" if start.target_file and not ships else start.target


def _unjudged(result: Result) -> str:
    """How many cases could not be judged, if they are too many for a word at the end alone; else empty."""
    count, cases = unjudged_cases(result), len({case.case_id for case in result.cases})
    if count <= MANY * cases:
        return ""
    return f"{count} of {cases} could not be judged ({100 * count // cases} %), and the reasons are below"


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
        if run is None:
            say(console, "", "--all shows everything", style="dim")
            return
        rest = ("a line each: ", "--format concise") if len(found) > FIRST else ("all: ", "--all")
        ways = [("next: ", f"{_EXPLAIN}{log}2"), (rest[0], f"conformance report {log}{rest[1]}")]
        together = " · ".join(map("".join, ways))
        for head, text in [("", together)] if len(together) <= console.width else ways:
            say(console, head, text, style="dim", command=bool(head))


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
