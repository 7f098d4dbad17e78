"""What a command prints and writes that judged several implementations in one call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
from rich.console import Console

from conformance.cli._outputs import Outputs
from conformance.engine.result import Result
from conformance.report.summary import verdict_line
from conformance.report.terminal import print_report

__all__ = ["keep", "tell"]


def keep(name: str, result: Result, reports: Path | None) -> None:
    """Write the reports on one implementation into the folder ``reports``, if there is one, named after it."""
    if reports is not None:
        files = {kind: reports / f"{name}.{kind}" for kind in ("json", "html", "svg")}
        Outputs(json=files["json"], html=files["html"], badge=files["svg"]).write(result)


def tell(results: Mapping[str, Result], outputs: Outputs) -> None:
    """The report in full where there is one implementation, a line for each where there are several.

    ``outputs`` are the files of a single report.
    """
    width = max(map(len, results), default=0)
    for name, result in results.items():
        if len(results) == 1:
            print_report(Console(soft_wrap=True), result)
            outputs.write(result)
        else:
            click.echo(f"{name:<{width}}  {result.start.target}: {verdict_line(result)}")
