"""A Flight server of one stream with one fault: ``python server.py FAULT COMMAND…`` runs the command with its address.

The column s has the texts a, bb, ccc and dddd, in two batches. Without a known fault, the server is correct.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent import futures

import grpc
import pyarrow as pa
from streams import STREAMS, part

FAULT, COMMAND = sys.argv[1], sys.argv[2:]
TEXTS = pa.schema([pa.field("s", pa.string())])
PATH = b"\x08\x01"  # the type of a descriptor


def _get(_request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
    yield from STREAMS.get(FAULT, STREAMS["none"])
    if FAULT == "cancelled":
        context.abort(grpc.StatusCode.CANCELLED, "as the fault says")


def _exchange(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    for _ in requests:
        pass
    yield from _get(b"", context)


def _info(request: bytes, context: grpc.ServicerContext) -> bytes:
    if b"CommandGetSqlInfo" in request:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "this server has no facts about itself")
    return part(1, TEXTS.serialize().to_pybytes()) + part(3, part(1, part(1, b"ticket")))


def _flights(_request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
    whole = [part(2, PATH + part(3, name)) for name in (b"first", b"second", b"third")]
    cut = {"no-protobuf": 2, "no-protobuf-within": 1}.get(FAULT)
    yield from (one[:-1] if place == cut else one for place, one in enumerate(whole))


CALLS: dict[str, tuple[Callable[..., grpc.RpcMethodHandler], Callable[..., object]]] = {
    "DoGet": (grpc.unary_stream_rpc_method_handler, _get),
    "DoExchange": (grpc.stream_stream_rpc_method_handler, _exchange),
    "GetFlightInfo": (grpc.unary_unary_rpc_method_handler, _info),
    "ListFlights": (grpc.unary_stream_rpc_method_handler, _flights),
}
server = grpc.server(futures.ThreadPoolExecutor(4))
handlers = {name: shape(call) for name, (shape, call) in CALLS.items()}
service = "arrow.flight.protocol.FlightService"
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, handlers)])
os.environ["FLIGHT"] = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
server.start()
sys.exit(subprocess.run(COMMAND, check=False).returncode)  # noqa: S603  # the user's own command
