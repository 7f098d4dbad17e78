"""A fault plan: what happens to which calls between a client and a server, as data."""

from __future__ import annotations

import math
from typing import Final

from conformance._codec import RecordError
from conformance.contain.text import keep_safe, many
from conformance.records.base import record
from conformance.records.closed import FaultKind

__all__ = ["FaultPlan", "PlannedFault"]

CODES: Final = (
    *("CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"),
    *("PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED"),
    *("INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"),
)
"""The gRPC statuses that a call can end in besides OK (https://grpc.io/docs/guides/status-codes/)."""


LONGEST_DURATION: Final = 315_576_000_000
"""The most seconds of a google.protobuf.Duration
(https://github.com/protocolbuffers/protobuf/blob/main/src/google/protobuf/duration.proto)."""

LONGEST_DELAY: Final = 86_400
"""The most seconds of a delay, as of a deadline in a target file; clocks refuse much longer ones."""
MOST: Final = 2**63 - 1
"""The highest count: of no exchange there is more, and logs keep what fits into 64 bits."""


@record
class PlannedFault:
    """One instruction of a plan: ``kind`` happens to one call, after some of its responses were passed on.

    ``call`` counts the calls of ``method`` from 0, separately for each stream: 0 is the first read of a stream, 1 the
    one that resumes it. ``stream`` is a stream's place in the order in which streams were first asked for; without it
    the fault happens on every stream. It happens after ``responses`` responses. A connection can also break after
    ``bytes`` bytes of messages, with their five bytes of prefix each, in the middle of a message.

    A STATUS ends the call with ``code`` and ``details``. With ``retry_after``, the trailers say in
    ``google.rpc.RetryInfo`` that the call may be made again after so many seconds. A DELAY takes ``seconds`` of the
    plan's clock. A DEADLINE passes after ``seconds``.
    """

    kind: FaultKind
    method: str = "ReadRows"
    stream: int | None = None
    call: int = 0
    responses: int = 0
    bytes: int | None = None
    code: str = "UNAVAILABLE"
    details: str = "a fault of the plan"
    retry_after: float | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        keep_safe(self, "details")
        if self.code not in CODES:
            raise RecordError("code", f"one of {', '.join(CODES)}", self.code)
        for name in ("stream", "call", "responses", "bytes", "retry_after", "seconds"):
            if (value := getattr(self, name)) is not None and not 0 <= value < math.inf:
                raise RecordError(name, "a finite number of at least 0", value)
            if isinstance(value, int) and value > MOST:
                raise RecordError(name, f"at most {MOST}", value)
        if self.seconds > LONGEST_DELAY:
            raise RecordError("seconds", f"at most {LONGEST_DELAY}", self.seconds)
        if self.bytes is not None and (self.kind is not FaultKind.RESET or self.responses):
            raise RecordError("bytes", "none, or a fault of kind reset without responses", self.bytes)
        if self.retry_after is not None and self.retry_after > LONGEST_DURATION:
            raise RecordError("retry_after", f"at most {LONGEST_DURATION} seconds", self.retry_after)
        if self.retry_after is not None and self.kind is not FaultKind.STATUS:
            raise RecordError("retry_after", f"none with kind {self.kind}", self.retry_after)

    def __str__(self) -> str:
        what = self.code if self.kind is FaultKind.STATUS else self.kind
        where = many(self.responses, "response") if self.bytes is None else many(self.bytes, "byte")
        return f"{what} after {where}"


@record
class FaultPlan:
    """The instructions for the calls between a client and a server; at most one of them happens to a call."""

    faults: tuple[PlannedFault, ...] = ()
