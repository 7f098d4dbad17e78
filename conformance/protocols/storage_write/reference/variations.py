"""Legal variations of the reference: what the contract leaves open, answered in another way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import grpc
import pyarrow as pa

from conformance import wire
from conformance.contract.sources import JAVA_WRITE_TEST, MEASURED, PROTOBUF, STORAGE_PROTO, STREAM_PROTO, WRITE_GUIDE
from conformance.protocols.storage_write.reference.decoding import batch_in, read_writer_schema
from conformance.protocols.storage_write.reference.register import variation
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.store import WrittenTable
from conformance.protocols.storage_write.reference.streams import AppendRefusedError, WriteConnection, WriteStream
from conformance.reference.statuses import Refusal

_END: Final = b"\xff\xff\xff\xff\0\0\0\0"


@variation("storage-write.named-as-asked", STORAGE_PROTO)
class NamedAsAsked(WriteService):
    """An answer names the stream as its request does, and none if the request names none."""

    def target_of(self, connection: WriteConnection) -> str:
        return connection.asked


@variation("storage-write.default-named-in-full", STORAGE_PROTO)
class DefaultNamedInFull(WriteService):
    """An answer of a default stream has its full name, however the request spells it."""

    def target_of(self, connection: WriteConnection) -> str:
        return self.stream(connection.name).name


@variation("storage-write.too-large-in-an-answer", STORAGE_PROTO)
class TooLargeInAnAnswer(WriteService):
    """A request that is too large is refused in an answer, and the connection goes on."""

    def check_size(self, stream: WriteStream, size: int) -> None:
        try:
            super().check_size(stream, size)
        except Refusal as refusal:
            raise AppendRefusedError("INVALID_ARGUMENT", refusal.details) from None


@variation("storage-write.created-with-location", STREAM_PROTO)
class CreatedWithLocation(WriteService):
    """A new stream has its location and the write mode."""

    def create_write_stream(self, request: Any) -> Any:
        answer = super().create_write_stream(request)
        answer.location, answer.write_mode = "US", 1
        return answer


@variation("storage-write.default-with-times", STREAM_PROTO)
class DefaultWithTimes(WriteService):
    """The default stream has the creation time of its table."""

    def described(self, stream: WriteStream) -> Any:
        made = super().described(stream)
        if stream.is_default:
            made.create_time.FromMicroseconds(self.store.now())
            made.commit_time.CopyFrom(made.create_time)
        return made


@variation("storage-write.columns-described", STREAM_PROTO)
class ColumnsDescribed(WriteService):
    """Columns have descriptions, and the mode of a NULLABLE one is left out."""

    def schema_of(self, table: WrittenTable) -> Any:
        made = super().schema_of(table)
        for field in made.fields:
            field.description = "a column"
            field.mode = 0 if field.mode == 1 else field.mode
        return made


@variation("storage-write.rows-one-by-one", STORAGE_PROTO)
class RowsOneByOne(WriteService):
    """A reader gets each row in a response of its own, the last one first."""

    def seen(self, table: WrittenTable) -> Sequence[pa.Table]:
        rows = table.rows
        return tuple(rows.slice(at, 1) for at in reversed(range(rows.num_rows)))


@variation("storage-write.framing-as-status", WRITE_GUIDE)
class FramingAsStatus(WriteService):
    """Arrow data that cannot be read ends the connection."""

    def decoded(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        try:
            return super().decoded(data, connection)
        except AppendRefusedError as error:
            raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, str(error)) from None


@variation("storage-write.ends-left-out", WRITE_GUIDE)
class EndsLeftOut(WriteService):
    """The marker that ends a stream is left out behind a message, and the rows are written."""

    def read_schema(self, data: bytes) -> wire.Schema:
        return read_writer_schema(data.removesuffix(_END))

    def decoded(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        try:
            return super().decoded(data, connection)  # the last rows may have the bytes of the marker
        except AppendRefusedError:
            return super().decoded(data.removesuffix(_END), connection)


@variation("storage-write.batches-joined", WRITE_GUIDE)
class BatchesJoined(WriteService):
    """All batches in the field for one are written."""

    def decoded(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        assert connection.schema is not None, "it has been read"
        try:
            return batch_in(data, connection.schema)
        except AppendRefusedError:
            return self.joined(data, connection.schema)

    def joined(self, data: bytes, schema: wire.Schema) -> pa.RecordBatch:
        """The rows of two messages of nearly equal length."""
        for cut in range(8, len(data), 8):
            try:
                return pa.concat_batches([batch_in(data[:cut], schema), batch_in(data[cut:], schema)])
            except AppendRefusedError:
                continue
        raise AppendRefusedError("INVALID_ARGUMENT", "Invalid Arrow data.")


@variation("storage-write.schema-of-the-table", WRITE_GUIDE)
class SchemaOfTheTable(WriteService):
    """Rows without a schema are taken to have the columns of the table."""

    def rows_in(self, connection: WriteConnection, stream: WriteStream, request: Any) -> pa.Table:
        if connection.schema is None and not request.arrow_rows.HasField("writer_schema"):
            schema = pa.schema([field.remove_metadata() for field in stream.table.rows.schema])
            connection.schema = read_writer_schema(schema.serialize().to_pybytes())
        return super().rows_in(connection, stream, request)


@variation("storage-write.commit-refused-as-status", STORAGE_PROTO)
class CommitRefusedAsStatus(WriteService):
    """A commit that cannot be done ends in a status, and has no errors on streams."""

    def refuse_commit(self, answer: Any, errors: Sequence[Any], streams: Sequence[WriteStream]) -> None:
        raise Refusal(grpc.StatusCode.FAILED_PRECONDITION, str(errors[0].error_message))


@variation("storage-write.flush-behind-refused", MEASURED)
class FlushBehindRefused(WriteService):
    """A flush of rows that are visible already ends in ALREADY_EXISTS."""

    def check_flush(self, stream: WriteStream, offset: int) -> None:
        super().check_flush(stream, offset)
        if offset < stream.shown:
            raise Refusal(grpc.StatusCode.ALREADY_EXISTS, f"Offset {offset} is flushed. Entity: {stream.name}")


@variation("storage-write.unknown-not-found", WRITE_GUIDE)
class UnknownNotFound(WriteService):
    """A stream or table that does not exist is NOT_FOUND."""

    def unknown(self, name: str) -> Refusal:
        return Refusal(grpc.StatusCode.NOT_FOUND, f"Requested entity was not found. Entity: {name}")

    def table(self, name: str) -> WrittenTable:
        if name not in self.store.tables:
            raise Refusal(grpc.StatusCode.NOT_FOUND, f"Not found: Table {name}")
        return super().table(name)


@variation("storage-write.details-of-others", JAVA_WRITE_TEST)
class DetailsOfOthers(WriteService):
    """An error has a detail of another type before its StorageError, and more text around the two offsets."""

    def put_error(self, response: Any, error: AppendRefusedError, stream: WriteStream) -> None:
        super().put_error(response, error, stream)
        others = list(response.error.details)
        del response.error.details[:]
        response.error.details.add(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=b"\x0a\x01x")
        response.error.details.extend(others)
        response.error.message = f"Write failed: {response.error.message} (request 7)"


@variation("storage-write.fields-of-later-versions", PROTOBUF)
class FieldsOfLaterVersions(WriteService):
    """Answers have a field that this version does not know."""

    def append_rows(self, requests: Iterator[Any]) -> Iterator[Any]:
        for answer in super().append_rows(requests):
            yield answer.SerializeToString() + b"\x98\x06\x01"

    def finalize_write_stream(self, request: Any) -> Any:
        return super().finalize_write_stream(request).SerializeToString() + b"\x98\x06\x01"


@variation("storage-write.documents-rewritten", WRITE_GUIDE)
class DocumentsRewritten(WriteService):
    """JSON and WKT are stored with other blanks."""

    def stored(self, table: WrittenTable, batch: pa.RecordBatch) -> pa.Table:
        rows = super().stored(table, batch)
        for at, column in enumerate(table.columns):
            if column.type.value in ("JSON", "GEOGRAPHY"):
                change = _spaced if column.type.value == "JSON" else _spread
                values = [None if one is None else change(one) for one in rows.column(at).to_pylist()]
                rows = rows.set_column(at, rows.schema.field(at), pa.array(values, pa.utf8()))
        return rows


def _spaced(text: str) -> str:
    return json.dumps(json.loads(text), indent=1)


def _spread(text: str) -> str:
    return text.replace("(", " (").replace("  (", " (")


@variation("storage-write.committed-later", STREAM_PROTO)
class CommittedLater(WriteService):
    """A stream of the type COMMITTED is committed a moment after its creation."""

    def committed_at(self, kind: str, now: int) -> int | None:
        committed = super().committed_at(kind, now)
        return None if committed is None else committed + 5


@variation("storage-write.schema-updated", STORAGE_PROTO)
class SchemaUpdated(WriteService):
    """Each answer that is a success says that the schema has been updated, to what it is."""

    def answered(self, connection: WriteConnection, request: Any) -> Any:
        response = super().answered(connection, request)
        if response.WhichOneof("response") == "append_result":
            response.updated_schema.CopyFrom(self.schema_of(self.stream(connection.name).table))
        return response


@variation("storage-write.refused-as-status", WRITE_GUIDE)
class RefusedAsStatus(WriteService):
    """An append whose refusal no record shows in an answer ends the connection."""

    def put_error(self, response: Any, error: AppendRefusedError, stream: WriteStream) -> None:
        if not error.kind and not error.rows:
            raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        super().put_error(response, error, stream)


@variation("storage-write.no-reads", STORAGE_PROTO)
class NoReads(WriteService):
    """The server does not have the Storage Read API."""

    def create_read_session(self, request: Any) -> Any:
        raise Refusal(grpc.StatusCode.UNIMPLEMENTED, "BigQueryRead is not served here.")


@variation("storage-write.several-streams", STORAGE_PROTO)
class SeveralStreams(WriteService):
    """A session has three streams, one of them without rows."""

    def create_read_session(self, request: Any) -> Any:
        answer = super().create_read_session(request)
        for made in list(answer.streams):
            schema, chunks = self.sessions[made.name]
            parts = {made.name: chunks[:1], f"{made.name}-b": chunks[1:], f"{made.name}-c": []}
            self.sessions.update({name: (schema, part) for name, part in parts.items()})
            for name in list(parts)[1:]:
                answer.streams.add(name=name)
        return answer


@variation("storage-write.left-append-is-dropped", WRITE_GUIDE)
class LeftAppendIsDropped(WriteService):
    """The last append to a PENDING stream whose client leaves before the answer is not in the stream."""

    def append_rows(self, requests: Iterator[Any]) -> Iterator[Any]:
        connection = WriteConnection()
        try:
            for request in requests:
                yield self.answered(connection, request)
        except (grpc.RpcError, GeneratorExit):
            stream = self.stream(connection.name)
            if stream.kind == "PENDING" and stream.rows:
                stream.rows.pop()
            raise
