"""google-cloud-bigquery-storage: ``client.read_rows(stream).rows(session).to_arrow()``, stream by stream."""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.clients import _session
from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.whole import WholeRead

INFO = ReaderInfo(
    name="bqstorage.rows-to-arrow",
    title="the official Python client, told the session: rows(session).to_arrow()",
    package=_session.PACKAGE,
    takes=Takes.SERVER,
    schemaless_when_empty=True,
)


def load() -> Read:
    """Import the client and start the replay server."""
    _session.storage_client()
    return read


def read(whole: WholeRead) -> pa.Table:
    """Read each stream against the session's schema; a session without streams gives a table without columns."""
    with _session.without_deprecations():
        session = _session.replayed_session(whole)
        tables = [_session.rows_of(stream.name).rows(session).to_arrow() for stream in session.streams]
    return pa.concat_tables(tables) if tables else pa.table({})
