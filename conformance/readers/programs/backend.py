"""What a client program talks to: the server of one full read, with its REST answers, on loopback."""

from __future__ import annotations

from typing import Any

from conformance.contract import proto
from conformance.readers.fullread import FullRead
from conformance.readers.oneread import OneReadServer

__all__ = ["Backend", "members"]


class Backend:
    """Serves one full read at a time to a client."""

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
