"""Calls between two others of a recording, which may change what is served."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable

from conformance.records import Call

__all__ = ["Writes"]


class Writes:
    """Calls that may change what is served, in the order of their start."""

    def __init__(self, calls: Iterable[Call]) -> None:
        found = list(calls)
        self._starts = [call.started for call in found]
        self._ends = list(itertools.accumulate((call.started + call.seconds for call in found), max))

    def between(self, began: float, until: Call) -> bool:
        """True if one of them ran at some time from ``began`` to the end of the call ``until``."""
        before = bisect.bisect_right(self._starts, until.started + until.seconds)
        return before > 0 and self._ends[before - 1] >= began
