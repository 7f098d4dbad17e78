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
from buffers import table
from google.cloud.bigquery_storage_v1.types import ReadRowsRequest, ReadRowsResponse, ReadSession

FAULT, COMMAND = sys.argv[1], sys.argv[2:]
SCHEMA, *BATCHES = table(FAULT)
HEADER, OTHER = ({"serialized_schema": text} for text in (SCHEMA, SCHEMA.replace(b"s\0\0\0", b"t\0\0\0")))
NAME = b'"tableReference": {"projectId": "p", "datasetId": "d", "tableId": "t"}'
offsets: list[int] = []


def _create(_request: bytes, _context: grpc.ServicerContext) -> bytes:
    rows = 0 if FAULT == "no-estimate" else 4
    return ReadSession.serialize(ReadSession(streams=[{"name": "s/0"}], arrow_schema=HEADER, estimated_row_count=rows))


def _read(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
    offsets.append(0 if FAULT == "offset-ignored" else ReadRowsRequest.deserialize(request).offset)
    for place in range(offsets[-1] // 2, 2 - (FAULT == "last-missing")):
        made = {"arrow_record_batch": {"serialized_record_batch": BATCHES[place]}}
        made |= {"arrow_schema": OTHER if FAULT == "other-schema" else HEADER} if place == offsets[-1] // 2 else {}
        if FAULT == "avro" and place:
            made = {"avro_rows": {"serialized_binary_rows": b"\x06ccc\x08dddd"}}
        answer = ReadRowsResponse(row_count=0 if FAULT == "no-row-count" else 2, **made)
        yield b"\xff" if FAULT == "not-a-message" else ReadRowsResponse.serialize(answer)
        if FAULT == "refused" or (FAULT in {"offset-ignored", "interrupted"} and len(offsets) == 1):
            code = "PERMISSION_DENIED" if FAULT == "refused" else "UNAVAILABLE"
            context.abort(grpc.StatusCode[code], "as the fault says")


class _Rest(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.wfile.write(b'HTTP/1.0 200 OK\r\n\r\n{"schema": {"fields": [{"name": "s", "type": "STRING"}]}, %b}' % NAME)


rest = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Rest)
threading.Thread(target=rest.serve_forever, daemon=True).start()
server = grpc.server(futures.ThreadPoolExecutor(4))
one, many = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
calls = {"CreateReadSession": one(_create), "ReadRows": many(_read)}
service = "google.cloud.bigquery.storage.v1.BigQueryRead"
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, calls)])
os.environ["GRPC"] = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
os.environ["REST"] = f"http://127.0.0.1:{rest.server_port}"
server.start()
sys.exit(subprocess.run(COMMAND, check=False).returncode)  # noqa: S603  # the user's own command
