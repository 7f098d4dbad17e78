"""``conformance diff``: the improvements and regressions between two reports, or over a series of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click

from conformance.cli._options import EXISTING, json_flag
from conformance.contain.text import many, safe
from conformance.engine.log import is_log
from conformance.engine.recorded import judged_events
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.engine.standing import Standing
from conformance.records import to_json
from conformance.report.differences import ChangeKind, ClauseChange, DeviationChange, ReportDifference, compare
from conformance.report.document import Report, document
from conformance.report.notrun import NotRun, no_longer_run
from conformance.report.reading import as_read, read_report
from conformance.report.series import Series, series_of
from conformance.report.terminallayout import columns, commanded, cut, flowed

_TITLES: Final = {
    ChangeKind.REGRESSION: "Regressions: passed before, fail now",
    ChangeKind.NO_LONGER_MET: "MAY clauses no longer met, which is no regression: passed before, fail now",
    ChangeKind.REPAIR: "Repairs: failed before, pass now",
    ChangeKind.NEWLY_JUDGED: "Newly judged: not judged before, or failing on new cases only",
    ChangeKind.NO_LONGER_JUDGED: "No longer judged",
    ChangeKind.NEW_CLAUSE: "Clauses new in the suite",
    ChangeKind.GONE_CLAUSE: "Clauses removed from the suite",
}


@click.command()
@click.argument("paths", metavar="OLD NEW [NEWER]...", nargs=-1, required=True, type=EXISTING)
@json_flag("Print every change as one JSON object.")
def command(*, paths: tuple[Path, ...], as_json: bool) -> None:
    """Compare JSON reports or logs of one target or of several, in the order given.

    Of two reports, every change is shown, and every check of the old one that the new one did not make. Of more, a
    table says which version fails each clause first, and which repairs it.

    \b
    conformance diff before.json after.json
    conformance diff before.jsonl after.jsonl
    conformance diff 1.0.json 1.1.json 1.2.json

    \b
    Exit status: 0 nothing that passed before fails now (of a series: in the last version) but MAY clauses,
    1 regressions, 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    if len(paths) == 1:
        raise click.UsageError("expected at least two reports, got one")
    all_clauses()
    reports = [_report(path) for path in paths]
    if len(reports) > 2:
        series = series_of(reports)
        _print(to_json(series) if as_json else _table(series, columns()))
        sys.exit(1 if series.fails else 0)
    difference, not_run = compare(*reports), no_longer_run(*reports)
    if as_json:
        _print({**to_json(difference), "no_longer_run": to_json(not_run)})
    else:
        sides = _sides(difference, *map(str, paths))
        _print([*_lines(sides, difference, not_run, columns())])
    sys.exit(1 if difference.fails else 0)


def _report(path: Path) -> Report:
    """The report at ``path``, or the one of the log there."""
    return as_read(document(fold(judged_events(path)))) if is_log(path) else read_report(path)


def _print(shown: Any) -> None:
    """Print a JSON object, or lines."""
    click.echo("\n".join(shown) if isinstance(shown, list) else json.dumps(shown, indent=1, ensure_ascii=False))


def _sides(difference: ReportDifference, old: str, new: str) -> tuple[str, str]:
    """The names of the two sides; of two that are named alike, with their files."""
    if difference.old != difference.new:
        return difference.old, difference.new
    return f"{safe(old)}: {difference.old}", f"{safe(new)}: {difference.new}"


def _table(series: Series, width: int) -> list[str]:
    """The failures of a series, a row each, or a few lines where a row has no room."""
    heads = ("clause", "level", "passed in", "fails first in", "repaired in")
    rows = [
        (span.clause, span.level.upper(), span.passed or "-", span.first, span.repaired or "-") for span in series.spans
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    if sum(widths) + 2 * len(widths) - 2 <= width:
        table = ((f"{text:<{size}}" for text, size in zip(row, widths, strict=True)) for row in (heads, *rows))
        lines = ["  ".join(row).rstrip() for row in table]
    else:
        lines = [line for row in rows for line in _row(heads, row, width)]
    repaired = sum(bool(span.repaired) for span in series.spans)
    open_ = f"{len(series.spans) - repaired} not repaired"
    regressions = sum(span.regression for span in series.spans)
    unmet = sum(span.optional and bool(span.passed) and not span.repaired for span in series.spans)
    besides = f", and {many(unmet, 'MAY clause')}, which {'is no regression' if unmet == 1 else 'are none'}"
    counts = f"{many(len(series.spans), 'failure')}: {repaired} repaired, {open_}, of which {regressions} passed before"
    counts += besides if unmet else ""
    return [
        *flowed(", ".join(series.versions), width, head="versions  "),
        "",
        *(lines if series.spans else []),
        "",
        *flowed(counts, width),
    ]


def _row(heads: Sequence[str], row: Sequence[str], width: int) -> Iterator[str]:
    """A failure of a series where the table is wider than the terminal."""
    yield f"{row[0]}  [{row[1]}]"
    told = (f"{head} {text}" for head, text in zip(heads[2:], row[2:], strict=True) if text != "-")
    yield from flowed(", ".join(told), width, head="  ")


def _not_run(not_run: NotRun, width: int) -> Iterator[str]:
    """The checks that the new report lacks."""
    for name in not_run.unknown:
        yield ""
        yield from flowed(
            f"The {name} report does not say which checks ran; make it again from the log of its run", width
        )
    if not_run.cases:
        yield ""
        yield from flowed(f"Cases on which nothing was judged any more ({len(not_run.cases)})", width)
        yield from (f"  {case}" for case in not_run.cases)
    if not_run.clauses:
        yield ""
        title = "Checks no longer run: judged before on these cases, and not now"
        yield from flowed(f"{title} ({len(not_run.clauses)})", width)
        for item in not_run.clauses:
            more = f" and {len(item.cases) - _CASES} more" if len(item.cases) > _CASES else ""
            yield from _headed(item.clause, f"on {', '.join(item.cases[:_CASES])}{more}", width)


def _lines(sides: tuple[str, str], difference: ReportDifference, not_run: NotRun, width: int) -> Iterator[str]:
    for name, side in zip(("old", "new"), sides, strict=True):
        yield from flowed(side, width, head=f"{name}  ")
    for change, title in _TITLES.items():
        if items := difference.of(change):
            yield ""
            yield from flowed(f"{title} ({len(items)})", width)
            for item in items:
                yield from _clause(item, width)
    for title, deviations in (("New", difference.new_deviations), ("Gone", difference.gone_deviations)):
        if deviations:
            yield f"\n{title} deviations ({len(deviations)})"
            for deviation in deviations:
                yield from _deviation(deviation, width)
    yield from _not_run(not_run, width)
    counts = {str(change): len(difference.of(change)) for change in _TITLES}
    counts |= {"new deviations": len(difference.new_deviations), "gone deviations": len(difference.gone_deviations)}
    counts |= {"cases no longer run": len(not_run.cases), "clauses on fewer cases": len(not_run.clauses)}
    yield ""
    yield from flowed(
        ", ".join(f"{name}: {count}" for name, count in counts.items() if count) or "no difference", width
    )


def _headed(head: str, text: str, width: int) -> list[str]:
    """A name, and a text behind it that goes on below, further in."""
    return flowed(text, width, head=f"  {head}  ", indent=_BELOW)


def _clause(item: ClauseChange, width: int) -> Iterator[str]:
    asked = f", {item.question}" if item.question else ""
    yield from _headed(
        f"{item.clause}  [{item.level.upper()}{asked}]", f"{_words(item.before)} -> {_words(item.after)}", width
    )
    if item.text:
        yield from flowed(_flat(item.text), width, head=" " * _BELOW)
    if item.cases:
        yield from flowed(f"on {', '.join(item.cases)}", width, head=" " * _BELOW)
    if item.change in (ChangeKind.REGRESSION, ChangeKind.NO_LONGER_MET):
        yield from commanded(item.replay, width, head=" " * _BELOW)


def _words(standing: Standing | None) -> str:
    return "not judged" if standing is None else standing.words


def _deviation(item: DeviationChange, width: int) -> Iterator[str]:
    yield from _headed(item.clause, _flat(item.text), width)
    yield from flowed(f"on {', '.join(item.cases)}", width, head=" " * _BELOW)


_CASES: Final = 5
"""The most cases named for a clause; JSON has all of them."""
_BELOW: Final = 6
"""The indent of what is said of a clause."""
_WIDTH: Final = 160
"""The most characters shown of a text; its subject is at the beginning."""


def _flat(text: str) -> str:
    return cut(" ".join(text.split()), _WIDTH)
