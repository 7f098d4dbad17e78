"""Faults that show while a connection is open, or while two are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import grpc
import pyarrow as pa

from conformance import wire
from conformance.protocols.storage_write.reference.decoding import batch_in
from conformance.protocols.storage_write.reference.register import mutant
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.store import Store
from conformance.protocols.storage_write.reference.streams import AppendRefusedError, WriteConnection, WriteStream


class _Watching(WriteService):
    """A server that knows to which streams connections are open."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.open: Counter[str] = Counter()

    def append_rows(self, requests: Iterator[Any]) -> Iterator[Any]:
        connection = WriteConnection()
        streams: dict[str, WriteStream] = {}
        try:
            for request in requests:
                name = request.write_stream or connection.name
                if name not in streams:
                    streams[name] = self.stream(name)
                    self.open[streams[name].name] += 1
                yield self.answered(connection, request)
        finally:
            for stream in streams.values():
                self.open[stream.name] -= 1
                self.closed(stream)

    def closed(self, stream: WriteStream) -> None:
        """Act on the end of a connection to a stream."""


@mutant(
    "storage-write.shown-at-the-close",
    kills="storage-write-visible.committed-rows-are-read-while-open",
)
class ShownAtTheClose(_Watching):
    """Rows are visible once the connection that wrote them has ended."""

    def write(self, stream: WriteStream, rows: pa.Table) -> int:
        first = stream.end
        stream.rows.append(rows)
        return first

    def closed(self, stream: WriteStream) -> None:
        if stream.kind == "COMMITTED":
            self.show(stream, stream.end)


@mutant("storage-write.flushed-at-the-close", kills="storage-write-visible.flush-shows-the-rows-while-open")
class FlushedAtTheClose(_Watching):
    """A flush waits for the end of the connections to its stream."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.waiting: dict[str, int] = {}

    def flush(self, stream: WriteStream, offset: int) -> None:
        if self.open[stream.name]:
            self.waiting[stream.name] = offset
        else:
            super().flush(stream, offset)

    def closed(self, stream: WriteStream) -> None:
        if stream.name in self.waiting and not self.open[stream.name]:
            super().flush(stream, self.waiting.pop(stream.name))


@mutant("storage-write.one-writer-at-a-time", kills="storage-write-answer.second-writer-is-acknowledged")
class OneWriterAtATime(_Watching):
    """An append to a stream to which another connection is open is refused."""

    def check_state(self, stream: WriteStream) -> None:
        super().check_state(stream)
        if self.open[stream.name] > 1:
            raise AppendRefusedError("INTERNAL", "There is another connection to the stream.")


@mutant(
    "storage-write.one-schema-for-all",
    kills="storage-write-framing.schema-is-of-its-connection",
)
class OneSchemaForAll(WriteService):
    """The schema that came last is that of all connections."""

    latest: wire.Schema | None = None

    def read_schema(self, data: bytes) -> wire.Schema:
        self.latest = super().read_schema(data)
        return self.latest

    def decoded(self, data: bytes, connection: WriteConnection) -> pa.RecordBatch:
        assert connection.schema is not None, "it has been read"
        return batch_in(data, self.latest or connection.schema)


@mutant(
    "storage-write.writer-trusts-its-own-end",
    kills="storage-write-visible.rows-of-both-writers-are-read",
    also={
        "storage-write-visible.default-rows-are-read": "the rows are still gone when both connections have ended",
    },
)
class WriterTrustsItsOwnEnd(WriteService):
    """A connection acknowledges rows that it does not write, if another one has written since its last append."""

    behind = False

    def append_rows(self, requests: Iterator[Any]) -> Iterator[Any]:
        connection = WriteConnection()
        end: int | None = None
        for request in requests:
            stream = self.stream(request.write_stream or connection.name)
            self.behind = stream.is_default and end is not None and stream.end != end
            answer = self.answered(connection, request)
            end = stream.end
            yield answer

    def write(self, stream: WriteStream, rows: pa.Table) -> int:
        return stream.end if self.behind else super().write(stream, rows)


# --- connections that their client leaves ---------------------------------------------------------


class _Left(WriteService):
    """A server that notices when a client leaves, with the stream that it wrote to last."""

    def append_rows(self, requests: Iterator[Any]) -> Iterator[Any]:
        connection = WriteConnection()
        try:
            for request in requests:
                yield self.answered(connection, request)
        except (grpc.RpcError, GeneratorExit):
            self.left(self.stream(connection.name))
            raise

    def left(self, stream: WriteStream) -> None:
        """Act on a client that left."""
        raise NotImplementedError


@mutant("storage-write.left-stream-is-lost", kills="storage-write-offset.retry-is-taken-or-known")
class LeftStreamIsLost(_Left):
    """A stream takes no append after a client that wrote to it has left."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.lost: set[str] = set()

    def left(self, stream: WriteStream) -> None:
        self.lost.add(stream.name)

    def check_state(self, stream: WriteStream) -> None:
        super().check_state(stream)
        if stream.name in self.lost:
            raise AppendRefusedError("INTERNAL", "The connection to the stream was lost.")


@mutant(
    "storage-write.left-rows-are-lost",
    kills="storage-write-visible.retried-rows-are-there-once",
    also={"storage-write-visible.committed-rows-are-read": "rows that the stream is said to have are not in the table"},
)
class LeftRowsAreLost(_Left):
    """Rows whose answer nobody took are not in the table, and the stream has their offsets."""

    def left(self, stream: WriteStream) -> None:
        if stream.kind == "COMMITTED" and stream.table.chunks:
            stream.table.chunks.pop()


@mutant(
    "storage-write.left-rows-come-twice",
    kills="storage-write-visible.retried-rows-are-there-once",
    also={"storage-write-visible.each-row-once": "the rows are in the table twice"},
)
class LeftRowsComeTwice(_Left):
    """Rows whose answer nobody took are in the table twice."""

    def left(self, stream: WriteStream) -> None:
        if stream.kind == "COMMITTED" and stream.table.chunks:
            stream.table.chunks.append(stream.table.chunks[-1])
