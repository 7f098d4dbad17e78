"""What is left of the limits of a case: the time and the bytes of its calls."""

from __future__ import annotations

import dataclasses
import time
from typing import Final

import pyarrow as pa

from conformance.records import Call, CallEnd
from conformance.targets.calls import CallBudget
from conformance.targets.spec import Deadlines, Limits, extra_seconds

__all__ = ["Allowance", "call_budget", "late"]

SPARE_RESPONSES: Final = 1000
"""Responses permitted beyond two per row: enough to record a defect of empty responses with its end."""


def call_budget(table: pa.Table, deadlines: Deadlines, limits: Limits) -> CallBudget:
    """The limits of one call of a case with that table."""
    return CallBudget(
        seconds=deadlines.call + extra_seconds(table.nbytes),
        responses=2 * table.num_rows + SPARE_RESPONSES,
        bytes=limits.of_call(table.nbytes),
    )


class Allowance:
    """The limits of a case: ``budget`` is that of one call, ``until`` the case's deadline on the monotonic clock, and
    ``case_bytes`` the number of bytes that all responses of the case may have.
    """

    def __init__(self, budget: CallBudget, *, until: float, case_bytes: int) -> None:
        self._budget = budget
        self._until = until
        self._bytes = case_bytes

    def left(self) -> CallBudget | None:
        """The budget of one call, limited to what is left; None if the case's time is used up."""
        seconds = min(self._budget.seconds, self._until - time.monotonic())
        if seconds <= 0:
            return None
        return CallBudget(seconds, self._budget.responses, min(self._budget.bytes, max(0, self._bytes)))

    def count(self, call: Call) -> None:
        """Take the responses of a call off what is left.

        After a call with more than any answer, all others together may have what one may have: a target without measure
        would otherwise have it kept as often as the case calls.
        """
        self._bytes -= sum(map(len, call.responses))
        if call.end is CallEnd.OVER_BUDGET:
            self._bytes = min(self._bytes, self._budget.bytes)


def late(call: Call) -> Call:
    """A call that was not made, because the case's time was used up."""
    said = "the case's deadline had passed before this call could be made"
    return dataclasses.replace(call, status="", details=said, end=CallEnd.DEADLINE)
