"""Where in a stream a symbolic offset lies, worked out from an earlier whole read of the same stream.

Nothing but the protobuf counters is decoded: ``row_count`` of each response, and where a target leaves it 0, the
deprecated counter inside the payload. Where that is 0 too, the rows per response are unknown; then the end is known
only if the stream has to hold exactly the rows that the case put into the table (one stream, no restriction),
and the places within a response are known only if there was a single one.
A place that stays unknown, or that the stream does not have, is None: the step does not apply.
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
    """A stream's rows as a whole read showed them: ``counts`` per response, ``total``; None where unknown."""

    counts: tuple[int, ...] | None
    total: int | None

    def place(self, offset: str) -> int | None:
        """The row that a symbolic ``offset`` means, None where the stream has no such place."""
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
        """The middle row of the longest response: as far as can be from either of its ends."""
        if not self.counts or max(self.counts) < 2:
            return None
        longest = self.counts.index(max(self.counts))
        before = list(accumulate(self.counts, initial=0))[longest]
        return before + self.counts[longest] // 2


def extent_of(responses: Sequence[bytes], *, rows: int | None) -> Extent:
    """The extent that a whole read's ``responses`` show; ``rows`` is what the stream has to hold, where known."""
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
