"""A BigQuery emulator as somebody begins one: some REST calls, two methods of the Storage Read API, four types.

It is what the guides call your server: it knows nothing of the suite, takes its ports from its command line, knows one
project, and is not finished. ``test_init.py`` follows its author from ``conformance init`` to the first verdict.
"""

from __future__ import annotations

import argparse
import json
import uuid
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
import pyarrow as pa
from google.cloud.bigquery_storage_v1 import types as bq

TYPES = {"INT64": pa.int64(), "STRING": pa.string(), "BOOL": pa.bool_(), "FLOAT64": pa.float64()}
ALIASES = {"INTEGER": "INT64", "BOOLEAN": "BOOL", "FLOAT": "FLOAT64"}
TABLES: dict[str, tuple[pa.Schema, list[dict[str, Any]]]] = {}
SESSIONS: dict[str, tuple[str, list[str]]] = {}


def arrow_schema(fields: list[dict[str, str]]) -> pa.Schema:
    """The Arrow schema of a table's REST schema; KeyError for a type that the emulator lacks."""
    modes = {field["name"]: field.get("mode", "NULLABLE") for field in fields}
    if "REPEATED" in modes.values():
        raise KeyError("REPEATED")
    return pa.schema(
        pa.field(one["name"], TYPES[ALIASES.get(one["type"], one["type"])], modes[one["name"]] != "REQUIRED")
        for one in fields
    )


class Rest(BaseHTTPRequestHandler):
    """datasets.insert and list, tables.insert and delete, tabledata.insertAll and list."""

    def _answer(self, body: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        """Make a table or insert its rows; every dataset exists."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        place = self.path.split("?")[0].removeprefix("/bigquery/v2/")
        if place.endswith("/tables"):
            try:
                schema = arrow_schema(body["schema"]["fields"])
            except KeyError as error:
                self._answer({"error": {"message": f"unsupported: {error}"}}, 501)
                return
            TABLES[f"{place}/{body['tableReference']['tableId']}"] = (schema, [])
        elif place.endswith("/insertAll"):
            schema, rows = TABLES[place.removesuffix("/insertAll")]
            given = ([row["json"].get(name) for name in schema.names] for row in body["rows"])
            integers = [name for name in schema.names if schema.field(name).type == pa.int64()]
            made = [dict(zip(schema.names, row, strict=True)) for row in given]
            rows += [row | {name: int(row[name]) for name in integers if row[name] is not None} for row in made]
        self._answer({})

    def do_GET(self) -> None:
        """The rows of a table; any other path has none."""
        place = self.path.split("?")[0].removeprefix("/bigquery/v2/").removesuffix("/data")
        rows = TABLES[place][1] if place in TABLES else []
        text = [
            [json.dumps(v) if isinstance(v, bool) else v if v is None else str(v) for v in r.values()] for r in rows
        ]
        self._answer({"totalRows": str(len(rows)), "rows": [{"f": [{"v": cell} for cell in row]} for row in text]})

    def do_DELETE(self) -> None:
        """Forget a table."""
        TABLES.pop(self.path.removeprefix("/bigquery/v2/"), None)
        self._answer({})

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def create_read_session(request: Any, context: grpc.ServicerContext) -> Any:
    """One stream; selected columns in the order of the table."""
    session = request.read_session
    if session.table not in TABLES:
        context.abort(grpc.StatusCode.NOT_FOUND, f"no table {session.table}")
    schema, _ = TABLES[session.table]
    session.name = f"{request.parent}/locations/us/sessions/{uuid.uuid4().hex}"
    wanted = set(session.read_options.selected_fields) or set(schema.names)
    names = [name for name in schema.names if name in wanted]
    session.arrow_schema.serialized_schema = chosen(schema, names).serialize().to_pybytes()
    session.streams = [bq.ReadStream(name=f"{session.name}/streams/s0")]
    SESSIONS[session.streams[0].name] = (session.table, names)
    return session


def read_rows(request: Any, context: grpc.ServicerContext) -> Any:
    """All rows from the offset on, in one response."""
    table, names = SESSIONS[request.read_stream]
    schema, rows = TABLES[table]
    batch = pa.RecordBatch.from_pylist(rows[request.offset :], schema=chosen(schema, names))
    if batch.num_rows:
        answer = bq.ReadRowsResponse(row_count=batch.num_rows)
        answer.arrow_record_batch.serialized_record_batch = batch.serialize().to_pybytes()
        yield answer


def chosen(schema: pa.Schema, names: list[str]) -> pa.Schema:
    """The columns of a projection."""
    return pa.schema(schema.field(name) for name in names)


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=9050)
    parser.add_argument("--grpc-port", type=int, default=9060)
    options = parser.parse_args()
    server = grpc.server(futures.ThreadPoolExecutor(8))
    methods = {
        "CreateReadSession": grpc.unary_unary_rpc_method_handler(
            create_read_session, bq.CreateReadSessionRequest.deserialize, bq.ReadSession.serialize
        ),
        "ReadRows": grpc.unary_stream_rpc_method_handler(
            read_rows, bq.ReadRowsRequest.deserialize, bq.ReadRowsResponse.serialize
        ),
    }
    name = "google.cloud.bigquery.storage.v1.BigQueryRead"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, methods),))
    server.add_insecure_port(f"127.0.0.1:{options.grpc_port}")
    server.start()
    ThreadingHTTPServer(("127.0.0.1", options.port), Rest).serve_forever()


if __name__ == "__main__":
    main()
