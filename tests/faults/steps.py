"""Steps that several faults share: rows that know their place in the table, responses that are made one by one."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from conformance.protocols.storage_read.reference.service import MAX_RESPONSE_BYTES, RESPONSE_BYTES, ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.reference.statuses import Reason

__all__ = ["ROW", "RUN", "Placed", "Stepwise", "places"]

ROW: Final = "\0row"
RUN: Final = "\0run"


class Placed(ReadService):
    """A correct service whose streams keep, in two columns that it never serves, each row's place in the table and the
    place where the stream's run begins.
    """

    def rows_of_run(self, rows: pa.Table, mask: pa.BooleanArray | None, start: int, stop: int) -> pa.Table:
        """The rows of one stream, with their places."""
        numbers = pa.array(np.arange(rows.num_rows))
        begins = pa.array(np.full(rows.num_rows, start))
        return super().rows_of_run(rows.append_column(ROW, numbers).append_column(RUN, begins), mask, start, stop)


def places(rows: pa.Table, column: str = ROW) -> Any:
    """The places of the rows of a stream, as a numpy array."""
    return rows.column(column).to_numpy()


class Stepwise(ReadService):
    """A correct service with a step that makes one response from any place in a stream."""

    def part_at(self, stream: Stream, start: int, limit: int) -> pa.RecordBatch:
        """Up to ``limit`` rows from ``start`` on, as the session serves them."""
        part = self.serve(stream.session, stream.rows.slice(start, limit))
        while part.nbytes > RESPONSE_BYTES and part.num_rows > 1:
            part = part.slice(0, part.num_rows // 2)
        if part.nbytes > MAX_RESPONSE_BYTES:
            self.refuse(Reason.ROW_TOO_LARGE, stream=stream.name, row=start, maximum=MAX_RESPONSE_BYTES)
        return part
