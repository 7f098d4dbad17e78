"""The first screen after a run: the counts, at most ten causes in the order in which to fix them, the verdict.

Ten causes fit a terminal of 80 columns and 40 lines; the complete report is :mod:`conformance.report.terminal`'s.
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
from conformance.report.document import service_of
from conformance.report.readers import by_reader, reader_lines
from conformance.report.summary import combined_line, header, numbers_line, replay_command, verdict_line
from conformance.report.terminal import print_deviation
from conformance.report.untestable import untestable_lines

__all__ = ["FIRST", "print_overview"]

FIRST: Final = 10
"""The most causes on the first screen."""
WIDTH: Final = 80
"""The longest line of the first screen."""
NOTES: Final = 2
"""The most lines for remarks, and for problems other than causes; the complete report has all."""
CASE: Final = 40
"""The most characters of the name of a cause's smallest case."""
_LABEL: Final = 10
_SHOWN: Final = frozenset({"target", "selection", "shard", "profiles", "remark"})
"""The lines of the header that are on the first screen."""


def print_overview(console: Console, result: Result, *, run: str = "LOG") -> None:
    """Print the first screen; ``run`` is the path that ``conformance explain`` is given for this run.

    If there is only one cause, its first deviation is printed in full.
    """
    shown = [(name, text) for name, text in header(result.start, result.remarks) if name in _SHOWN]
    counts = [("clauses", text) for text in numbers_line(result.start, result.standings).split("; ")]
    if result.combinations:
        counts.insert(0, ("scenarios", combined_line(result)))
    for name, text in [*_few(shown, len(shown) - len(result.remarks) + NOTES), *counts]:
        shown_text = _cut(text, WIDTH - _LABEL) if name == "remark" else text
        console.print(Text.assemble((f"{name:<{_LABEL}}", "bold"), shown_text))
    if (service := service_of(result.start)) is not None:
        console.print(service.sentence)
    for line in reader_lines(by_reader(result.start, result.cases)) if result.start.reader else ():
        console.print(Text(line))
    found = causes(result)
    if found:
        _print_causes(console, found)
    if len(found) == 1:
        print_deviation(console, found[0].own[0], replay_command(result, found[0].own[0]))
    for line in untestable_lines(result):
        console.print(Text(line, "yellow"))
    for line in _others(result):
        console.print(Text(_cut(line, WIDTH), "yellow"))
    if found:
        console.print()
        command = f"conformance explain {shlex.quote(run)} 1"
        console.print(Text(f"{command} shows one cause, --all everything", "dim"))
    console.print()
    console.print(Text(verdict_line(result), "bold red" if result.fails else "bold green"))


def _print_causes(console: Console, found: Sequence[Cause]) -> None:
    console.print()
    more = f", the first {FIRST} of {len(found)}" if len(found) > FIRST else ""
    console.print(Text(f"FIX FIRST{more}", "bold red"))
    for number, cause in enumerate(found[:FIRST], 1):
        reach = many(len(cause.cases), "case")
        if cause.blocks:
            reach = f"blocks {many(len(cause.blocks), 'clause')}, {reach}"
        name = _cut(cause.key, WIDTH - 12 - len(reach))
        head = f"{number:>2} {cause.level.upper():<6} "
        space = " " * max(2, WIDTH - len(head) - len(name) - len(reach))
        console.print(Text.assemble(head, (name, "bold"), space, reach))
        where = f"   in {_cut(cause.smallest, CASE)}: "
        console.print(Text.assemble(where, (_cut(" ".join(cause.title.split()), WIDTH - len(where)), "red")))


def _others(result: Result) -> Iterator[str]:
    """What fails the run, or may need work, and is no cause; if nothing else explains why a run fails, what was not
    judged.
    """
    broken = sum(item.count for item in result.listed(Outcome.ERROR))
    lines = [
        *([f"the suite itself broke on {many(broken, 'case')}; please report it, --all shows where"] if broken else []),
        *(f"unexpected pass: {item.clause}: {item.text}" for item in result.listed(Outcome.UNEXPECTED_PASS)),
        *(f"{problem.kind.value}: {problem.text}" for problem in result.problems),
    ]
    if result.fails and not lines and not result.failed:
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


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
