"""Frames of HTTP/2 and messages of gRPC, for tests that speak below gRPC."""

from __future__ import annotations

import contextlib
import socket
import ssl
from typing import Final

__all__ = [
    "CONTINUATION",
    "DATA",
    "END_HEADERS",
    "END_STREAM",
    "GOAWAY",
    "HEADERS",
    "PING",
    "PREFACE",
    "RST_STREAM",
    "SETTINGS",
    "frame_of",
    "prefixed",
    "sent",
]

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""What a client sends first (RFC 9113, section 3.4)."""
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 6, 7, 9
END_STREAM, END_HEADERS = 1, 4


def frame_of(kind: int, payload: bytes, *, flags: int = 0, stream: int = 1) -> bytes:
    """A frame (RFC 9113, section 4.1)."""
    return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload


def prefixed(*messages: bytes) -> bytes:
    """Messages with the prefixes of gRPC: not compressed, and their lengths."""
    return b"".join(b"\0" + len(one).to_bytes(4) + one for one in messages)


def sent(address: str, method: str, request: bytes = b"", *, tls: ssl.SSLContext | None = None) -> bytes:
    """The bytes of messages that a server sends until the end of the call or of the connection, to a client that takes
    them all.

    gRPC may drop messages that its program has not taken when it loses the connection. ``method`` is its path.
    """
    names = {":method": "POST", ":scheme": "http", ":path": method, ":authority": address}
    names |= {"content-type": "application/grpc", "te": "trailers"}
    # Literals without indexing (RFC 7541, section 6.2.2): no name and no value is longer than 126 bytes.
    literals = ((name.encode(), value.encode()) for name, value in names.items())
    block = b"".join(b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value for name, value in literals)
    asked = frame_of(HEADERS, block, flags=END_HEADERS) + frame_of(DATA, prefixed(request), flags=END_STREAM)
    host, _, port = address.rpartition(":")
    data = bytearray()
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(socket.create_connection((host, int(port))))
        if tls is not None:
            connection = stack.enter_context(tls.wrap_socket(connection, server_hostname=host))
        come = stack.enter_context(connection.makefile("rb"))
        connection.sendall(PREFACE + frame_of(SETTINGS, b"", stream=0) + asked)
        while header := come.read(9):
            payload = come.read(int.from_bytes(header[:3]))
            if header[3] == DATA:
                data += payload
            if header[3] in (DATA, HEADERS) and header[4] & END_STREAM:
                break
    return bytes(data)
