"""A loopback BigQueryRead server that answers with exactly the bytes that a target once sent.

Nothing is parsed and written again: the recorded responses go out as they came in.
Only what was recorded is answered, and each stream from row 0: a client that resumes at another offset, or splits a
stream, gets FAILED_PRECONDITION, because a made-up continuation would hide what the target did.
CreateReadSession is answered with the recorded session where the table and the data format are the recorded ones;
the other options are the client's own choice, and rows do not depend on them.
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
"""Threads of the server: a client with more streams waits for its turn."""


class ReplayServer:
    """Serves one whole read at a time, the one last given to :meth:`play`; ``address`` is ``host:port``."""

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
        """Stop serving; calls under way are ended."""
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
    """End the call; never returns, the type is for handlers that have nothing else to return."""
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"not recorded: {what}")
    raise AssertionError("abort raises")
