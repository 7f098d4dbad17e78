"""The request messages of a case's steps.

A field that the step leaves empty is not set, because several servers distinguish an unset field from an empty one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from conformance.contract import proto
from conformance.protocols.storage_write.contract.classes import CLASSES
from conformance.protocols.storage_write.records import (
    CreateWriteStream,
    FlushStream,
    GetWriteStream,
    WriteRows,
)
from conformance.protocols.storage_write.targets.rows import arrow_messages
from conformance.protocols.storage_write.wire.messages import TYPES, VIEWS
from conformance.targets.names import Names

__all__ = [
    "append_requests",
    "commit_request",
    "create_request",
    "finalize_request",
    "flush_request",
    "get_request",
    "read_request",
    "session_request",
]


def create_request(step: CreateWriteStream, names: Names) -> bytes:
    """The CreateWriteStreamRequest of a step."""
    request = CLASSES["CreateWriteStreamRequest"](parent=names.fill(step.parent) or names.resource)
    request.write_stream.type = TYPES[step.type]
    return _bytes(request)


def get_request(step: GetWriteStream, stream: str) -> bytes:
    """The GetWriteStreamRequest of a step for the stream of that name."""
    return _bytes(CLASSES["GetWriteStreamRequest"](name=stream, view=VIEWS[step.view]))


def append_requests(step: WriteRows, stream: str, table: pa.Table) -> Iterator[bytes]:
    """The AppendRowsRequests of a step, for the stream of that name and rows of the case's table."""
    for at, append in enumerate(step.appends):
        request = CLASSES["AppendRowsRequest"]()
        if at == 0 or step.names:
            request.write_stream = stream
        if append.offset is not None:
            request.offset.value = append.offset
        made = arrow_messages(table, step, append)
        if made.schema and (at == 0 or step.schemas):
            request.arrow_rows.writer_schema.serialized_schema = made.schema
        request.arrow_rows.rows.serialized_record_batch = made.batch
        yield _bytes(request)


def finalize_request(stream: str) -> bytes:
    """The FinalizeWriteStreamRequest for the stream of that name."""
    return _bytes(CLASSES["FinalizeWriteStreamRequest"](name=stream))


def commit_request(streams: Sequence[str], names: Names) -> bytes:
    """The BatchCommitWriteStreamsRequest for streams of the case's table."""
    return _bytes(CLASSES["BatchCommitWriteStreamsRequest"](parent=names.resource, write_streams=streams))


def flush_request(step: FlushStream, stream: str) -> bytes:
    """The FlushRowsRequest of a step for the stream of that name."""
    request = CLASSES["FlushRowsRequest"](write_stream=stream)
    request.offset.value = step.offset
    return _bytes(request)


def session_request(names: Names) -> bytes:
    """The CreateReadSessionRequest for the whole table in Arrow."""
    request = proto.CreateReadSessionRequest(parent=f"projects/{names.project}", max_stream_count=1)
    request.read_session.table = names.resource
    request.read_session.data_format = proto.DATA_FORMAT["ARROW"]
    return _bytes(request)


def read_request(stream: str) -> bytes:
    """The ReadRowsRequest for a whole stream of a session."""
    return _bytes(proto.ReadRowsRequest(read_stream=stream))


def _bytes(message: object) -> bytes:
    data: bytes = message.SerializeToString(deterministic=True)  # type: ignore[attr-defined]  # its class is made at run time
    return data
