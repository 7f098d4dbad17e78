"""A loopback BigQueryRead server that answers with exactly the bytes that a target once sent.

It sends the recorded responses unchanged, without parsing and serializing them again. It answers only what was
recorded, and each stream only from row 0: a client that resumes at another offset, or splits a stream, gets
FAILED_PRECONDITION, because an invented continuation would hide the target's behaviour. It answers CreateReadSession
with the recorded session if table and data format match; the client chooses the other options itself, and the rows
do not depend on them.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Iterator
from typing import Final

import grpc

from conformance.contract import proto
from conformance.readers.fullread import FullRead

__all__ = ["ReplayServer"]

_STREAMS_AT_ONCE: Final = 8
"""Threads of the server; a client with more streams waits."""


class ReplayServer:
    """Serves one full read at a time, the last one given to :meth:`play`; ``address`` is ``host:port``."""

    def __init__(self) -> None:
        self._read: FullRead | None = None
        threads = concurrent.futures.ThreadPoolExecutor(_STREAMS_AT_ONCE, thread_name_prefix="replay")
        self._server = grpc.server(
            threads, options=[("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
        )
        service = proto.SERVICE.strip("/")
        handlers = {
            "CreateReadSession": grpc.unary_unary_rpc_method_handler(self._create),
            "ReadRows": grpc.unary_stream_rpc_method_handler(self._rows),
            "SplitReadStream": grpc.unary_unary_rpc_method_handler(self._split),
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def play(self, read: FullRead) -> None:
        """Serve this read from now on, and no other."""
        self._read = read

    def close(self) -> None:
        """Stop the server and end the calls in progress."""
        self._server.stop(None).wait()

    def _create(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        read = self._playing(context)
        asked = proto.CreateReadSessionRequest.FromString(request).read_session
        recorded = proto.CreateReadSessionRequest.FromString(read.request).read_session
        if (asked.table, asked.data_format) != (recorded.table, recorded.data_format):
            _not_recorded(context, f"a session of {asked.table!r} in format {asked.data_format}")
        return read.session

    def _rows(self, request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        asked = proto.ReadRowsRequest.FromString(request)
        stream = next((one for one in self._playing(context).streams if one.name == asked.read_stream), None)
        if stream is None or asked.offset:
            _not_recorded(context, f"stream {asked.read_stream!r} from offset {asked.offset}")
        else:
            yield from stream.responses

    def _split(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        return _not_recorded(context, f"a split of {proto.SplitReadStreamRequest.FromString(request).name!r}")

    def _playing(self, context: grpc.ServicerContext) -> FullRead:
        if self._read is None:
            _not_recorded(context, "any call")
        assert self._read is not None
        return self._read


def _not_recorded(context: grpc.ServicerContext, what: str) -> bytes:
    """End the call. It never returns; the return type suits handlers that have nothing else to return."""
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"not recorded: {what}")
    raise AssertionError("abort raises")
