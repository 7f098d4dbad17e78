"""A server of the table p.d.t with one fault: ``python server.py FAULT COMMAND…`` runs the command with its addresses.

The column s has the texts a, bb, ccc and dddd, in two responses. Without a known fault, the server is correct.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent import futures

import grpc
import rest
from buffers import NO_ROWS, table
from google.cloud.bigquery_storage_v1.types import ReadRowsRequest, ReadRowsResponse, ReadSession

FAULT, COMMAND = sys.argv[1], sys.argv[2:]
SCHEMA, *BATCHES = table(FAULT)
HEADER, OTHER = ({"serialized_schema": text} for text in (SCHEMA, SCHEMA.replace(b"s\0\0\0", b"t\0\0\0")))
offsets: list[int] = []


def _create(_request: bytes, context: grpc.ServicerContext) -> bytes:
    if FAULT == "no-session":
        context.abort(grpc.StatusCode.UNKNOWN, "as the fault says")
    rows = 0 if FAULT == "no-estimate" else 4
    streams = [] if FAULT == "no-streams" else [{"name": "s/0"}]
    return ReadSession.serialize(ReadSession(streams=streams, arrow_schema=HEADER, estimated_row_count=rows))


def _read(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
    offsets.append(0 if FAULT == "offset-ignored" else ReadRowsRequest.deserialize(request).offset)
    if FAULT in {"schema-first", "no-rows-first"}:
        empty = {"arrow_record_batch": {"serialized_record_batch": NO_ROWS}} if FAULT == "no-rows-first" else {}
        yield ReadRowsResponse.serialize(ReadRowsResponse(arrow_schema=HEADER, **empty))
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


server = grpc.server(futures.ThreadPoolExecutor(4))
one, many = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
calls = {"CreateReadSession": one(_create), "ReadRows": many(_read)}
service = "google.cloud.bigquery.storage.v1.BigQueryRead"
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, calls)])
os.environ["GRPC"] = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
os.environ["REST"] = f"http://127.0.0.1:{rest.start()}"
server.start()
sys.exit(subprocess.run(COMMAND, check=False).returncode)  # noqa: S603  # the user's own command
