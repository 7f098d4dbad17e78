"""The complete report that a person reads: failures by cause, four lists, a summary by chapter and level; one cause."""

from __future__ import annotations

import errno
import os
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.contain.text import many
from conformance.contract.mending import mending_of
from conformance.contract.wholecase import EXPLAINED
from conformance.engine.causes import Cause, causes
from conformance.engine.events import Evidence
from conformance.engine.result import Deviation, Result
from conformance.records import Outcome
from conformance.report.bytelines import byte_lines
from conformance.report.document import CauseResult, Report, service_of
from conformance.report.profiles import profile_lines
from conformance.report.readertable import by_reader, reader_lines
from conformance.report.summary import (
    combined_line,
    header,
    level_of,
    numbers_line,
    replay_command,
    summarise,
    verdict_line,
)
from conformance.report.terminallayout import columns, commanded, flowed

__all__ = ["print_cause", "print_deviation", "print_evidence", "print_header", "print_report", "say", "terminal"]

_LABEL = 10
"""The width of the labels in front of a deviation's lines: the longest label and a space."""
_TABLE = 80
"""The columns that the table of chapters needs with headings in one line; below, each word has its line."""
_PROFILE = 22
"""The same for the names of profiles."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Say that nobody reads on; rich itself would end the process with status 1, which means findings here."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def terminal(**options: Any) -> Console:
    """A console for reports: it prints texts unchanged, without markup, emoji codes or colours for numbers.

    It wraps nothing itself: :mod:`conformance.report.terminallayout` breaks lines at the console's width, which is
    that of the terminal.
    """
    return _Console(soft_wrap=True, markup=False, emoji=False, highlight=False, **{"width": columns()} | options)


def say(
    console: Console, head: str, text: str, *, style: str = "", indent: int | None = None, command: bool = False
) -> None:
    """Print a text behind a head, as lines that the console has room for."""
    lines = (
        commanded(text, console.width, head=head) if command else flowed(text, console.width, head=head, indent=indent)
    )
    for place, line in enumerate(lines):
        size = 0 if place else len(head)
        console.print(Text.assemble((line[:size], "bold"), (line[size:], style)))


def _line(*parts: str | tuple[str, str]) -> Text:
    """One line of texts, and of pairs of text and style."""
    return Text.assemble(*parts)


def print_header(console: Console, result: Result) -> None:
    """Print the parameters of the run."""
    for name, text in header(result.start, result.remarks):
        say(console, f"{name:<{_LABEL}}", text)


def print_report(console: Console, result: Result) -> None:
    """Print the complete report: header, the four lists, problems with the expected failures, the summary."""
    print_header(console, result)
    _print_failed(console, result)
    _print_short(console, "unexpected passes", result.listed(Outcome.UNEXPECTED_PASS), "yellow")
    _print_short(console, "expected failures", result.listed(Outcome.EXPECTED_FAIL), "cyan")
    _print_short(console, "not judged", result.not_judged, "dim")
    _print_problems(console, result)
    console.print()
    console.print(_summary(result, console.width))
    for place, (name, text) in enumerate(profile_lines(result.start, result.standings)):
        if not place:
            console.print()
        say(console, f"{name:<{_PROFILE}}", text)
    for line in reader_lines(by_reader(result.start, result.cases)):
        say(console, "", line, indent=4)
    if result.silent:
        note = f"{many(len(result.silent), 'clause')} had nothing to observe here; the JSON and HTML reports say which"
        say(console, "", note, style="dim")
    if result.combinations:
        say(console, f"{'scenarios':<{_PROFILE}}", combined_line(result))
    say(console, "", numbers_line(result.start, result.standings))
    if (service := service_of(result)) is not None:
        say(console, "", service.sentence)
    say(console, "", verdict_line(result), style="bold red" if result.fails else "bold green")


def _title(console: Console, title: str, count: int, style: str) -> None:
    console.print()
    console.print(Text(f"{title.upper()} ({count})", f"bold {style}".rstrip()))


def _print_failed(console: Console, result: Result) -> None:
    if not result.failed:
        return
    # A run that passes has failures of MAY clauses alone.
    title, style = ("failed", "red") if result.fails else ("optional", "")
    _title(console, title, len(result.failed), style)
    for number, cause in enumerate(causes(result), 1):
        parts = (*cause.own, *cause.echoes)
        if len(parts) > 1 or cause.blocks:
            console.print()
            say(console, f"cause {number} {cause.key} ", _reach(cause, parts), indent=4)
            _print_facts(console, (*_about(cause), ("smallest", cause.smallest)))
        for deviation in parts:
            print_deviation(console, deviation, replay_command(result, deviation))
    for deviation in result.listed(Outcome.ERROR):
        print_deviation(console, deviation, replay_command(result, deviation))
    for broke in {broke.traceback.rstrip().rpartition("\n")[2]: broke for broke in result.broke}.values():
        console.print()
        said = "this is a defect of the suite, please report it:"
        say(console, f"the suite broke on {broke.case_id}; ", said, indent=2)
        console.print(textwrap.indent(broke.traceback.rstrip(), "  | "))


def print_cause(console: Console, report: Report, cause: CauseResult) -> None:
    """Print one cause with everything about it: what it is, what it blocks, and each of its deviations.

    Of the echoes only the first line is printed; they need no work of their own.
    """
    say(console, f"{cause.key} ", _reach(cause, report.parts([*cause.own, *cause.echoes])), indent=4)
    _print_facts(console, _about(cause))
    if cause.blocks:
        _print_facts(console, [("blocked", ", ".join(cause.blocks))])
    for echo in report.parts(cause.echoes):
        _print_facts(console, [("follows", f"{_names(echo)}: {' '.join(echo.text.split())}")])
    for library, call in mending_of(cause.key.partition("~")[0]).items():
        _print_facts(console, [("mend it", f"{library}: {call}")])
    _print_facts(console, [("smallest", cause.smallest)])
    _print_replay(console, cause.replay)
    for deviation in report.parts(cause.own):
        print_deviation(console, deviation, deviation.replay)


def _reach(cause: Cause | CauseResult, parts: Iterable[Deviation]) -> str:
    """The level of a cause, and how far it reaches: the cases are those of all its ``parts``, echoes among them."""
    counts = (
        many(len({case_id for part in parts for case_id in part.cases}), "case"),
        *([f"blocks {many(len(cause.blocks), 'clause')}"] if cause.blocks else []),
        *([f"{many(follow, 'failure')} follow{'s' if follow == 1 else ''}"] if (follow := len(cause.echoes)) else []),
    )
    return f"{cause.level.upper()}, {', '.join(counts)}"


def _about(cause: Cause | CauseResult) -> Iterator[tuple[str, str]]:
    yield "cause", cause.title
    for sentence in cause.contrast:
        yield "contrast", sentence


def _print_facts(console: Console, facts: Iterable[tuple[str, str]]) -> None:
    for name, text in facts:
        say(console, f"  {name:<{_LABEL}}", text)


def _print_replay(console: Console, command: str) -> None:
    say(console, f"  {'replay':<{_LABEL}}", command, style="green", command=True)


def print_deviation(console: Console, deviation: Deviation, replay: str) -> None:
    """Print one deviation with everything that a person needs to act on it; ``replay`` is the command for it."""
    level = level_of(deviation.clause).upper()
    names = _names(deviation)
    console.print(_line("\n", (names, "bold"), " ", (str(deviation.outcome), "red"), f" {level}"))
    _print_facts(console, _facts(deviation))
    if deviation.evidence is not None:
        print_evidence(console, deviation.evidence)
    _print_replay(console, replay)


def _names(deviation: Deviation) -> str:
    more = len(deviation.clauses) - 3
    return ", ".join(deviation.clauses[:3]) + (f" and {many(more, 'more clause')}" if more > 0 else "")


def _facts(deviation: Deviation) -> Iterator[tuple[str, str]]:
    clause = EXPLAINED.get(deviation.clause)
    finding = deviation.finding
    others = len(deviation.cases) - 1
    more = f" and {many(others, 'more case')}" if others else ""
    yield "case", deviation.cases[0] + more
    if finding is not None:
        place = [f"call {finding.call}"] if finding.call is not None else []
        place += [f"response {finding.response}"] if finding.response is not None else []
        place += [f"field {finding.field}"] if finding.field else []
        if place:
            yield "where", ", ".join(place)
    if deviation.required:
        yield "required", deviation.required
    yield "observed", deviation.text
    if deviation.frequency:
        yield "occurs", deviation.frequency
    if clause is not None:
        yield "source", clause.source
        yield "evidence", clause.evidence_in_words
        if clause.fault_of:
            yield "fault of", clause.fault_of
        if clause.breaks:
            yield "breaks", clause.breaks
    if finding is not None:
        yield "class", deviation.reason


def print_evidence(console: Console, evidence: Evidence) -> None:
    """Print annotated bytes; the lines at fault have an arrow."""
    _print_facts(console, [("bytes", evidence.of)])
    for line, parts in byte_lines(evidence.lines, console.width):
        for part in parts:
            console.print(Text(part, style="bold red" if line.marked else ""))


def _print_short(console: Console, title: str, deviations: list[Deviation], style: str) -> None:
    if not deviations:
        return
    _title(console, title, len(deviations), style)
    for item in deviations:
        count = f"{len(item.cases)} case{'s'[: len(item.cases) > 1]}"
        often = f", {item.frequency}" if item.frequency else ""
        facts = f"({item.outcome}, {count}, first {item.cases[0]}{often}): {' '.join(item.text.split())}"
        say(console, f"  {_names(item)} ", facts, indent=4)


def _print_problems(console: Console, result: Result) -> None:
    if not result.problems:
        return
    _title(console, "problems with expected failures", len(result.problems), "yellow")
    for problem in result.problems:
        say(console, f"  {problem.kind.value}: ", problem.text, indent=4)


def _summary(result: Result, width: int) -> Table:
    """The table of clauses that pass, of those that the target owes, by chapter and level; in few columns without those
    that count nothing.
    """
    rows = summarise(result.standings)
    parts = ("pass where judged", "fail", "expected", "not judged")
    counts = [(one.total.held_where_judged, one.total.failed, one.total.expected, one.total.not_judged) for one in rows]
    narrow = width < _TABLE
    kept = [place for place in range(len(parts)) if not narrow or any(count[place] for count in counts)]
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for name in ("chapter", "MUST", "SHOULD", "MAY", *(parts[place] for place in kept)):
        shown = name.replace(" ", "\n") if narrow else name
        table.add_column(shown, justify="left" if name == "chapter" else "right", no_wrap=True)
    for row, count in zip(rows, counts, strict=True):
        cells = [Text(cell.share or "-", "red" if cell.failed else "") for cell in row.cells]
        table.add_row(row.chapter, *cells, *(str(count[place] or "-") for place in kept))
    return table
