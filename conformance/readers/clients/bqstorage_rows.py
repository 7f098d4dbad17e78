"""google-cloud-bigquery-storage: ``client.read_rows(stream).rows(session).to_arrow()``, stream by stream."""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.clients import _session
from conformance.readers.fullread import FullRead

INFO = _session.client_info(
    name="bqstorage.rows-to-arrow",
    title="the official Python client, given the session: rows(session).to_arrow()",
)


def read(whole: FullRead) -> pa.Table:
    """Read each stream against the session's schema; a session without streams gives a table without columns."""
    tables = _session.each_stream(whole, lambda rows, session: rows.rows(session).to_arrow())
    return pa.concat_tables(tables) if tables else pa.table({})


load = _session.loading(read)
