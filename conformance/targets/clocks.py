"""The clock of a server under test: a case sets it ahead, and it is put back when the case ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from conformance.targets.rest import RestError
from conformance.targets.running import RunningServer
from conformance.targets.spec import Clock

__all__ = ["movable"]


@contextmanager
def movable(
    running: RunningServer, clock: Clock | None, *, lost: Callable[[], None]
) -> Iterator[Callable[[int], bool]]:
    """Give a function that sets the server's clock so many seconds ahead; it returns False if the clock is not set.

    Afterwards the clock is put back. A server that stays in the future is of no use to other cases: then ``lost`` is
    called.
    """
    moved = False

    def ahead(seconds: int) -> bool:
        nonlocal moved
        moved = clock is not None
        return _is_set(running, clock, seconds)

    try:
        yield ahead
    finally:
        if moved and not _is_set(running, clock, 0):
            lost()


def _is_set(running: RunningServer, clock: Clock | None, ahead: int) -> bool:
    if clock is None or running.rest is None:
        return False
    try:
        running.rest.post(clock.rest_path, {"ahead": ahead})
    except RestError:
        return False
    return True
