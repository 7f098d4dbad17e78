"""fastavro, given the schema and the rows of each response, row by row to the end of the bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conformance.readers.avrorows import RecordedAvro, avro_messages, avro_table
from conformance.readers.fullread import FullRead
from conformance.readers.info import Read, ReaderInfo, Takes

if TYPE_CHECKING:
    import pyarrow as pa

INFO = ReaderInfo(
    name="fastavro.rows",
    title="fastavro: schemaless_reader for each row, to the end of the bytes",
    package="fastavro",
    takes=Takes.MESSAGES,
    avro=True,
)


def load() -> Read:
    """Import fastavro."""
    import fastavro  # noqa: PLC0415  # only a worker imports a library under test

    def rows(recorded: RecordedAvro) -> Iterator[Mapping[str, Any]]:
        schema = fastavro.parse_schema(json.loads(recorded.schema))
        for payload in recorded.payloads:
            source = io.BytesIO(payload)
            while source.tell() < len(payload):
                row: Any = fastavro.schemaless_reader(source, schema, None)
                yield row

    def read(whole: FullRead) -> pa.Table:
        recorded = avro_messages(whole)
        return avro_table(rows(recorded), recorded.schema)

    return read
