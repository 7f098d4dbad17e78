"""The progress of a run on a terminal: cases done, rate, failures so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn

from conformance.engine.events import CaseJudged, CounterexampleSaved, Event

__all__ = ["progress_bar", "watch"]


def progress_bar(*columns: ProgressColumn) -> Progress:
    """A bar on standard error, on a terminal only: the current task, the count, ``columns``, and the time."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def watch(events: Iterable[Event], *, total: int) -> Iterator[Event]:
    """Yield ``events`` unchanged, with a progress bar on standard error."""
    progress = progress_bar(TextColumn("{task.fields[rate]}"), TextColumn("[red]{task.fields[failures]}"))
    failures = 0
    with progress:
        task = progress.add_task("starting", total=total, rate="", failures="")
        for event in events:
            if isinstance(event, CaseJudged):
                failures += sum(verdict.outcome.fails_run for verdict in event.verdicts)
                speed = progress.tasks[0].speed
                progress.update(
                    task,
                    advance=1,
                    description=event.case_id[:40],
                    rate=f"{speed:.1f}/s" if speed else "",
                    failures=f"{failures} failing" if failures else "",
                )
            elif isinstance(event, CounterexampleSaved):
                progress.update(task, description=f"shrunk {event.clause}"[:40])
            yield event
