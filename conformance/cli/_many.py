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

__all__ = ["tell"]


def tell(results: Mapping[str, Result], outputs: Outputs, reports: Path | None) -> None:
    """The report in full where there is one implementation, a line for each where there are several.

    ``outputs`` are the files of a single report; into the folder ``reports`` goes one of each kind for everybody.
    """
    width = max(map(len, results), default=0)
    for name, result in results.items():
        if reports is not None:
            stem = reports / name
            files = {kind: stem.parent / f"{name}.{kind}" for kind in ("json", "html", "svg")}
            Outputs(json=files["json"], html=files["html"], badge=files["svg"]).write(result)
        if len(results) == 1:
            print_report(Console(soft_wrap=True), result)
            outputs.write(result)
        else:
            click.echo(f"{name:<{width}}  {result.start.target}: {verdict_line(result)}")
