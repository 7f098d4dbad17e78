"""The row of a symbolic offset in a stream, computed from an earlier read of the full stream.

Only the protobuf counters are decoded: ``row_count`` of each response or, if a target leaves it 0, the deprecated
counter inside the payload. If that is 0, too, the rows per response are unknown. Then the end is known only if the
stream must contain exactly the rows that the case put into the table (one stream, no restriction), and positions within
a response are known only if there was a single response.
If a position is unknown, or the stream does not have it, the result is None and the step does not apply.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import accumulate

from google.protobuf.message import DecodeError

from conformance.contract import proto

__all__ = ["Extent", "extent_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class Extent:
    """A stream's rows in a read of the full stream: ``counts`` per response and the ``total``; None if unknown."""

    counts: tuple[int, ...] | None
    total: int | None

    def place(self, offset: str) -> int | None:
        """The row of a symbolic ``offset``; None if it is unknown or the stream does not have it."""
        if offset == "inside":
            return self._inside()
        if offset == "boundary":
            return self.counts[0] if self.counts is not None and len(self.counts) > 1 else None
        if self.total is None:
            return None
        if offset == "last":
            return self.total - 1 if self.total > 0 else None
        return self.total + {"end": 0, "end+1": 1, "end+100": 100}[offset]

    def _inside(self) -> int | None:
        """The middle row of the longest response, as far as possible from both of its ends."""
        if not self.counts or max(self.counts) < 2:
            return None
        longest = self.counts.index(max(self.counts))
        before = list(accumulate(self.counts, initial=0))[longest]
        return before + self.counts[longest] // 2


def extent_of(responses: Sequence[bytes], *, rows: int | None) -> Extent:
    """The extent according to the ``responses`` of a full read; ``rows`` is the required row count, if known."""
    counts = [_count(data) for data in responses]
    known = [count for count in counts if count is not None]
    if len(known) == len(counts):
        return Extent(tuple(known), sum(known))
    if rows is not None and len(counts) == 1:
        return Extent((rows,), rows)
    return Extent(None, rows)


def _count(data: bytes) -> int | None:
    try:
        message = proto.ReadRowsResponse.FromString(data)
    except DecodeError:
        return None
    counters = (message.row_count, message.arrow_record_batch.row_count, message.avro_rows.row_count)
    return next((int(count) for count in counters if count > 0), None)
