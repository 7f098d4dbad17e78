"""A server or program that is kept from case to case, and started again where it has gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from conformance.targets.errors import TargetUnavailable

__all__ = ["Kept"]


class _Running(Protocol):
    def close(self, *, grace: float) -> None: ...


R = TypeVar("R", bound=_Running)


class Kept(Generic[R]):
    """What ``start`` started, kept until it is discarded; one that does not start again is not tried a third time.

    ``noun`` names it in the text that says so.

    Raises:
        TargetUnavailable: It did not start, the first time included.
    """

    def __init__(self, noun: str, start: Callable[[], R]) -> None:
        self._noun = noun
        self._start = start
        self._gone = ""
        self.now: R | None = start()

    def discard(self, *, grace: float) -> None:
        """End it, with so many seconds to end by itself."""
        if self.now is not None:
            self.now.close(grace=grace)
        self.now = None

    def ready(self) -> R:
        """What runs, started again where it was discarded.

        Raises:
            TargetUnavailable: It did not start again, now or before.
        """
        if self._gone:
            raise TargetUnavailable(self._gone)
        if self.now is None:
            try:
                self.now = self._start()
            except TargetUnavailable as error:
                self._gone = f"the {self._noun} did not start again: {error}"
                raise TargetUnavailable(self._gone) from None
        return self.now
