"""Asking again where a quota refuses a request, a bounded number of times, and counting how often.

A quota is about who asks and how often, so that nothing of it enters a verdict
(https://cloud.google.com/bigquery/docs/troubleshoot-quotas: retry with exponential backoff).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

from conformance.targets.service import Service

__all__ = ["LIMITED", "Patience"]

T = TypeVar("T")

LIMITED: Final = frozenset({"quotaExceeded", "rateLimitExceeded", "jobRateLimitExceeded"})
"""Reasons of an error that a later request need not meet (https://cloud.google.com/bigquery/docs/error-messages)."""


class Patience:
    """Waits between requests as ``service`` says; without one, nothing is asked again.

    ``tries`` is how often a request may be sent again. ``again`` counts the requests that were sent again, ``given_up``
    those that a quota refused to the end.
    """

    def __init__(
        self,
        service: Service | None,
        *,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self.tries = 0 if service is None else service.retries
        self._pause = 0.0 if service is None else service.pause
        self._wait = wait or threading.Event().wait
        self.again = 0
        self.given_up = 0

    def pause(self, tried: int, until: float) -> bool:
        """Wait after the request number ``tried`` (from 0) was refused; false if it should not be sent again.

        No wait goes beyond ``until`` on the monotonic clock.
        """
        seconds = self._pause * 2.0**tried
        if tried >= self.tries or time.monotonic() + seconds >= until:
            self.given_up += self.tries > 0
            return False
        self._wait(seconds)
        self.again += 1
        return True

    def ask(self, send: Callable[[], T], *, limited: Callable[[Exception], bool], until: float) -> T:
        """What ``send`` returns, called again while ``limited`` says that a quota was the reason why it raised."""
        tried = 0
        while True:
            try:
                return send()
            except Exception as error:
                if not limited(error) or not self.pause(tried, until):
                    raise
            tried += 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a report says about it."""
        if not self.again and not self.given_up:
            return ()
        counts = f"{self.again} sent again, {self.given_up} given up"
        return (f"requests that a quota or rate limit refused: {counts}; no verdict rests on such a refusal",)
