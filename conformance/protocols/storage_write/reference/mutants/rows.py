"""Faults in the Arrow data that is taken, and in the rows that are written."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from conformance import wire
from conformance.protocols.storage_write.reference.decoding import batch_in, read_writer_schema, stored
from conformance.protocols.storage_write.reference.register import mutant
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.store import WrittenTable
from conformance.protocols.storage_write.reference.streams import AppendRefusedError, WriteConnection, WriteStream

_STREAMS = "https://github.com/googleapis/google-cloud-go/issues/12478"


def _refused() -> AppendRefusedError:
    return AppendRefusedError("INVALID_ARGUMENT", "Invalid Arrow data.")


class _Opening(WriteService):
    """A server that reads the Arrow data by pyarrow."""

    def read_schema(self, data: bytes) -> wire.Schema:
        try:
            return read_writer_schema(pa.ipc.read_schema(pa.py_buffer(data)).serialize().to_pybytes())
        except (pa.ArrowException, OSError):
            raise _refused() from None

    def decoded(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        try:
            return self.read(data, connection)
        except (pa.ArrowException, OSError, StopIteration):
            raise _refused() from None

    def read(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        """The rows in the field for one record batch."""
        raise NotImplementedError


@mutant(
    "storage-write.streams-taken",
    kills="storage-write-framing.full-stream-is-refused",
    source=_STREAMS,
)
class StreamsTaken(_Opening):
    """A full stream in the field for a record batch is read, and its rows are written."""

    def read(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        assert connection.schema is not None, "it has been read"
        try:
            return batch_in(data, connection.schema)
        except AppendRefusedError:
            return pa.ipc.open_stream(data).read_all().combine_chunks().to_batches()[0]


@mutant(
    "storage-write.joined-and-opened",
    kills=("storage-write-framing.refused-or-stored", "storage-write-framing.full-stream-is-refused"),
    source=_STREAMS,
)
class JoinedAndOpened(_Opening):
    """Schema and batch are joined and opened as a stream: an end behind the schema hides every row."""

    def read(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        rows = pa.ipc.open_stream(connection.written + data).read_all()
        return pa.RecordBatch.from_arrays(
            [pa.concat_arrays(one.chunks) if one.num_chunks else pa.array([], one.type) for one in rows.columns],
            schema=rows.schema,
        )


@mutant("storage-write.one-batch-read", kills="storage-write-framing.refused-or-stored", source=_STREAMS)
class OneBatchRead(_Opening):
    """One batch is read from the field, and what is behind it is not looked at."""

    def read(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        schema = pa.ipc.read_schema(pa.py_buffer(connection.written))
        return pa.ipc.read_record_batch(pa.py_buffer(data), schema)


@mutant("storage-write.unreadable-acknowledged", kills="storage-write-framing.refused-or-stored")
class UnreadableAcknowledged(WriteService):
    """A batch message that cannot be read is taken for one without rows."""

    def rows_in(self, connection: WriteConnection, stream: WriteStream, request: Any) -> pa.Table:
        data = bytes(request.arrow_rows.rows.serialized_record_batch)
        try:
            return super().rows_in(connection, stream, request)
        except AppendRefusedError as error:
            if error.kind or connection.schema is None or b"\xff\xff\xff\xff" in data[8:]:
                raise
            return stream.table.rows.slice(0, 0)


@mutant(
    "storage-write.schema-each-time",
    kills=("storage-write-framing.schema-comes-once", "storage-write-framing.stream-is-named-once"),
    also={
        "storage-write-offset.*": "a request without the schema is refused for that, whatever else is wrong with it",
        "storage-write-rows.error-names-the-rows": "as above",
    },
)
class SchemaEachTime(WriteService):
    """Each request of a connection has to have the schema."""

    def appended(self, connection: WriteConnection, stream: WriteStream, request: Any) -> int | None:
        offset = super().appended(connection, stream, request)
        connection.schema = None
        return offset


@mutant("storage-write.name-each-time", kills="storage-write-framing.stream-is-named-once")
class NameEachTime(WriteService):
    """Each request of a connection has to name the stream."""

    def answered(self, connection: WriteConnection, request: Any) -> Any:
        connection.name = ""
        return super().answered(connection, request)


# --- rows -----------------------------------------------------------------------------------------


@mutant("storage-write.bad-rows-taken", kills="storage-write-rows.bad-row-is-refused")
class BadRowsTaken(WriteService):
    """A TIMESTAMP out of range is written as it is."""

    def wrong_rows(self, rows: pa.Table) -> dict[int, str]:
        return {}


@mutant("storage-write.row-errors-from-one", kills="storage-write-rows.error-names-the-rows")
class RowErrorsFromOne(WriteService):
    """The indices of row errors begin with 1."""

    def wrong_rows(self, rows: pa.Table) -> dict[int, str]:
        return {index + 1: text for index, text in super().wrong_rows(rows).items()}


@mutant("storage-write.first-row-error", kills="storage-write-rows.error-names-the-rows")
class FirstRowError(WriteService):
    """Only the first bad row has an error."""

    def wrong_rows(self, rows: pa.Table) -> dict[int, str]:
        return dict(list(super().wrong_rows(rows).items())[:1])


@mutant("storage-write.no-row-errors", kills="storage-write-rows.error-names-the-rows")
class NoRowErrors(WriteService):
    """The answer to an append with bad rows has no row errors."""

    def put_error(self, response: Any, error: AppendRefusedError, stream: WriteStream) -> None:
        super().put_error(response, error, stream)
        response.ClearField("row_errors")


@mutant(
    "storage-write.good-rows-written",
    kills="storage-write-rows.refused-are-not-written",
    also={
        "storage-write-offset.*": "the stream has rows that nobody was told of",
        "storage-write-visible.*": "as above",
    },
)
class GoodRowsWritten(WriteService):
    """Of an append with bad rows, the rows before the first bad one are written."""

    def appended(self, connection: WriteConnection, stream: WriteStream, request: Any) -> int | None:
        try:
            return super().appended(connection, stream, request)
        except AppendRefusedError as error:
            if error.rows:
                rows = self.rows_in(connection, stream, request)
                stream.table.chunks.append(rows.slice(0, min(error.rows)))
            raise


@mutant("storage-write.refused-written", kills="storage-write-rows.refused-are-not-written")
class RefusedWritten(WriteService):
    """The rows of an append at an offset beyond the end are written, although the answer is an error."""

    def appended(self, connection: WriteConnection, stream: WriteStream, request: Any) -> int | None:
        try:
            return super().appended(connection, stream, request)
        except AppendRefusedError as error:
            if error.kind == "OFFSET_OUT_OF_RANGE":
                stream.table.chunks.append(self.rows_in(connection, stream, request))
            raise


@mutant(
    "storage-write.extra-column-dropped",
    kills="storage-write-rows.extra-column-is-refused",
    source="https://github.com/apache/beam/issues/33238",
)
class ExtraColumnDropped(WriteService):
    """A column that the table does not have is dropped."""

    def decoded(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        batch = super().decoded(data, connection)
        return batch.select([name for name in batch.schema.names if name != "not_in_the_table"])


@mutant("storage-write.extra-column-without-code", kills="storage-write-rows.extra-column-has-its-code")
class ExtraColumnWithoutCode(WriteService):
    """The error for a column that the table does not have has no details."""

    def put_error(self, response: Any, error: AppendRefusedError, stream: WriteStream) -> None:
        if error.kind.startswith("SCHEMA"):
            error.kind = ""
        super().put_error(response, error, stream)


@mutant("storage-write.omitted-filled", kills="storage-write-rows.omitted-column-is-null")
class OmittedFilled(WriteService):
    """A column that the rows do not have gets 0 or an empty text."""

    def stored(self, table: WrittenTable, batch: pa.RecordBatch) -> pa.Table:
        rows = stored(table.columns, batch)
        for at, (name, column) in enumerate(zip(rows.column_names, rows.columns, strict=True)):
            if name not in batch.schema.names and (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
                empty = pa.array(["" if pa.types.is_string(column.type) else 0] * len(column), column.type)
                rows = rows.set_column(at, rows.schema.field(at), empty)
        return rows
