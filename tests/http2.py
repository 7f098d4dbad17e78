"""Frames of HTTP/2 and messages of gRPC, for tests that speak below gRPC."""

from __future__ import annotations

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
