"""google-cloud-bigquery-storage: ``client.read_rows(stream).to_arrow()``, which needs the schema in the responses."""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.clients import _session
from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.whole import WholeRead

INFO = ReaderInfo(
    name="bqstorage.to-arrow-sessionless",
    title="the official Python client, not told the session: to_arrow()",
    package=_session.PACKAGE,
    takes=Takes.SERVER,
    schemaless_when_empty=True,
)


def load() -> Read:
    """Import the client and start the replay server."""
    _session.storage_client()
    return read


def read(whole: WholeRead) -> pa.Table:
    """Read each stream against the schema in its first response; a stream without responses has no columns."""
    with _session.without_deprecations():
        session = _session.replayed_session(whole)
        tables = [_session.rows_of(stream.name).to_arrow() for stream in session.streams]
    tables = [table for table in tables if table.num_columns] or tables[:1]
    return pa.concat_tables(tables) if tables else pa.table({})
