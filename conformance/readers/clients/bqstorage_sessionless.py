"""google-cloud-bigquery-storage: ``client.read_rows(stream).to_arrow()``, which needs the schema in the responses."""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.clients import _session
from conformance.readers.fullread import FullRead

INFO = _session.client_info(
    name="bqstorage.to-arrow-sessionless",
    title="the official Python client, without the session: to_arrow()",
)


def read(whole: FullRead) -> pa.Table:
    """Read each stream against the schema in its first response; a stream without responses has no columns."""
    made = _session.each_stream(whole, lambda rows, _: rows.to_arrow())
    tables = [table for table in made if table.num_columns] or made[:1]
    return pa.concat_tables(tables) if tables else pa.table({})


load = _session.loading(read)
