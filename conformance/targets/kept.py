"""A server or program that is kept between cases, and started again after it was discarded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from conformance.targets.targeterrors import TargetUnavailable

__all__ = ["Kept"]


class _Running(Protocol):
    def close(self, *, grace: float) -> None: ...


R = TypeVar("R", bound=_Running)


class Kept(Generic[R]):
    """The result of ``start``, kept until it is discarded; after a failed second start there is no third.

    ``noun`` names it in the error message.

    Raises:
        TargetUnavailable: The first start failed.
    """

    def __init__(self, noun: str, start: Callable[[], R]) -> None:
        self._noun = noun
        self._start = start
        self._gone = ""
        self.now: R | None = start()

    def discard(self, *, grace: float) -> None:
        """End it, after ``grace`` seconds in which it may end by itself."""
        if self.now is not None:
            self.now.close(grace=grace)
        self.now = None

    def ready(self) -> R:
        """The running server or program, started again if it was discarded.

        Raises:
            TargetUnavailable: A second start failed, in this call or an earlier one.
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
