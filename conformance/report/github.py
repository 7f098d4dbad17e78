"""GitHub Actions: annotations, as commands on standard output, and the job summary, as Markdown.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions describes both. GitHub shows at most ten
annotations of each kind for a step, so that is how many there are of all kinds together, those to repair first at the
beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.contain.text import many
from conformance.contract.wholecase import EXPLAINED
from conformance.disk.files import naming
from conformance.disk.pipes import open_end, write_all
from conformance.engine.expectations import ProblemKind
from conformance.engine.result import NOT_JUDGED, Result
from conformance.records import Level, Outcome
from conformance.report.document import CauseResult, DeviationResult, Report, document
from conformance.report.escaping import in_markdown
from conformance.report.summary import Cell, header, numbers_line, summarise

__all__ = ["annotation_commands", "append_summary", "step_summary"]

MOST: Final = 10
_FAIL: Final = frozenset(outcome for outcome in Outcome if outcome.fails_run)
_COMMANDS: Final = {Level.MUST: "error", Level.SHOULD: "warning", Level.MAY: "notice"}
SUMMARY_BYTES: Final = 500_000
"""The bytes of deviations in a summary; GitHub refuses a summary of more than 1 MiB, which earlier steps share."""


def annotation_commands(report: Report) -> list[str]:
    """The annotation commands for what failed: at most ten, then one with the number of others.

    A cause has one, on the first of its deviations: the others follow from it.
    """
    failing = [item for cause, items in _failing(report) for item in (items if cause is None else items[:1])]
    lines = [_command(_COMMANDS[item.level], item.clauses[0], _words(item)) for item in failing[:MOST]]
    stale = [problem for problem in report.problems if problem.kind is ProblemKind.STALE]
    lines += [_command("error", "expected failures", problem.text) for problem in stale[: MOST - len(lines)]]
    if left := len(failing) + len(stale) - len(lines):
        lines.append(_command("notice", report.run.target, f"and {left} more; the job summary lists them"))
    return lines


def _failing(report: Report) -> Iterator[tuple[CauseResult | None, list[DeviationResult]]]:
    """What failed, by cause; what is of no cause, MUST before SHOULD before MAY."""
    levels = list(Level)
    for cause, items in report.grouped(_FAIL):
        yield cause, items if cause is not None else sorted(items, key=lambda item: levels.index(item.level))


def _words(item: DeviationResult) -> str:
    required = f"required {item.required}; observed " if item.required else ""
    return f"{required}{item.text} ({many(len(item.cases), 'case')})\n{item.replay}"


def _command(name: str, title: str, message: str) -> str:
    return f"::{name} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# --- the job summary --------------------------------------------------------------------------------


def append_summary(result: Result, path: Path) -> None:
    """Append the summary of ``result`` to ``path``, which may hold those of earlier commands of the step.

    Raises:
        DiskError: the file cannot be written.
    """
    content = step_summary(document(result)).encode("utf-8", "backslashreplace")
    with naming(path), open_end(path) as file:
        write_all(file, content)


def step_summary(report: Report) -> str:
    """``report`` as Markdown: the verdict, the clauses by chapter, and what failed."""
    return "\n".join(_summary(report)) + "\n\n"


def _summary(report: Report) -> Iterator[str]:
    yield f"### Conformance of {in_markdown(report.run.target)}\n"
    yield f"{'❌' if report.failed else '✅'} {in_markdown(report.summary)}\n"
    yield f"{in_markdown(numbers_line(report.run, report.standings))}\n"
    yield from (f"{in_markdown(name)}: {in_markdown(text)}  " for name, text in header(report.run, report.remarks))
    yield f"\n| clauses passed, of those owed | {' | '.join(level.upper() for level in Level)} | not judged |"
    yield f"|---|{'--:|' * len(Level)}--:|"
    rows = summarise(report.standings)
    for row in rows:
        yield f"| {in_markdown(row.chapter)} | {' | '.join(map(_count, row.cells))} | {row.total.not_judged or '–'} |"  # noqa: RUF001  # a dash for an empty cell
    yield from _deviations([item for _, items in _failing(report) for item in items])
    for title, chosen in (
        ("Expected failures", [item for item in report.deviations if item.outcome is Outcome.EXPECTED_FAIL]),
        ("Not judged", [item for item in report.deviations if item.outcome in NOT_JUDGED]),
    ):
        if chosen:
            yield f"\n{title}: {many(len(chosen), 'reason')}; the HTML and JSON reports list them."
    for problem in report.problems:
        yield f"\nExpected failures: {in_markdown(problem.text)}"
    for case in report.broke_on:
        yield f"\nThe suite itself broke on {in_markdown(case)}; the JSON report has the traceback."


def _deviations(failing: list[DeviationResult]) -> Iterator[str]:
    if not failing:
        return
    yield "\n| level | clause | what was observed | cases |\n|---|---|---|--:|"
    room = SUMMARY_BYTES
    for shown, item in enumerate(failing):
        clause = EXPLAINED.get(item.clauses[0])
        name = f"[{in_markdown(item.clauses[0])}]({clause.source})" if clause else in_markdown(item.clauses[0])
        others = f" and {many(len(item.clauses) - 1, 'more clause')}" if len(item.clauses) > 1 else ""
        required = (
            f"{in_markdown(item.text)}<br>required: {in_markdown(item.required)}"
            if item.required
            else in_markdown(item.text)
        )
        observed = f"{required}<br><code>{in_markdown(item.replay)}</code>"
        line = f"| {item.level.upper()} | {name}{others} | {observed} | {len(item.cases)} |"
        room -= len(line.encode("utf-8", "backslashreplace"))
        if room < 0:
            yield f"\nand {len(failing) - shown} more, in the HTML and JSON reports"
            return
        yield line


def _count(cell: Cell) -> str:
    return cell.share or "–"  # noqa: RUF001  # a dash for an empty cell
