"""One full read at a time as answers to a client: in its own process, and as a loopback server for client programs.

The server answers as :mod:`.replay` does, with exactly the recorded bytes, but nothing happens to its calls. So it
needs no event loop.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc

from conformance.contain.jsonhttp import JsonServer
from conformance.contract import proto
from conformance.readers import restanswers
from conformance.readers.fullread import FullRead
from conformance.readers.tape import NotRecordedError, Tape, Tapes

__all__ = ["HOST", "OPTIONS", "EveryMethod", "OneRead", "OneReadServer"]

OPTIONS: Final = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_metadata_size", 1 << 20),
    ("grpc.absolute_max_metadata_size", 1 << 20),
    # Two servers on one port would share its connections; a taken port has to be an error instead.
    ("grpc.so_reuseport", 0),
)
HOST: Final = "127.0.0.1"
THREADS: Final = 256
"""A call holds a thread until its client has taken everything, and a client may read its streams in any order."""


class OneRead:
    """Answers the calls and the REST requests of a client from the last full read given to :meth:`play`."""

    def __init__(self) -> None:
        self._tapes = Tapes()

    def play(self, read: FullRead) -> None:
        """Answer from this read from now on, and from no other."""
        self._tapes = Tapes([Tape.of_read(read, alone=True)])

    def answer(self, method: str, request: bytes) -> tuple[bytes, ...]:
        """The recorded responses to a call of the method with this bare name; raises :class:`NotRecordedError`."""
        responses, _ = self._tapes.answer(method, request)  # all calls of a full read ended in OK
        return responses

    def rest_answer(
        self, method: str, target: str, _headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, Any]]:
        """The status and the JSON of the answer to a REST request about the table of the read that is played now."""
        return restanswers.answer(self._tapes.described, method, target, body, self._tapes)


class OneReadServer:
    """A server from construction to :meth:`close`; ``address`` is ``host:port``.

    It serves the last full read given to :meth:`play`.
    """

    def __init__(self) -> None:
        self._reads = OneRead()
        self.play = self._reads.play
        self._http: JsonServer | None = None
        self._server = grpc.server(ThreadPoolExecutor(THREADS, "one-read"), options=OPTIONS)
        every = EveryMethod(self._answer, grpc.unary_stream_rpc_method_handler, proto.METHOD_PATHS)
        self._server.add_generic_rpc_handlers((every,))
        self.address = f"{HOST}:{self._server.add_insecure_port(f'{HOST}:0')}"
        self._server.start()

    @property
    def rest(self) -> str:
        """The URL of the REST answers to the read that is played; their server starts when this is first asked for."""
        if self._http is None:
            self._http = JsonServer(self._reads.rest_answer)
            self._http.start()
        return f"http://{HOST}:{self._http.port}"

    def close(self) -> None:
        """Stop the server and end the calls in progress."""
        if self._http is not None:
            self._http.stop()
        self._server.stop(None).wait()

    def _answer(self, method: str, request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        try:
            return iter(self._reads.answer(method, request))
        except NotRecordedError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"not recorded: {error}")
            raise AssertionError("abort raises") from None


class EveryMethod(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # it is generic in the stubs alone
    """Handles ``methods``, bare names by those that gRPC spells, by one function, which gets the bare name first.

    ``make`` is gRPC's function for a handler with a stream of responses, which on the wire includes single ones.
    """

    def __init__(
        self,
        answer: Callable[..., Any],
        make: Callable[[Any], Any],
        methods: Mapping[str, str],
    ) -> None:
        self._answer, self._make, self._methods = answer, make, methods

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        """The handler of a method, None for methods of other services."""
        name = self._methods.get(str(details.method))
        return None if name is None else self._make(functools.partial(self._answer, name))
