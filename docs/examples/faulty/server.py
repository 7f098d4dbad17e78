"""A server of the table p.d.t with one fault: ``python server.py FAULT COMMAND…`` runs the command with its addresses.

The column s has the texts a, bb, ccc and dddd, in two responses. Without a known fault, the server is correct.
"""

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent import futures

import grpc
import pyarrow as pa
from google.cloud.bigquery_storage_v1.types import ReadRowsRequest, ReadRowsResponse, ReadSession

FAULT, COMMAND = sys.argv[1], sys.argv[2:]
SCHEMA = pa.schema([pa.field("s", pa.string())])
BATCHES = [pa.record_batch([two], SCHEMA).serialize().to_pybytes() for two in (["a", "bb"], ["ccc", "dddd"])]
offsets = []


def _create(_request: bytes, _context: grpc.ServicerContext) -> bytes:
    schema = SCHEMA.serialize().to_pybytes() + (b"\xff\xff\xff\xff" + bytes(4)) * (FAULT == "end-of-stream")
    return ReadSession.serialize(ReadSession(streams=[{"name": "s/0"}], arrow_schema={"serialized_schema": schema}))


def _read(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
    offsets.append(0 if FAULT == "offset-ignored" else ReadRowsRequest.deserialize(request).offset)
    for batch in BATCHES[offsets[-1] // 2 :]:
        made = batch + BATCHES[0] if FAULT == "two-messages" else batch
        if batch is BATCHES[0]:
            made = {"cut-metadata": batch[:40], "schema-again": SCHEMA.serialize().to_pybytes()}.get(FAULT, made)
        if FAULT == "negative-offset":  # the offsets of a and bb are -1, 1 and 3
            made = made.replace(bytes([0, 0, 0, 0, 1, 0, 0, 0, 3]), bytes([255, 255, 255, 255, 1, 0, 0, 0, 3]))
        made = ReadRowsResponse(row_count=2, arrow_record_batch={"serialized_record_batch": made})
        yield ReadRowsResponse.serialize(made)
        if FAULT == "refused" or (FAULT in {"offset-ignored", "interrupted"} and len(offsets) == 1):
            code = grpc.StatusCode.PERMISSION_DENIED if FAULT == "refused" else grpc.StatusCode.UNAVAILABLE
            context.abort(code, "as the fault says")


class _Rest(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.wfile.write(b'HTTP/1.0 200 OK\r\n\r\n{"schema": {"fields": [{"name": "s", "type": "STRING"}]}}')


rest = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Rest)
threading.Thread(target=rest.serve_forever, daemon=True).start()
calls = {"CreateReadSession": grpc.unary_unary_rpc_method_handler(_create)}
calls["ReadRows"] = grpc.unary_stream_rpc_method_handler(_read)
server = grpc.server(futures.ThreadPoolExecutor(4))
name = "google.cloud.bigquery.storage.v1.BigQueryRead"
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(name, calls)])
os.environ["GRPC"] = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
os.environ["REST"] = f"http://127.0.0.1:{rest.server_port}"
server.start()
sys.exit(subprocess.run(COMMAND, check=False).returncode)  # noqa: S603  # the user's own command
