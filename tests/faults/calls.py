"""A client of a service in the same process, without gRPC: tables from REST bodies, responses decoded to rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import grpc

from conformance.contract import proto
from conformance.protocols.storage_read.reference.catalogue import Catalogue
from conformance.protocols.storage_read.reference.rest import Api
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.reference.statuses import Refusal
from tests.protocols.storage_read.reference.client import (
    DATASET,
    PARENT,
    PROJECT,
    _set,
    decode,
    field,
    schema_of,
    table_name,
)

__all__ = ["Calls", "field"]


class Clock:
    """A clock that moves a microsecond with each look, and further if it is asked to."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_500_000

    def __call__(self) -> int:
        """The time, in microseconds since the Unix epoch."""
        self.now += 1
        return self.now


class Calls:
    """A service of a class over an empty catalogue with a clock of its own."""

    def __init__(self, service: type[ReadService]) -> None:
        self.clock = Clock()
        catalogue = Catalogue(self.clock)
        self.service = service(catalogue)
        self._api = Api(self.service)
        self._api.insert_dataset({"datasetReference": {"datasetId": DATASET}}, {}, PROJECT)

    def seed(self, fields: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]], table: str = "t") -> None:
        """Make a table and insert rows."""
        body = {"tableReference": {"tableId": table}, "schema": {"fields": list(fields)}}
        self._api.insert_table(body, {}, PROJECT, DATASET)
        self.append(rows, table)

    def append(self, rows: Sequence[dict[str, Any]], table: str = "t") -> None:
        """Insert rows; all of them have to be valid."""
        answer = self._api.insert_all({"rows": [{"json": row} for row in rows]}, {}, PROJECT, DATASET, table)
        assert "insertErrors" not in answer, answer

    def numbers(self, *values: int | None, table: str = "t") -> None:
        """A table with one INT64 column ``id``."""
        self.seed([field("id")], [{"id": value} for value in values], table)

    def drop(self, table: str = "t") -> None:
        """Remove a table."""
        self._api.delete_table({}, {}, PROJECT, DATASET, table)

    def session(self, *, streams: int = 1, at: int | None = None, data_format: str = "ARROW", **options: Any) -> Any:
        """CreateReadSession on the table ``t``; ``options`` are those of TableReadOptions."""
        session = proto.ReadSession(table=table_name("t"), data_format=proto.DATA_FORMAT[data_format])
        for name, value in options.items():
            _set(session.read_options, name, value)
        if at is not None:
            session.table_modifiers.snapshot_time.FromMicroseconds(at)
        request = proto.CreateReadSessionRequest(parent=PARENT, read_session=session, max_stream_count=streams)
        return self.service.create_read_session(request)

    def start(self, stream: Any, offset: int = 0) -> Iterator[Any]:
        """The responses of ReadRows, one by one."""
        return self.service.read_rows(proto.ReadRowsRequest(read_stream=stream.name, offset=offset))

    def split(self, stream: Any, fraction: float = 0.5) -> tuple[Any, Any]:
        """SplitReadStream: primary and remainder."""
        answer = self.service.split_read_stream(proto.SplitReadStreamRequest(name=stream.name, fraction=fraction))
        return answer.primary_stream, answer.remainder_stream

    def rows(self, session: Any, stream: Any = None, offset: int = 0) -> list[dict[str, Any]]:
        """The rows of one stream, or of all streams of a session."""
        streams = session.streams if stream is None else [stream]
        return [row for each in streams for row in decoded(session, self.start(each, offset))]

    def ids(self, session: Any, stream: Any = None, offset: int = 0) -> list[int]:
        """The column ``id`` of :meth:`rows`."""
        return [row["id"] for row in self.rows(session, stream, offset)]

    def kept(self, restriction: str) -> list[int]:
        """The column ``id`` of the rows that a restriction keeps."""
        return self.ids(self.session(row_restriction=restriction))

    def status(self, stream: Any) -> grpc.StatusCode:
        """The status with which a read of a stream ends."""
        try:
            list(self.start(stream))
        except Refusal as refusal:
            return refusal.code
        return grpc.StatusCode.OK


def decoded(session: Any, responses: Iterator[Any]) -> list[dict[str, Any]]:
    """The rows of responses."""
    schema = schema_of(session)
    return [row for response in responses for row in decode(response, schema).to_pylist()]
