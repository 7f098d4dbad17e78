"""The servers that the suite keeps between cases: one that most cases share, and one for the cases that restart it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from conformance.targets.kept import Kept
from conformance.targets.running import RunningServer

__all__ = ["Servers"]


class Servers:
    """The kept servers; ``start`` starts one.

    What a restart spoils stays among the cases with restarts, and each of them needs one start, not two.

    Raises:
        TargetUnavailable: the first server does not start.
    """

    def __init__(self, start: Callable[[], RunningServer]) -> None:
        self._start = start
        self._kept = {False: Kept("server", start)}

    @property
    def shared(self) -> RunningServer | None:
        """The server that most cases share, if it was not given up."""
        return self._kept[False].now

    def ready(self, *, restarted: bool = False) -> RunningServer:
        """The server for a case that restarts it, or for another; started again if the last one has ended.

        Raises:
            TargetUnavailable: it did not start, in this call or an earlier one.
        """
        if restarted not in self._kept:
            self._kept[restarted] = Kept("server", self._start)
        kept = self._kept[restarted]
        if kept.now is not None and kept.now.process is not None and not kept.now.process.running:
            kept.discard(grace=0)
        return kept.ready()

    def give_up(self, running: RunningServer) -> None:
        """End a server, if it is one of these and the suite started it; the next case gets another."""
        for kept in self._kept.values():
            if kept.now is running and running.process is not None:
                kept.discard(grace=0)

    def close(self, *, grace: float) -> None:
        """End the servers, after ``grace`` seconds in which each may end by itself."""
        with ExitStack() as ending:
            for kept in self._kept.values():
                ending.callback(kept.discard, grace=grace)
