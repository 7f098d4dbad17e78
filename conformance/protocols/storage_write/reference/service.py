"""The reference service: it obeys every clause. A mutant or legal variation is a subclass that replaces one step.

Texts are those of public records of the service (https://github.com/googleapis/java-bigquerystorage, the live test of
writes, and https://github.com/jjviscomi/bqemulator, calls recorded from it); where there is no record, they say what
was expected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import grpc
import pyarrow as pa
import pyarrow.compute as pc

from conformance import wire
from conformance.protocols.storage_write.contract.classes import CLASSES
from conformance.protocols.storage_write.reference.decoding import (
    batch_in,
    columns_missing,
    read_writer_schema,
    stored,
)
from conformance.protocols.storage_write.reference.reading import ReadService
from conformance.protocols.storage_write.reference.schemas import table_schema
from conformance.protocols.storage_write.reference.store import WrittenTable, named_table
from conformance.protocols.storage_write.reference.streams import (
    AppendRefusedError,
    WriteConnection,
    WriteStream,
    put_error,
    storage_error,
)
from conformance.protocols.storage_write.wire.messages import TYPES, VIEWS
from conformance.reference.statuses import Refusal

__all__ = ["WriteService"]

_INVALID: Final = grpc.StatusCode.INVALID_ARGUMENT
_KINDS: Final = {number: name for name, number in TYPES.items()}
MOST_BYTES: Final = 20_000_000
"""The most bytes of a request of AppendRows."""
EARLIEST: Final = -62_135_596_800_000_000
LATEST: Final = 253_402_300_799_999_999
"""The range of TIMESTAMP in microseconds since the Unix epoch: the years 1 to 9999."""


class WriteService(ReadService):
    """BigQueryWrite and BigQueryRead over the tables of one store."""

    # --- streams ----------------------------------------------------------------------------------

    def create_write_stream(self, request: Any) -> Any:
        """CreateWriteStream."""
        kind = _KINDS.get(request.write_stream.type)
        if kind is None:
            raise Refusal(_INVALID, "Invalid stream type.")
        now = self.store.now()
        name = f"{request.parent}/streams/{self.new_id()}"
        stream = WriteStream(
            name, self.table(request.parent), kind, created=now, committed=self.committed_at(kind, now)
        )
        self.streams[name] = stream
        answer = self.described(stream)
        answer.table_schema.CopyFrom(self.schema_of(stream.table))
        return answer

    def new_id(self) -> str:
        """The id of a new stream."""
        return self.store.token()

    def committed_at(self, kind: str, now: int) -> int | None:
        """The commit time of a new stream."""
        return now if kind == "COMMITTED" else None

    def schema_of(self, table: WrittenTable) -> Any:
        """The schema of a table, as a stream has it."""
        return table_schema(table.columns)

    def table(self, name: str) -> WrittenTable:
        """The table of that name."""
        if name not in self.store.tables:
            said = f"Permission 'TABLES_UPDATE_DATA' denied on resource '{name}' (or it may not exist)."
            raise Refusal(grpc.StatusCode.PERMISSION_DENIED, said)
        return self.store.tables[name]

    def get_write_stream(self, request: Any) -> Any:
        """GetWriteStream."""
        stream = self.stream(request.name)
        answer = self.described(stream)
        answer.location = "us"
        if self.shows_schema(request.view):
            answer.table_schema.CopyFrom(self.schema_of(stream.table))
        return answer

    def shows_schema(self, view: int) -> bool:
        """True for a view with the schema."""
        return view == VIEWS["FULL"]

    def described(self, stream: WriteStream) -> Any:
        """A stream without the schema of its table."""
        made = CLASSES["WriteStream"](name=stream.name, type=TYPES[stream.kind])
        if stream.created is not None:
            made.create_time.FromMicroseconds(stream.created)
        if stream.committed is not None:
            made.commit_time.FromMicroseconds(stream.committed)
        return made

    def stream(self, name: str) -> WriteStream:
        """The stream of that name; the default stream of a table exists without having been created."""
        parts = named_table(name)
        if parts is None or not parts[1]:
            raise Refusal(_INVALID, f"Invalid stream name. Entity: {name}")
        if parts[1] == "_default":
            whole = f"{parts[0]}/streams/_default"
            if whole not in self.streams:
                self.streams[whole] = WriteStream(whole, self.table(parts[0]), "COMMITTED")
            return self.streams[whole]
        if name not in self.streams:
            raise self.unknown(name)
        return self.streams[name]

    def unknown(self, name: str) -> Refusal:
        """The refusal of a stream that does not exist."""
        return Refusal(_INVALID, f"Invalid stream name. Entity: {name}")

    # --- appends ----------------------------------------------------------------------------------

    def append_rows(self, requests: Iterator[Any]) -> Iterator[Any]:
        """AppendRows: one answer to each request, in their order."""
        connection = WriteConnection()
        for request in requests:
            yield self.answered(connection, request)

    def answered(self, connection: WriteConnection, request: Any) -> Any:
        """The answer to one request."""
        response = CLASSES["AppendRowsResponse"]()
        connection.asked = request.write_stream
        connection.name = request.write_stream or connection.name
        stream = self.stream(connection.name)
        response.write_stream = self.target_of(connection)
        try:
            self.check_size(stream, request.ByteSize())
            offset = self.appended(connection, stream, request)
        except AppendRefusedError as error:
            self.put_error(response, error, stream)
        else:
            response.append_result.SetInParent()
            if offset is not None:
                response.append_result.offset.value = offset
        return response

    def check_size(self, stream: WriteStream, size: int) -> None:  # noqa: ARG002  # for deviations
        """End the call at a request of more bytes than are taken."""
        if size > MOST_BYTES:
            raise Refusal(_INVALID, f"The request has {size} bytes, expected less than 20 MB.")

    def target_of(self, connection: WriteConnection) -> str:
        """The stream that an answer names."""
        return connection.name

    def put_error(self, response: Any, error: AppendRefusedError, stream: WriteStream) -> None:
        """Set the error of an answer."""
        put_error(response, error, stream.name)

    def appended(self, connection: WriteConnection, stream: WriteStream, request: Any) -> int | None:
        """Append the rows of a request, all or none; the offset of the first one, None on a default stream."""
        rows = self.rows_in(connection, stream, request)
        self.check_state(stream)
        asked = request.offset.value if request.HasField("offset") else None
        self.check_offset(stream, asked)
        self.check_rows(rows)
        return self.offset_of(stream, self.write(stream, rows), rows.num_rows)

    def offset_of(self, stream: WriteStream, first: int, count: int) -> int | None:  # noqa: ARG002  # for deviations
        """The offset in the answer to an append of ``count`` rows, of which the first is at ``first``."""
        return None if stream.is_default else first

    def rows_in(self, connection: WriteConnection, stream: WriteStream, request: Any) -> pa.Table:
        """The rows of a request, under the schema of the connection."""
        schema = request.arrow_rows.writer_schema.serialized_schema
        if connection.schema is None and schema:
            connection.schema, connection.written = self.read_schema(schema), schema
        if connection.schema is None:
            raise AppendRefusedError("INVALID_ARGUMENT", "The first request has no writer schema.")
        batch = self.decoded(request.arrow_rows.rows.serialized_record_batch, connection)
        if columns_missing(stream.table.columns, batch):
            said = "Input schema has more fields than BigQuery schema"
            raise AppendRefusedError("INVALID_ARGUMENT", said, kind="SCHEMA_MISMATCH_EXTRA_FIELDS")
        return self.stored(stream.table, batch)

    def read_schema(self, data: bytes) -> wire.Schema:
        """The schema in the field for one."""
        return read_writer_schema(data)

    def decoded(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        """The rows in the field for one record batch."""
        assert connection.schema is not None, "it has been read"
        return batch_in(data, connection.schema)

    def stored(self, table: WrittenTable, batch: pa.RecordBatch) -> pa.Table:
        """The rows in the form in which they are read."""
        return stored(table.columns, batch)

    def check_state(self, stream: WriteStream) -> None:
        """Refuse an append to a finalized stream."""
        if stream.finalized:
            raise AppendRefusedError("INVALID_ARGUMENT", "Stream has been finalized.", kind="STREAM_FINALIZED")

    def check_offset(self, stream: WriteStream, asked: int | None) -> None:
        """Refuse an append at another offset than the end of the stream."""
        if asked is None:
            return
        if stream.is_default:
            raise AppendRefusedError("INVALID_ARGUMENT", "An offset is not allowed on the default stream.")
        where = f"expected offset {stream.end}, received {asked}"
        if asked < stream.end:
            said = f"The offset is within stream, {where}"
            raise AppendRefusedError("ALREADY_EXISTS", said, kind="OFFSET_ALREADY_EXISTS")
        if asked > stream.end:
            raise AppendRefusedError(
                "OUT_OF_RANGE", f"The offset is beyond stream, {where}", kind="OFFSET_OUT_OF_RANGE"
            )

    def check_rows(self, rows: pa.Table) -> None:
        """Refuse rows that cannot be stored, each by its index in the request."""
        if wrong := self.wrong_rows(rows):
            raise AppendRefusedError("INVALID_ARGUMENT", "Errors found while processing rows.", rows=wrong)

    def wrong_rows(self, rows: pa.Table) -> dict[int, str]:
        """What is wrong with rows, by their indices."""
        wrong: dict[int, str] = {}
        for name, column in zip(rows.column_names, rows.columns, strict=True):
            if pa.types.is_timestamp(column.type):
                for at, instant in enumerate(pc.cast(column, pa.int64()).to_pylist()):
                    if instant is not None and not EARLIEST <= instant <= LATEST:
                        wrong[at] = f"Timestamp field value is out of range: {instant} on field {name}."
        return wrong

    def write(self, stream: WriteStream, rows: pa.Table) -> int:
        """Write rows at the end of a stream; the offset of the first one."""
        first = stream.end
        stream.rows.append(rows)
        if stream.kind == "COMMITTED":
            self.show(stream, stream.end)
        return first

    def show(self, stream: WriteStream, end: int) -> None:
        """Let the rows before an offset become visible that are not yet."""
        if end > stream.shown:
            stream.table.chunks.append(stream.part(stream.shown, end))
            stream.shown = end

    # --- the end of a stream ----------------------------------------------------------------------

    def finalize_write_stream(self, request: Any) -> Any:
        """FinalizeWriteStream."""
        stream = self.stream(request.name)
        if stream.is_default:
            said = f"Requested entity was not found. Entity: {stream.name}"
            raise Refusal(grpc.StatusCode.NOT_FOUND, said)
        stream.finalized = True
        return CLASSES["FinalizeWriteStreamResponse"](row_count=self.row_count(stream))

    def row_count(self, stream: WriteStream) -> int:
        """The number of rows of a finalized stream."""
        return stream.end

    def batch_commit_write_streams(self, request: Any) -> Any:
        """BatchCommitWriteStreams: all streams or none."""
        answer = CLASSES["BatchCommitWriteStreamsResponse"]()
        streams = [self.stream(name) for name in request.write_streams]
        errors = [error for one in streams if (error := self.commit_error(one, request.parent)) is not None]
        if errors:
            self.refuse_commit(answer, errors, streams)
            return answer
        now = self.store.now()
        for stream in streams:
            self.commit(stream, now)
        self.commit_time(answer, now)
        return answer

    def refuse_commit(self, answer: Any, errors: Sequence[Any], streams: Sequence[WriteStream]) -> None:  # noqa: ARG002  # as above
        """Set the errors of a commit that commits nothing."""
        answer.stream_errors.extend(errors)

    def commit_time(self, answer: Any, now: int) -> None:
        """Set the time of a commit."""
        answer.commit_time.FromMicroseconds(now)

    def commit(self, stream: WriteStream, now: int) -> None:
        """Commit one stream."""
        stream.committed = now
        self.show(stream, stream.end)

    def commit_error(self, stream: WriteStream, parent: str) -> Any:
        """The StorageError for which a stream cannot be committed; None if it can."""
        if not stream.name.startswith(f"{parent}/"):
            return storage_error("STREAM_NOT_FOUND", stream.name, "The stream is not one of the table.")
        if stream.kind != "PENDING":
            return storage_error("INVALID_STREAM_TYPE", stream.name, "Only pending streams can be committed.")
        if stream.committed is not None:
            return storage_error("STREAM_ALREADY_COMMITTED", stream.name, "The stream is committed already.")
        if not stream.finalized:
            return storage_error("INVALID_STREAM_STATE", stream.name, "The stream is not finalized.")
        return None

    def flush_rows(self, request: Any) -> Any:
        """FlushRows: the rows up to an offset, and this one, become visible."""
        stream, offset = self.stream(request.write_stream), int(request.offset.value)
        self.check_flush(stream, offset)
        self.flush(stream, offset)
        return CLASSES["FlushRowsResponse"](offset=offset)

    def check_flush(self, stream: WriteStream, offset: int) -> None:
        """Refuse a flush of a stream that is not buffered, or is finalized, or of rows that are not there."""
        if stream.kind != "BUFFERED":
            raise Refusal(_INVALID, f"Only buffered streams can be flushed. Entity: {stream.name}")
        if stream.finalized:
            raise Refusal(_INVALID, f"Stream has been finalized. Entity: {stream.name}")
        if offset >= stream.end:
            said = f"Offset {offset} is beyond the end of the stream Entity: {stream.name}"
            raise Refusal(grpc.StatusCode.OUT_OF_RANGE, said)

    def flush(self, stream: WriteStream, offset: int) -> None:
        """Let the rows up to an offset become visible, and this one."""
        self.show(stream, offset + 1)
