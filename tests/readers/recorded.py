"""Exchanges as a driver would have recorded them, built by hand from Arrow bytes."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from conformance.contract import proto
from conformance.formats.messages import AVRO, FORMATS
from conformance.records import BqType, Call, CallEnd, Case, Column, CreateSession, Exchange, Json, ReadRows, Table

TABLE = "projects/p/datasets/d/tables/t"
SESSION = "projects/p/locations/us/sessions/s"

COLUMNS = (Column("id", BqType.INT64), Column("name", BqType.STRING))
SCHEMA = pa.schema([pa.field("id", pa.int64()), pa.field("name", pa.string())])
EOS = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def batch(*ids: int | None) -> pa.RecordBatch:
    """A batch of the two columns."""
    names = [None if number is None else f"row {number}" for number in ids]
    return pa.record_batch([pa.array(ids, pa.int64()), pa.array(names, pa.string())], schema=SCHEMA)


def bytes_of(part: pa.Schema | pa.RecordBatch) -> bytes:
    """The one encapsulated message of a schema or a batch."""
    data: bytes = part.serialize().to_pybytes()
    return data


def case(
    columns: Sequence[Column] = COLUMNS, *, rows: int = 3, label: str = "s", selected: tuple[str, ...] = ()
) -> Case:
    """A case with that many rows and one session."""
    table = Table(tuple(columns), rows=tuple(Json({}) for _ in range(rows)))
    return Case("case", "a case", table, steps=(CreateSession(label, selected_fields=selected), ReadRows(label)))


def response(
    data: bytes, rows: int, *, schema: bytes = b"", compressed_from: int | None = None, deprecated: int = 0
) -> bytes:
    """A ReadRowsResponse around one batch message."""
    message = proto.ReadRowsResponse(row_count=rows)
    message.arrow_record_batch.serialized_record_batch = data
    message.arrow_record_batch.row_count = deprecated
    if schema:
        message.arrow_schema.serialized_schema = schema
    if compressed_from is not None:
        message.uncompressed_byte_size = compressed_from
    encoded: bytes = message.SerializeToString()
    return encoded


def create(
    schema: bytes,
    streams: Sequence[str],
    *,
    data_format: str = "ARROW",
    selected: Sequence[str] = (),
    payload_codec: str = "",
) -> Call:
    """A recorded CreateReadSession call."""
    request = proto.CreateReadSessionRequest(parent="projects/p")
    request.read_session.table = TABLE
    request.read_session.data_format = proto.DATA_FORMAT[data_format]
    request.read_session.read_options.selected_fields.extend(selected)
    request.read_session.read_options.response_compression_codec = proto.RESPONSE_COMPRESSION[payload_codec]
    session = proto.ReadSession(name=SESSION, table=TABLE, data_format=proto.DATA_FORMAT[data_format])
    FORMATS[request.read_session.data_format].put_schema(session, schema)
    for name in streams:
        session.streams.add(name=name)
    return Call(0, "s", "CreateReadSession", request.SerializeToString(), (session.SerializeToString(),))


def read(
    stream: str,
    responses: Sequence[bytes],
    *,
    offset: int = 0,
    status: str = "OK",
    end: CallEnd = CallEnd.COMPLETE,
) -> Call:
    """A recorded ReadRows call."""
    request = proto.ReadRowsRequest(read_stream=stream, offset=offset).SerializeToString()
    return Call(1, "s", "ReadRows", request, tuple(responses), status=status, end=end)


def stream(index: int = 0) -> str:
    """A stream's name."""
    return f"{SESSION}/streams/{index}"


def in_avro(schema: bytes, *payloads: bytes) -> Exchange:
    """One session in Avro with one stream, a response for each payload."""
    responses = []
    for payload in payloads:
        message = proto.ReadRowsResponse()
        AVRO.put_rows(message, payload)
        responses.append(message.SerializeToString())
    return of_calls(create(schema, [stream()], data_format="AVRO"), read(stream(), responses))


def exchange(
    *batches: bytes, schema: bytes | None = None, counts: Sequence[int] = (), schema_in_response: bool = True
) -> Exchange:
    """One session, one stream, one response per batch message; ``counts`` are the responses' row counts."""
    first = bytes_of(SCHEMA) if schema is None else schema
    counts = counts or [3] * len(batches)
    responses = [
        response(data, count, schema=first if schema_in_response and index == 0 else b"")
        for index, (data, count) in enumerate(zip(batches, counts, strict=True))
    ]
    return of_calls(create(first, [stream()]), read(stream(), responses))


def of_calls(*calls: Call) -> Exchange:
    """An exchange of these calls."""
    return Exchange("case", "target", tuple(calls), project="p", dataset="d", table="t")


def serialized(*batches: bytes, schema: bytes | None = None) -> Exchange:
    """The exchange of a serializer target."""
    first = bytes_of(SCHEMA) if schema is None else schema
    calls = [Call(0, "", "SerializeBatch", b"", (data,)) for data in batches]
    return of_calls(Call(0, "", "SerializeSchema", b"", (first,)), *calls)
