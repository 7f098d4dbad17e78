"""The report files that a command writes beside what it prints."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from conformance.engine.result import Result

__all__ = ["Outputs", "output_options"]

_FILE = click.Path(dir_okay=False, path_type=Path)


@dataclasses.dataclass(frozen=True, slots=True)
class Outputs:
    """Where each report format goes; None for a format that was not asked for."""

    junit: Path | None = None
    json: Path | None = None
    html: Path | None = None
    badge: Path | None = None

    def write(self, result: Result) -> None:
        """Write every file asked for; each writer is loaded only then."""
        if self.junit is not None:
            from conformance.report.junit import write_junit  # noqa: PLC0415  # see above

            write_junit(result, self.junit)
        if self.json is not None:
            from conformance.report.document import write_json  # noqa: PLC0415  # see above

            write_json(result, self.json)
        if self.html is not None:
            from conformance.report.html import write_html  # noqa: PLC0415  # see above

            write_html(result, self.html)
        if self.badge is not None:
            from conformance.report.badge import write_badge  # noqa: PLC0415  # see above

            write_badge(result, self.badge)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options ``--junit``, ``--json``, ``--html``, ``--badge``, as one argument ``outputs``."""

    @click.option("--junit", metavar="FILE", type=_FILE, help="Write JUnit XML.")
    @click.option("--json", "json_", metavar="FILE", type=_FILE, help="Write the JSON report.")
    @click.option("--html", metavar="FILE", type=_FILE, help="Write the HTML report, one self-contained file.")
    @click.option("--badge", metavar="FILE", type=_FILE, help="Write an SVG badge.")
    @functools.wraps(function)
    def with_outputs(
        *, junit: Path | None, json_: Path | None, html: Path | None, badge: Path | None, **arguments: Any
    ) -> Any:
        return function(outputs=Outputs(junit, json_, html, badge), **arguments)

    return with_outputs
