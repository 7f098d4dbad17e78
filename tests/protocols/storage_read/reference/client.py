"""A client of the reference for tests: raw stubs and plain HTTP, a deadline on every call."""

from __future__ import annotations

import dataclasses
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
import pyarrow as pa

from conformance.contract import proto
from conformance.protocols.storage_read.reference.server import ReferenceServer

DEADLINE = 20.0
PROJECT, DATASET = "test-project", "ds"
PARENT = f"projects/{PROJECT}"


@dataclasses.dataclass(frozen=True)
class Answer:
    """An HTTP answer: status and JSON body."""

    status: int
    body: dict[str, Any]


def field(name: str, kind: str = "INT64", mode: str = "NULLABLE", **more: Any) -> dict[str, Any]:
    """A field of a REST schema."""
    return {"name": name, "type": kind, "mode": mode, **more}


def table_name(table: str) -> str:
    """The resource name of a table of the test dataset."""
    return f"{PARENT}/datasets/{DATASET}/tables/{table}"


class Client:
    """Seeds by REST and reads by gRPC."""

    def __init__(self, server: ReferenceServer) -> None:
        self.server = server
        self.channel = grpc.insecure_channel(
            server.grpc_endpoint,
            options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
        )

    def close(self) -> None:
        """End the connection."""
        self.channel.close()

    # --- REST -----------------------------------------------------------------------------------------

    def http(self, method: str, path: str, body: Any = None) -> Answer:
        """One request below ``/bigquery/v2``."""
        url = f"http://{self.server.rest_endpoint}/bigquery/v2{path}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE) as response:
                return Answer(response.status, json.load(response))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, json.load(error))

    def create(self, table: str, *fields: dict[str, Any]) -> None:
        """Make a table (and its dataset if it does not exist)."""
        self.http("POST", f"/{PARENT}/datasets", {"datasetReference": {"datasetId": DATASET}})
        body = {"tableReference": {"tableId": table}, "schema": {"fields": list(fields)}}
        answer = self.http("POST", f"/{PARENT}/datasets/{DATASET}/tables", body)
        assert answer.status == 200, answer

    def insert(self, table: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """insertAll; the body of the answer."""
        body = {"rows": [{"json": row} for row in rows]}
        answer = self.http("POST", f"/{PARENT}/datasets/{DATASET}/tables/{table}/insertAll", body)
        assert answer.status == 200, answer
        return answer.body

    def seed(self, table: str, fields: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]) -> None:
        """A table with rows."""
        self.create(table, *fields)
        assert "insertErrors" not in self.insert(table, rows)

    def numbers(self, table: str, count: int) -> None:
        """A table ``id`` of the integers from 0."""
        self.seed(table, [field("id")], [{"id": number} for number in range(count)])

    # --- gRPC -----------------------------------------------------------------------------------------

    def session(self, table: str, *, max_streams: int = 0, preferred: int = 0, **options: Any) -> Any:
        """CreateReadSession on a table, ``options`` being those of TableReadOptions (none: the message is left out)."""
        session = proto.ReadSession(table=table_name(table), data_format=proto.DATA_FORMAT["ARROW"])
        for name, value in options.items():
            _set(session.read_options, name, value)
        return self.open(session, max_streams=max_streams, preferred=preferred)

    def open(self, session: Any, *, parent: str = PARENT, max_streams: int = 0, preferred: int = 0) -> Any:
        """CreateReadSession with a session as given."""
        request = proto.CreateReadSessionRequest(
            parent=parent,
            read_session=session,
            max_stream_count=max_streams,
            preferred_min_stream_count=preferred,
        )
        return self._unary("CreateReadSession")(request, timeout=DEADLINE)

    def start(self, stream: str, offset: int = 0) -> Any:
        """The call object of a ReadRows call."""
        method = self.channel.unary_stream(
            f"{proto.SERVICE}ReadRows",
            request_serializer=proto.ReadRowsRequest.SerializeToString,
            response_deserializer=proto.ReadRowsResponse.FromString,
        )
        return method(proto.ReadRowsRequest(read_stream=stream, offset=offset), timeout=DEADLINE)

    def read(self, stream: str, offset: int = 0) -> list[Any]:
        """Every response of a ReadRows call."""
        return list(self.start(stream, offset))

    def split(self, stream: str, fraction: float) -> Any:
        """SplitReadStream."""
        return self._unary("SplitReadStream")(
            proto.SplitReadStreamRequest(name=stream, fraction=fraction), timeout=DEADLINE
        )

    def rows(self, session: Any, stream: str | None = None, offset: int = 0) -> list[dict[str, Any]]:
        """Decoded rows of one stream, or of all streams in order."""
        names = [it.name for it in session.streams] if stream is None else [stream]
        schema = schema_of(session)
        found = [row for name in names for it in self.read(name, offset) for row in decode(it, schema).to_pylist()]
        return list(found)

    def ids(self, session: Any, stream: str | None = None, offset: int = 0) -> list[int]:
        """The ``id`` column of :meth:`rows`."""
        return [row["id"] for row in self.rows(session, stream, offset)]

    def _unary(self, method: str) -> Any:
        return self.channel.unary_unary(
            proto.SERVICE + method,
            request_serializer=proto.REQUESTS[method].SerializeToString,
            response_deserializer=proto.RESPONSES[method].FromString,
        )


def _set(options: Any, name: str, value: Any) -> None:
    if name == "selected_fields":
        options.selected_fields.extend(value)
    elif name == "buffer_compression":
        options.arrow_serialization_options.buffer_compression = proto.COMPRESSION[value]
    else:
        setattr(options, name, value)


def schema_of(session: Any) -> pa.Schema:
    """The Arrow schema of a session."""
    return pa.ipc.read_schema(pa.py_buffer(session.arrow_schema.serialized_schema))


def decode(response: Any, schema: pa.Schema) -> pa.RecordBatch:
    """The batch of a response, fully validated."""
    data = response.arrow_record_batch.serialized_record_batch
    if response.uncompressed_byte_size > 0:
        data = pa.Codec("lz4_raw").decompress(data, decompressed_size=response.uncompressed_byte_size)
    batch = pa.ipc.read_record_batch(pa.py_buffer(data), schema)
    batch.validate(full=True)
    return batch


def connected(mutant: str | None = None) -> Iterator[Client]:
    """A client of a fresh server; the body of a fixture."""
    with ReferenceServer(mutant=mutant) as server:
        client = Client(server)
        yield client
        client.close()
