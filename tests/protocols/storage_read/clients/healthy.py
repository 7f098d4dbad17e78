"""A healthy situation without a reference server."""

from __future__ import annotations

import pyarrow as pa

from conformance.contract.clientjudging import Situation
from conformance.protocols.storage_read.clients.situations import ROWS, Set, numbers


def healthy() -> Set:
    """One stream of three responses."""
    count = 3 * ROWS
    rows = pa.table({"number": pa.array(range(count), pa.int64()), "text": [f"row {one}" for one in range(count)]})
    title = "one stream serves the table"
    return Set("healthy.numbers", Situation.HEALTHY, title, numbers((3,)), rows, ordered=True)
