"""Asking again where a quota refuses a request, a bounded number of times, and counting how often.

A quota is about who asks and how often, so that nothing of it enters a verdict
(https://cloud.google.com/bigquery/docs/troubleshoot-quotas: retry with exponential backoff).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

from conformance.contain.text import many
from conformance.contract.rpcstatus import TRAILER, retry_delay
from conformance.records import Call, CallEnd
from conformance.targets.service import Service

__all__ = ["LIMITED", "Patience"]

T = TypeVar("T")

LIMITED: Final = frozenset({"quotaExceeded", "rateLimitExceeded", "jobRateLimitExceeded"})
"""Reasons of an error that a later request need not meet (https://cloud.google.com/bigquery/docs/error-messages)."""

MOST_CALLS: Final = 50
"""How often a call is made whose status names a delay. Google's clients go on for hours; the time of a case ends it
earlier, unless the delays are tiny.
"""

UNSERVED_PAUSES: Final = (0.1, 0.13, 0.169)
"""Seconds before a call that ended in UNAVAILABLE, without a delay, is made again: the first pauses of the policy that
is published for the three methods (bigquerystorage_grpc_service_config.json). Google's clients go on for hours. The
last answer stands: a server that never serves is no better for it.
"""

_MOVED: Final = "the connection broke: Stream removed (GOAWAY received; Error code: 0;"
"""In the text of grpcio: the server closes the connection without an error, and has not begun with this call. Of a call
that it had begun, the text names the end of the socket in front of the GOAWAY.
"""


class Patience:
    """Waits between requests as ``service`` says; without one, nothing is asked again.

    ``tries`` is how often a request may be sent again. ``again`` counts the requests that were sent again, ``given_up``
    those that a quota refused to the end. ``delayed`` counts the calls that were made again after a delay that the
    server had named, and that were not refused by the quota of a ``service``. ``moved`` counts those that were made
    again over another connection, because the server had closed theirs before it began with them. ``unserved`` counts
    those that were made again because the server was UNAVAILABLE and named no delay.
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
        self.delayed = 0
        self.moved = 0
        self.unserved = 0

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

    def make(self, call: Callable[[], Call], until: float) -> Call:
        """What ``call`` returns, made again while its status names a delay (``google.rpc.RetryInfo``), as Google's
        clients do: at most :data:`MOST_CALLS` times, and never with a wait beyond ``until`` on the monotonic clock.

        A call that the target ends in UNAVAILABLE is made again after each of the :data:`UNSERVED_PAUSES`; one that the
        suite has broken is not *complete*.

        A server may close a connection at any time. A call that came too late for it was not begun, and gRPC makes it
        again (https://github.com/grpc/proposal/blob/master/A6-client-retries.md#transparent-retries).
        """
        made = call()
        pauses = iter(UNSERVED_PAUSES)
        for _ in range(MOST_CALLS - 1):
            seconds = 0.0 if _is_moved(made) else _delay(made)
            if unserved := seconds is None and _is_unserved(made):
                seconds = next(pauses, None)
            if seconds is None or time.monotonic() + seconds >= until:
                break
            self._wait(seconds)
            self._count(made, unserved=unserved)
            made = call()
        return made

    def _count(self, refused: Call, *, unserved: bool) -> None:
        if _is_moved(refused):
            self.moved += 1
        elif unserved:
            self.unserved += 1
        elif self.tries and refused.status == "RESOURCE_EXHAUSTED":
            self.again += 1
        else:
            self.delayed += 1

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
        said = []
        if self.again or self.given_up:
            counts = f"{self.again} sent again, {self.given_up} given up"
            said.append(f"requests that a quota or rate limit refused: {counts}; no verdict rests on such a refusal")
        if self.delayed:
            said.append(f"made again after the delay that the server named (RetryInfo): {many(self.delayed, 'call')}")
        if self.unserved:
            said.append(f"made again after UNAVAILABLE, as Google's clients do: {many(self.unserved, 'call')}")
        if self.moved:
            said.append(f"made again because the server had closed the connection (GOAWAY): {many(self.moved, 'call')}")
        return tuple(said)


def _is_moved(call: Call) -> bool:
    return call.end is CallEnd.CRASH and not call.responses and _MOVED in call.details


def _is_unserved(call: Call) -> bool:
    # A read that breaks off after some rows is no such call: what came would not be judged.
    return call.end is CallEnd.COMPLETE and call.status == "UNAVAILABLE" and not call.responses


def _delay(call: Call) -> float | None:
    """The seconds to wait before a call is made again; None if its answer stands."""
    if call.end is not CallEnd.COMPLETE or call.status == "OK":
        return None
    return next((retry_delay(entry.value) for entry in call.trailers if entry.key == TRAILER), None)
