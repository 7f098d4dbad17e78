"""Calls of Arrow Flight at the same time: they begin together, and are open together.

A call that sends a table has sent its first message before any of the calls goes on, and sends its last one after each
of the others is as far, or over.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

__all__ = ["ALONE", "MeetingPoint", "at_once"]

SECONDS: Final = 2.0
"""The longest that a call waits for those that are made at the same time."""


class MeetingPoint:
    """Where so many calls wait for each other; one that is alone does not wait."""

    def __init__(self, calls: int) -> None:
        self._barrier = threading.Barrier(calls)

    def wait(self) -> None:
        """Wait until the other calls are here, or one of them is over."""
        with contextlib.suppress(threading.BrokenBarrierError):
            self._barrier.wait(SECONDS)

    def end(self) -> None:
        """Let the others go on: nobody waits for a call that is over, or that was not made."""
        self._barrier.abort()

    def messages(self, messages: Sequence[bytes]) -> Iterator[bytes]:
        """The messages of a call, which waits after the first and before the last of them."""
        yield from messages[:1]
        self.wait()
        yield from messages[1:-1]
        if len(messages) > 1:
            self.wait()
            yield messages[-1]


ALONE: Final = MeetingPoint(1)
"""The meeting of a call that is made by itself."""


def at_once(parts: Sequence[Callable[[MeetingPoint], bool]]) -> list[bool]:
    """What each part returns; they run at the same time, and their calls meet."""
    meeting = MeetingPoint(len(parts))

    def carry_out(part: Callable[[MeetingPoint], bool]) -> bool:
        try:
            return part(meeting)
        finally:
            meeting.end()

    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(carry_out, parts))
