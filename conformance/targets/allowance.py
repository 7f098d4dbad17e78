"""What is left of the limits of a case: the time and the bytes of its calls."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from conformance.records import Call, CallEnd, Case
from conformance.targets.ranges import DAY
from conformance.targets.recordedcall import CallBudget
from conformance.targets.spec import Deadlines, Limits, extra_seconds

__all__ = ["OUT_OF_BYTES", "OUT_OF_TIME", "Allowance", "UsedUpError", "call_budget", "unreached"]

OUT_OF_TIME: Final = (
    "the case's time (deadlines.case) was used up by calls of which each ended within its own deadline;"
    " the calls after them were not made, and --deadline-multiplier gives them time"
)
OUT_OF_BYTES: Final = (
    "the case's bytes (limits.case) were used up by calls of which each was within its own limit;"
    " the calls after them were not made"
)

SPARE_RESPONSES: Final = 1000
"""Responses permitted beyond two per row: enough to record a defect of empty responses with its end."""


def call_budget(table: pa.Table, deadlines: Deadlines, limits: Limits) -> CallBudget:
    """The limits of one call of a case with that table."""
    return CallBudget(
        seconds=min(deadlines.call, deadlines.case) + extra_seconds(table.nbytes),
        responses=2 * table.num_rows + SPARE_RESPONSES,
        bytes=min(limits.of_call(table.nbytes), limits.case),
    )


class UsedUpError(Exception):
    """The limits of a case were used up before a call could be made; the text says which."""


class Allowance:
    """The limits of a case: ``budget`` is that of one call, ``until`` the case's deadline on the monotonic clock, and
    ``case_bytes`` the number of bytes that all responses of the case may have.

    No call begins beyond the limits of the case, and a call that began has all of its own: otherwise a server would be
    said to hang because of the calls before. One whose responses keep coming has the rest of the case's time.
    """

    def __init__(self, budget: CallBudget, *, until: float, case_bytes: int) -> None:
        self._budget = budget
        self._until = until
        self._bytes = case_bytes

    def left(self) -> CallBudget:
        """The budget of the next call.

        Raises:
            UsedUpError: no further call may be made.
        """
        rest = self._until - time.monotonic()
        if rest <= 0:
            raise UsedUpError(OUT_OF_TIME)
        if self._bytes <= 0:
            raise UsedUpError(OUT_OF_BYTES)
        return dataclasses.replace(self._budget, longest=max(self._budget.seconds, min(rest, DAY)))

    def count(self, call: Call) -> None:
        """Take the responses of a call off what is left.

        After a call with more than any answer, all others together may have what one may have: a target without measure
        would otherwise have it kept as often as the case calls.
        """
        self._bytes -= sum(map(len, call.responses))
        if call.end is CallEnd.OVER_BUDGET:
            self._bytes = min(self._bytes, self._budget.bytes)


def unreached(case: Case, calls: Iterable[Call], skipped: Iterable[int], step: int) -> list[int]:
    """The steps from ``step`` on for which no call was made, without those that are ``skipped`` already."""
    known = {call.step for call in calls} | set(skipped)
    return [index for index in range(step, len(case.steps)) if index not in known]
