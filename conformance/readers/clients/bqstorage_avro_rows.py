"""google-cloud-bigquery-storage: ``rows(session)`` of a session in Avro, row by row.

The client ends a response where fastavro finds the end of the bytes, also inside of a row, without an error
(``_AvroStreamParser.to_rows`` in ``google/cloud/bigquery_storage_v1/reader.py``): the last row of cut bytes is lost.
"""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.avrorows import avro_messages, avro_table
from conformance.readers.clients import _session
from conformance.readers.fullread import FullRead

INFO = _session.client_info(
    name="bqstorage.avro-rows",
    title="the official Python client, row by row in Avro: rows(session)",
    avro=True,
)


def read(whole: FullRead) -> pa.Table:
    """Read each row of each stream; a session without streams gives a table without columns."""
    made = _session.each_stream(whole, lambda rows, session: list(rows.rows(session)))
    given = [row for rows in made for row in rows]
    return avro_table(given, avro_messages(whole).schema) if made else pa.table({})


load = _session.loading(read)
