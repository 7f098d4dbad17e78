"""Attacks below gRPC: the bytes of the connection, cut into HTTP/2 frames on their way from server to client."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.hostile.attack import Act, Attack, Expected, Part, register
from tests.http2 import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    RST_STREAM,
    SETTINGS,
    frame_of,
)

__all__ = ["Wire"]

FLOOD_SECONDS: Final = 20.0
"""How long a flood goes on where nobody ends it."""


class Wire:
    """A proxy in front of a gRPC port: passes bytes on, unless the case in hand is attacked on the wire."""

    def __init__(self, upstream: int, current: Callable[[], Attack | None]) -> None:
        self._upstream = upstream
        self._current = current
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            server = socket.create_connection(("127.0.0.1", self._upstream))
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._up, args=(client, server), daemon=True).start()
            threading.Thread(target=self._down, args=(server, client), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while chunk := client.recv(65536):
                server.sendall(chunk)
        _close(server)

    def _down(self, server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            stream = server.makefile("rb")
            while len(head := stream.read(9)) == 9:
                frame = head + stream.read(int.from_bytes(head[:3]))
                attack = self._current()
                if attack is not None and attack.part is Part.WIRE:
                    for piece in attack.act(frame, client):
                        client.sendall(piece)
                else:
                    client.sendall(frame)
        _close(client)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


def _wire(name: str, *outcomes: str, later: bool = True, **more: Any) -> Callable[[Act], Act]:
    return register(name, Part.WIRE, Expected(outcomes, later=later), **more)


BROKEN: Final = ("crash", "refused", "hang")


def _stream_of(frame: bytes) -> int:
    return int.from_bytes(frame[5:9]) & 0x7FFFFFFF


def _until_late() -> Iterator[None]:
    until = time.monotonic() + FLOOD_SECONDS
    while time.monotonic() < until:
        yield


@_wire("wire.garbage", *BROKEN)
def garbage(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """The server sends random bytes instead of HTTP/2 frames."""
    yield os.urandom(65536)


@_wire("wire.http1", *BROKEN)
def http1(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """The server sends an HTML page over HTTP/1.1 instead of HTTP/2."""
    yield b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n\r\n<html><h1>502</h1></html>"


@_wire("wire.closed-at-once", *BROKEN)
def closed_at_once(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """The server closes the connection instead of answering."""
    client.shutdown(socket.SHUT_RDWR)
    yield b""


@_wire("wire.closes-after-every-call", "pass", "crash")
def closes_after_every_call(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """The server closes the connection after every call, so each call needs a new one."""
    yield frame
    if frame[3] == HEADERS and frame[4] & END_STREAM:
        client.sendall(frame_of(GOAWAY, _stream_of(frame).to_bytes(4) + bytes(4), stream=0))
        client.shutdown(socket.SHUT_RDWR)


@_wire("wire.reset", *BROKEN)
def reset(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """The connection is reset in the middle of a frame."""
    client.sendall(frame[: len(frame) // 2])
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    yield frame


@_wire("wire.rst-stream", *BROKEN, "fail")
def rst_stream(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """The server resets every stream instead of sending its first message."""
    yield frame if frame[3] != DATA else frame_of(RST_STREAM, (2).to_bytes(4), stream=_stream_of(frame))


@_wire("wire.goaway-storm", *BROKEN, "fail")
def goaway_storm(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """A thousand GOAWAY frames with debug data precede every frame."""
    for _ in range(1000):
        yield frame_of(GOAWAY, bytes(4) + (11).to_bytes(4) + b"too_many_pings\x1b[31m" * 100, stream=0)
    yield frame


@_wire("wire.ping-flood", *BROKEN, "fail", "pass")
def ping_flood(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """PING and SETTINGS frames precede every frame, as fast as the client reads them."""
    for _ in range(50):
        yield (frame_of(PING, bytes(8), stream=0) + frame_of(SETTINGS, b"", stream=0)) * 1000
    yield frame


@_wire("wire.endless-pings", "hang", "crash")
def endless_pings(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """The server sends PING frames without end instead of answering."""
    for _ in _until_late():
        yield frame_of(PING, bytes(8), stream=0) * 1000


@_wire("wire.endless-settings", "hang", "crash")
def endless_settings(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """The server sends SETTINGS frames without end instead of answering."""
    for _ in _until_late():
        yield frame_of(SETTINGS, b"", stream=0) * 1000


@_wire("wire.endless-headers", *BROKEN, "fail", later=False, alone=True)
def endless_headers(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """The header block of an answer continues in CONTINUATION frames, while the next case waits."""
    if frame[3] != HEADERS:
        yield frame
        return
    stream = _stream_of(frame)
    header = b"\x00\x03x-y\x7f\x81\x7e" + b"a" * 16384
    yield frame_of(HEADERS, b"", stream=stream)
    for _ in _until_late():
        yield frame_of(CONTINUATION, header[:16384], stream=stream)


@_wire("wire.dripping-frames", "hang", "crash")
def dripping_frames(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """Every frame arrives at one byte per half second."""
    for byte in frame:
        yield bytes([byte])
        time.sleep(0.5)


@_wire("wire.frame-of-16-mib", *BROKEN, "fail")
def frame_of_16_mib(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """A frame declares 16 MiB, which the client never permitted."""
    yield frame_of(DATA, b"", stream=_stream_of(frame))[3:].join([b"\xff\xff\xff", bytes(1 << 24)])


@_wire("wire.message-of-4-gib", *BROKEN, "fail")
def message_of_4_gib(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """A message declares 4 GiB in its prefix, and then its bytes arrive slowly."""
    if frame[3] != DATA:
        yield frame
        return
    yield frame_of(DATA, b"\x00\xff\xff\xff\xff" + bytes(100), stream=_stream_of(frame))
    for _ in _until_late():
        yield frame_of(DATA, bytes(1), stream=_stream_of(frame))
        time.sleep(0.1)


@_wire("wire.windows-shut", *BROKEN, "fail", "pass")
def windows_shut(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """Settings set every window to zero and every table to the maximum, a hundred times."""
    settings = struct.pack(">HIHIHI", 4, 0, 1, 0xFFFFFFFF, 3, 0)
    yield frame_of(SETTINGS, settings, stream=0) * 100
    yield frame


@_wire("wire.frames-of-unknown-kinds", *BROKEN, "fail", "pass")
def frames_of_unknown_kinds(frame: bytes, client: socket.socket) -> Iterator[bytes]:
    """Each frame comes with a push promise and with frames of undefined types."""
    yield frame_of(0xEE, os.urandom(4096), flags=0xFF, stream=7) * 100
    yield frame_of(5, (2).to_bytes(4), flags=END_HEADERS, stream=_stream_of(frame) or 1)
    yield frame
