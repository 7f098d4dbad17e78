"""Ctrl-C and requests to terminate: the first one ends a command in order, with its results so far, a second one at
once. Which signals these are, and why a command in the background ignores Ctrl-C, is
:mod:`conformance.contain.interrupts`'s.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from conformance.contain.interrupts import ending

if TYPE_CHECKING:
    from conformance.engine.events import Event

__all__ = ["Interrupted", "orderly", "until_interrupted"]


class Interrupted(click.ClickException):
    """The command was interrupted before it had a verdict; the message says what is kept. Exit status 130."""

    exit_code = 130

    def __init__(self, kept: str = "nothing was judged") -> None:
        super().__init__(f"interrupted: {kept}")

    def show(self, file: Any = None) -> None:
        """Print the message without calling it an error."""
        click.echo(self.format_message(), file=file, err=True)


@contextmanager
def orderly() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` on the first SIGINT, SIGTERM, SIGHUP or SIGXCPU inside, and let a second signal of
    the same kind kill.

    The kernel sends SIGXCPU where the processor time is used up (``ulimit -S -t``), and again each second, until it
    kills at the hard limit; so it does not kill here.

    A terminal sends SIGINT to every process of a command, and a parent that ends its shards also sends SIGTERM: both
    together are one request. SIGINT and SIGHUP stay ignored where they were ignored before. The previous handlers are
    restored on exit. Only the main thread receives signals; in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (*ending(), signal.SIGXCPU)}
    heard: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGXCPU:
            signal.signal(number, signal.SIG_DFL)
        heard.append(number)
        if len(heard) == 1:
            raise KeyboardInterrupt

    try:
        for number in before:
            signal.signal(number, end)
        yield
    finally:
        for number, handler in before.items():
            # getsignal() returns None for a handler that was not installed from Python; that one cannot be restored.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def until_interrupted(events: Iterable[Event]) -> tuple[list[Event], bool]:
    """The events of a run, and True if an interrupt ended it early: it then has no last event, and reports say so.

    Raises:
        Interrupted: nothing had been judged by then.
    """
    found: list[Event] = []
    from conformance.engine.events import CaseJudged  # noqa: PLC0415  # most commands have no events

    try:
        for event in events:
            found.append(event)  # noqa: PERF402  # an interrupt must not lose the earlier events
    except KeyboardInterrupt:
        if not any(isinstance(event, CaseJudged) for event in found):
            raise Interrupted from None
        return found, True
    return found, False
