"""The report files that a command writes in addition to its printed report."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

import click

from conformance.cli._options import FILE, FOLDER
from conformance.contain.text import safe
from conformance.disk.files import DiskError
from conformance.engine.result import Result
from conformance.engine.session import last_log, own_file
from conformance.report.overview import print_concise, print_overview
from conformance.report.terminal import print_report, terminal

__all__ = ["Outputs", "all_option", "conclude", "open_page", "output_options", "print_result", "reported", "tell"]


SCREEN, CONCISE, COMPLETE = "screen", "concise", "complete"
"""How much of a report is printed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Outputs:
    """The path for each report format; None for a format that was not requested.

    ``shown`` says how much of the report is on the screen, empty if the user did not. With ``github``, annotations
    are printed before the report. ``step_summary`` is the file to which the summary for the job is appended. With
    ``opened``, a browser shows the HTML report at the end.
    """

    junit: Path | None = None
    json: Path | None = None
    html: Path | None = None
    badge: Path | None = None
    badges: Path | None = None
    sarif: Path | None = None
    step_summary: Path | None = None
    github: bool = False
    shown: str = ""
    opened: bool = False

    @property
    def of_one(self) -> tuple[str, ...]:
        """The requested files that hold the report of a single run, and no page of several."""
        return tuple(kind for kind in ("junit", "json", "sarif", "badge", "badges") if getattr(self, kind) is not None)

    @property
    def of_each(self) -> Outputs:
        """What is made for each run of several: nothing that would be written over by the next."""
        return Outputs(step_summary=self.step_summary, github=self.github, shown=self.shown)

    def write(self, result: Result) -> list[DiskError]:
        """Write every requested file; returns an error for each file that could not be written."""
        failures = []
        for kind, (module, name) in _WRITERS.items():
            path: Path | None = getattr(self, kind)
            if path is not None:
                try:
                    getattr(importlib.import_module(module), name)(result, path)
                except DiskError as error:
                    failures.append(error)
        return failures


_WRITERS: Final = {
    "junit": ("conformance.report.junit", "write_junit"),
    "json": ("conformance.report.document", "write_json"),
    "html": ("conformance.report.html", "write_html"),
    "badge": ("conformance.report.badge", "write_badge"),
    "badges": ("conformance.report.badges", "write_badges"),
    "sarif": ("conformance.report.sarif", "write_sarif"),
    "step_summary": ("conformance.report.github", "append_summary"),
}
"""The function that writes each format; its module is loaded only when the format is requested."""


def reported(result: Result, outputs: Outputs, run: Path | None = None, *, line: str = "") -> list[DiskError]:
    """Write every requested file, then print the report; returns an error for each output that could not be written.

    ``run`` is the log of the result, if there is one file that is. A ``line`` is printed above the report, and in its
    place unless the user said how much of it to show: it is one of several.

    The files come first, so that closing standard output (``| head``) does not prevent one.
    """
    failures: list[DiskError] = []
    if outputs.opened and outputs.html is None:
        try:
            outputs = dataclasses.replace(outputs, html=own_file(f"{'report' if run is None else run.stem}.html"))
        except DiskError as error:
            failures.append(error)
    failures += outputs.write(result)
    failures += _printed(result, outputs, run, line)
    if outputs.opened and outputs.html is not None and outputs.html.is_file():
        open_page(outputs.html)
    return failures


def open_page(page: Path) -> None:
    """Show a page in a browser, and say where it is.

    Some browsers come back when they are closed, and hold the output until then. A job, which has no terminal, opens
    none.
    """
    import webbrowser  # noqa: PLC0415  # only here

    if not _has_terminal():
        remark = " (there is no terminal here, so no browser is opened)"
    else:
        remark = "" if webbrowser.open(page.absolute().as_uri()) else " (no browser was found here)"
    click.echo(f"page: {page}{remark}", err=True)


def _has_terminal() -> bool:
    return any(stream and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def print_result(result: Result, *, complete: bool = False, shown: str = "", run: Path | None = None) -> None:
    """Print as much of a result as ``shown`` says, or all of it; ``run`` is its log."""
    if complete or shown == COMPLETE:
        print_report(terminal(), result)
    elif shown == CONCISE:
        print_concise(terminal(), result)
    else:
        print_overview(terminal(), result, run=None if run is None else "" if _is_last(run) else str(run))


def _is_last(run: Path) -> bool:
    """True if ``conformance explain`` takes this log without being given its path."""
    last = last_log()
    return last is not None and run.exists() and last.samefile(run)


def tell(line: str) -> None:
    """Print a line about a result. Where nobody reads on, the status still says what was found."""
    with suppress(BrokenPipeError):
        click.echo(line)


def _printed(result: Result, outputs: Outputs, run: Path | None, line: str) -> list[DiskError]:
    try:
        if outputs.github:
            # Before the report, so that the verdict stays the last line.
            from conformance.report.document import document  # noqa: PLC0415  # only here
            from conformance.report.github import annotation_commands  # noqa: PLC0415  # only here

            for command in annotation_commands(document(result)):
                click.echo(command)
        if line:
            click.echo(line)
        if outputs.shown or not line:
            print_result(result, shown=outputs.shown, run=run)
    except BrokenPipeError:  # nobody reads on: the status still says what was found
        return []
    except OSError as error:
        return [DiskError(error.errno or 0, error.strerror or str(error), "standard output")]
    return []


def conclude(failures: Iterable[Exception | None], *, fails: bool) -> NoReturn:
    """Report what could not be written or removed, and exit: with 2 if there is any, else by the verdict."""
    said = [f"Error: {safe(str(failure))}" for failure in failures if failure is not None]
    for line in said:
        click.echo(line, err=True)
    sys.exit(2 if said else int(fails))


all_option = click.option(
    "--all",
    "--verbose",
    "complete",
    is_flag=True,
    help="Print the complete report, not only its first screen.",
)
_format_option = click.option(
    "--format",
    "shown_as",
    type=click.Choice([SCREEN, CONCISE, COMPLETE]),
    help="Print the first screen, a line for each cause, or the complete report (as --all does).",
)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options for report files, for GitHub and ``--all``, as one argument ``outputs``."""

    @click.option("--junit", metavar="FILE", type=FILE, help="Write JUnit XML.")
    @click.option("--json", "json_", metavar="FILE", type=FILE, help="Write the JSON report.")
    @click.option("--html", metavar="FILE", type=FILE, help="Write the HTML report, one self-contained file.")
    @click.option(
        "--open",
        "opened",
        is_flag=True,
        help="Show the HTML report in a browser, if one is made; it is in .conformance unless --html is given.",
    )
    @click.option("--sarif", metavar="FILE", type=FILE, help="Write SARIF 2.1.0.")
    @click.option("--badge", metavar="FILE", type=FILE, help="Write an SVG badge.")
    @click.option("--badges", metavar="DIR", type=FOLDER, help="Write an SVG badge for each profile of a server.")
    @click.option(
        "--github/--no-github",
        default=None,
        help="Annotate the job of GitHub Actions, and append to its summary; on by default in such a job.",
    )
    @all_option
    @_format_option
    @functools.wraps(function)
    def with_outputs(
        *,
        junit: Path | None,
        json_: Path | None,
        html: Path | None,
        sarif: Path | None,
        opened: bool,
        badge: Path | None,
        badges: Path | None,
        github: bool | None,
        complete: bool,
        shown_as: str | None,
        **arguments: Any,
    ) -> Any:
        if github is None:
            github = os.environ.get("GITHUB_ACTIONS") == "true"
        summary = os.environ.get("GITHUB_STEP_SUMMARY") if github else None
        shown = COMPLETE if complete else shown_as or ""
        written = Path(summary) if summary else None
        outputs = Outputs(junit, json_, html, badge, badges, sarif, written, github, shown, opened)
        return function(outputs=outputs, **arguments)

    return with_outputs
