"""The replay server as the servers of client programs, those that read over TLS alone included."""

from __future__ import annotations

from typing import Any, Final

from conformance.readers.fullread import FullRead
from conformance.readers.ipc.implementation import Unavailable
from conformance.readers.programs.backend import members
from conformance.readers.tape import Tape
from conformance.replay.certificates import CertificateError
from conformance.replay.server import Replay
from conformance.replay.sessions import SessionAnswers
from conformance.replay.shelf import Held

__all__ = ["NAME", "ReplayBackend", "request_of"]

NAME: Final = "situation"
"""The name of the only recording on the shelf."""


class ReplayBackend:
    """A :class:`~conformance.readers.programs.backend.Backend` over TLS, with the proxy, too.

    Raises:
        Unavailable: there is no openssl; the text says so.
    """

    def __init__(self) -> None:
        self._server = Replay()
        try:
            self._server.__enter__()
        except CertificateError as error:
            raise Unavailable(str(error)) from None

    def play(self, read: FullRead) -> dict[str, Any]:
        """Serve this read from now on, and return the members of a request that reads it."""
        self._server.shelf.put(Held(NAME, SessionAnswers([Tape.of_read(read)])))
        return request_of(self._server, read.request, tls=True)

    def close(self) -> None:
        """Stop the servers."""
        self._server.__exit__(None, None, None)


def request_of(server: Replay, request: bytes, *, tls: bool) -> dict[str, Any]:
    """What a client has to be told to make a CreateReadSession request of a replay server: addresses and members."""
    grpc, rest = (f"127.0.0.1:{server.addresses[key]}" for key in ("grpc", "rest"))
    made = {"grpc": grpc, "rest": f"http://{rest}", **members(request)}
    if tls:
        made["proxy"] = f"http://127.0.0.1:{server.addresses['proxy']}"
        made |= {"grpc_tls": f"localhost:{server.addresses['grpc_tls']}", "ca": server.addresses["ca"]}
    return made
