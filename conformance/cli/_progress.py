"""The progress of a command, on standard error: a bar on a terminal, a line every ten seconds anywhere else.

A thread shows it, so that a command that waits (for a target to start, for Spark) is seen to be alive, too. Nothing is
shown within the first ten seconds without a terminal, or with ``--quiet``.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from conformance.contain.text import safe

if TYPE_CHECKING:
    from conformance.engine.events import Event

__all__ = ["Progress", "progress", "quiet_option", "repeated", "watch"]

F = TypeVar("F", bound=Callable[..., Any])

SECONDS: Final = 10.0
"""Seconds between two lines: a build service that ends silent jobs waits for minutes."""
_REFRESH: Final = 0.2
"""Seconds between two updates of the bar."""
_QUIET: Final = "conformance.quiet"
_WIDTH: Final = 40


def quiet_option(function: F) -> F:
    """Give a command the option ``--quiet``; :func:`progress` looks it up."""

    def keep(context: click.Context, _parameter: click.Parameter, given: bool) -> None:  # noqa: FBT001  # click's signature
        context.meta[_QUIET] = given

    help_ = "Show no progress on standard error."
    given = click.option(
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=keep,
        envvar="CONFORMANCE_QUIET",
        show_envvar=True,
        help=help_,
    )
    return given(function)


class Progress:
    """What a command is doing, and how far it is; ``total`` is None if that is not known.

    ``measure`` gives the number of things done, if nobody calls :meth:`update` for each.
    """

    def __init__(
        self,
        what: str,
        total: int | None = None,
        *,
        measure: Callable[[], int] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.what, self.done, self.total, self.facts = what, 0, total, ""
        self._measure = measure
        self._clock = clock
        self._began = clock()
        self._first: tuple[float, int] | None = None

    def update(
        self, what: str | None = None, *, done: int | None = None, total: int | None = None, facts: str | None = None
    ) -> None:
        """Note what has changed."""
        self.what = self.what if what is None else what
        self.total = self.total if total is None else total
        self.facts = self.facts if facts is None else facts
        if done is not None:
            self.done = done
            # A rate over what this command did: an earlier one may have done the first part, and starting takes time.
            self._first = self._first or (self._clock(), done)

    def line(self) -> str:
        """The progress in one line of printable text."""
        parts = [f"{self._clock() - self._began:.0f} s", safe(self.what[:_WIDTH])]
        return ", ".join(part for part in (*parts, self.count(), self.rate(), self.facts) if part)

    def count(self) -> str:
        """How much is done, of how much; empty if nothing is counted."""
        if self._measure is not None:
            self.update(done=self._measure())
        if not self.total:
            return str(self.done or "")
        return f"{self.done} of {self.total} ({100 * self.done // self.total} %)"

    def rate(self) -> str:
        """Things a second, and the time left at this rate; empty if it is not known yet."""
        at, before = self._first or (0.0, 0)
        seconds = self._clock() - at
        if self._first is None or self.done <= before or seconds <= 0:
            return ""
        speed = (self.done - before) / seconds
        left = f", about {(self.total - self.done) / speed:.0f} s left" if self.total and self.total > self.done else ""
        return f"{speed:.1f}/s{left}"


@contextmanager
def progress(what: str, total: int | None = None, *, measure: Callable[[], int] | None = None) -> Iterator[Progress]:
    """Show the progress of the work inside; the command updates the object that it gets."""
    state = Progress(what, total, measure=measure)
    context = click.get_current_context(silent=True)
    with ExitStack() as stack:
        if context is None or not context.meta.get(_QUIET):
            show = _bar if sys.stderr is not None and sys.stderr.isatty() else _lines
            stack.enter_context(show(state))
        yield state


def _lines(state: Progress) -> AbstractContextManager[None]:
    return repeated(lambda: click.echo(state.line(), err=True), SECONDS)


@contextmanager
def _bar(state: Progress) -> Iterator[None]:
    # Only here: rich belongs to an extra, and takes a while to load.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    texts = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[facts]}", markup=False)
    columns = texts[0], BarColumn(), MofNCompleteColumn(), texts[1], TimeElapsedColumn()
    with Bar(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(safe(state.what)[:_WIDTH], total=state.total, facts="")

        def show() -> None:
            state.count()
            facts = ", ".join(part for part in (state.rate(), state.facts) if part)
            described = safe(state.what)[:_WIDTH]
            bar.update(task, description=described, completed=state.done, total=state.total, facts=facts, refresh=True)

        show()
        with repeated(show, _REFRESH):
            yield


@contextmanager
def repeated(
    show: Callable[[], object], seconds: float, *, wait: Callable[[threading.Event, float], bool] = threading.Event.wait
) -> Iterator[None]:
    """Call ``show`` every so many seconds in another thread, until the work inside ends.

    ``wait`` returns True if the event that ends it was set within the seconds.
    """
    ended = threading.Event()

    def run() -> None:
        while not wait(ended, seconds):
            try:
                show()
            except (OSError, ValueError):  # standard error was closed: the command goes on without it
                return

    thread = threading.Thread(target=run, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def watch(events: Iterable[Event], shown: Progress, *, total: int | None) -> Iterator[Event]:
    """Yield ``events`` unchanged, and count the cases that they judge."""
    from conformance.engine.events import CaseJudged, CounterexampleSaved  # noqa: PLC0415  # most commands have none

    failures = judged = 0
    shown.update("running", total=total)
    for event in events:
        if isinstance(event, CaseJudged):
            judged += 1
            failures += any(verdict.outcome.fails_run for verdict in event.verdicts)
            facts = f"{failures} failing" if failures else ""
            shown.update(event.case_id, done=judged, facts=facts)
        elif isinstance(event, CounterexampleSaved):
            shown.update(f"shrunk {event.clause}")
        yield event
