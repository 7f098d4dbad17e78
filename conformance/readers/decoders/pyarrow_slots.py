"""pyarrow, given the schema message and each batch message separately, as google-cloud-bigquery-storage does
internally.

Decoding message by message ignores everything after the first message of a slot: an end-of-stream marker or a second
batch.
"""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.fullread import FullRead
from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.messages import messages

INFO = ReaderInfo(
    name="pyarrow.slots",
    title="Arrow C++: read_schema, then read_record_batch for each batch",
    package="pyarrow",
    takes=Takes.MESSAGES,
)


def load() -> Read:
    """The function that reads; pyarrow is always installed."""
    return read


def read(whole: FullRead) -> pa.Table:
    """Decode each message separately."""
    cut = messages(whole)
    schema = pa.ipc.read_schema(pa.py_buffer(cut.schema))
    batches = [pa.ipc.read_record_batch(pa.py_buffer(batch), schema) for batch in cut.batches]
    return pa.Table.from_batches(batches, schema=schema)
