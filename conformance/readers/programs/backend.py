"""What a client program talks to: servers of one full read at a time, with REST answers, on loopback."""

from __future__ import annotations

from typing import Any, Protocol

from conformance.contract import proto
from conformance.readers.fullread import FullRead
from conformance.readers.oneread import OneReadServer

__all__ = ["Backend", "PlainBackend", "members"]


class Backend(Protocol):
    """Serves one full read at a time to a client."""

    def play(self, read: FullRead) -> dict[str, Any]:
        """Serve this read from now on, and return the members of a request that reads it."""

    def close(self) -> None:
        """Stop the servers."""


class PlainBackend:
    """Servers in plain text, to whose calls nothing happens."""

    def __init__(self) -> None:
        self._server = OneReadServer()
        self._addresses = {"grpc": self._server.address, "rest": self._server.rest}

    def play(self, read: FullRead) -> dict[str, Any]:
        """Serve this read from now on, and return the members of a request that reads it."""
        self._server.play(read)
        return {**self._addresses, **members(read.request)}

    def close(self) -> None:
        """Stop the server."""
        self._server.close()


def members(request: bytes) -> dict[str, Any]:
    """What a CreateReadSession request asks for, as members of a request to a client."""
    asked = proto.CreateReadSessionRequest.FromString(request).read_session
    return {
        "table": asked.table,
        "columns": list(asked.read_options.selected_fields),
        "restriction": asked.read_options.row_restriction,
    }
