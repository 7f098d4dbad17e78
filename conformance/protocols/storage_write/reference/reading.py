"""The half of the reference that reads: one session with one stream of the rows that are visible when it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import grpc
import pyarrow as pa

from conformance.contract import mapping, proto
from conformance.protocols.storage_write.reference.store import Store, WrittenTable
from conformance.protocols.storage_write.reference.streams import WriteStream
from conformance.reference.serializer import REFERENCE
from conformance.reference.statuses import Refusal

__all__ = ["ReadService"]

LIFETIME: Final = 6 * 3600 * 1_000_000
"""Microseconds for which a session lives."""


class ReadService:
    """BigQueryRead, as far as the rows of a whole table need it."""

    def __init__(self, store: Store) -> None:
        self.store: Final = store
        self.streams: Final[dict[str, WriteStream]] = {}
        self.sessions: Final[dict[str, tuple[pa.Schema, Sequence[pa.Table]]]] = {}

    def create_read_session(self, request: Any) -> Any:
        """CreateReadSession, in Arrow, of a whole table."""
        table = self.store.tables.get(request.read_session.table)
        if table is None:
            raise Refusal(grpc.StatusCode.NOT_FOUND, f"Not found: Table {request.read_session.table}")
        schema = mapping.arrow_schema(table.columns)
        name = f"{request.parent}/locations/us/sessions/{self.store.token()}"
        session = proto.ReadSession(name=name, data_format=proto.DATA_FORMAT["ARROW"], table=request.read_session.table)
        session.expire_time.FromMicroseconds(self.store.now() + LIFETIME)
        session.arrow_schema.serialized_schema = REFERENCE.serialize_schema(schema)
        if chunks := [chunk for chunk in self.seen(table) if chunk.num_rows]:
            stream = f"{name}/streams/{self.store.token()}"
            session.streams.add(name=stream)
            self.sessions[stream] = schema, chunks
        return session

    def seen(self, table: WrittenTable) -> Sequence[pa.Table]:
        """The rows that a session sees, in pieces."""
        return tuple(table.chunks)

    def read_rows(self, request: Any) -> Iterator[Any]:
        """ReadRows, from the first row on."""
        if request.read_stream not in self.sessions:
            raise Refusal(grpc.StatusCode.NOT_FOUND, f"Not found: stream {request.read_stream}")
        schema, chunks = self.sessions[request.read_stream]
        for at, chunk in enumerate(chunks):
            batch = _whole(chunk, schema)
            answer = proto.ReadRowsResponse(row_count=batch.num_rows)
            answer.arrow_record_batch.serialized_record_batch = REFERENCE.serialize_batch(batch)
            if at == 0:
                answer.arrow_schema.serialized_schema = REFERENCE.serialize_schema(schema)
            yield answer


def _whole(rows: pa.Table, schema: pa.Schema) -> pa.RecordBatch:
    """The rows as one batch."""
    arrays = [pa.concat_arrays(column.chunks) if column.num_chunks != 1 else column.chunk(0) for column in rows.columns]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
