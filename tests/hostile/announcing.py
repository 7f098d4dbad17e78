"""Servers that attack in what they print and where they listen: floods, ports that are none, ports of others."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from typing import TYPE_CHECKING, Final

from tests.hostile.lives import NOT_STARTED, life, sleeper

if TYPE_CHECKING:
    from tests.hostile.host import Host

__all__: list[str] = []

MIB: Final = 1 << 20


@life("life.prints-a-gib")
def prints_a_gib(host: Host) -> None:
    """The server prints a GiB of short lines before its ports."""
    lines = b"INFO starting\n" * (MIB // 14)
    for _ in range(1024):
        os.write(1, lines)
    host.serve()


@life("life.prints-without-line-ends")
def prints_without_line_ends(host: Host) -> None:
    """The server prints 256 MiB without a line end, then a line end, then its ports."""
    for _ in range(256):
        os.write(1, b"x" * MIB)
    os.write(1, b"\n")
    host.serve()


@life("life.prints-binary")
def prints_binary(host: Host) -> None:
    """The server prints every byte value to both outputs, many times, before its ports."""
    for number in (1, 2):
        os.write(number, bytes(range(256)) * 1000 + b"\n")
    host.serve()


@life("life.prints-odd-json")
def prints_odd_json(host: Host) -> None:
    """Before its ports, the server prints JSON that is not an object, JSON nested 100,000 deep, and endless objects."""
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    for line in (
        b"[1]",
        b"null",
        b'"event"',
        deep,
        b"[" * 100_000,
        b'{"event": {}}',
        b"{}",
        b'{"event":"rest.listen"}',
    ):
        os.write(1, line + b"\n")
    os.write(1, b'{"event": ' * 1000 + b"\n")
    host.serve()


@life("life.announces-absurd-ports")
def announces_absurd_ports(host: Host) -> None:
    """The server prints invalid ports before the right ones: negative, of 30 digits, strings, lists, true, NaN."""
    odd: list[object] = [-1, 0, 65536, 10**30, "80", [80], {"port": 80}, True, None, 1.5, float("nan"), 1e300]
    for port in odd:
        for event in ("rest.listen", "grpc.listen"):
            host.say({"event": event, "port": port})
    host.say({"event": ["rest.listen"], "port": 80})
    host.serve()


@life("life.announces-only-absurd-ports", NOT_STARTED)
def announces_only_absurd_ports(host: Host) -> None:
    """The server prints only invalid ports."""
    host.start()
    for event in ("rest.listen", "grpc.listen"):
        host.say({"event": event, "port": 10**30})
    host.wait()


@life("life.announces-the-port-of-another", NOT_STARTED)
def announces_the_port_of_another(host: Host) -> None:
    """The server prints the port of another process, which accepts connections and says nothing."""
    ready, reported = os.pipe()

    def listen() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        os.write(reported, str(listener.getsockname()[1]).encode())
        while True:
            listener.accept()

    sleeper(before=listen)
    port = int(os.read(ready, 10))
    host.say({"event": "rest.listen", "port": port}, {"event": "grpc.listen", "port": port})
    host.wait()


@life("life.announces-late")
def announces_late(host: Host) -> None:
    """The server prints its ports three seconds after it listens."""
    host.start()
    time.sleep(3)
    host.announce()
    host.wait()


@life("life.announces-twice")
def announces_twice(host: Host) -> None:
    """The server prints other ports after the right ones, while it works."""
    host.start()
    host.announce()
    host.say({"event": "rest.listen", "port": 1}, {"event": "grpc.listen", "port": 1})
    host.wait()


@life("life.never-announces", NOT_STARTED)
def never_announces(host: Host) -> None:
    """The server works, but never prints its ports."""
    host.start()
    host.wait()


@life("life.announces-in-pieces")
def announces_in_pieces(host: Host) -> None:
    """The lines with the ports arrive one byte at a time, between the lines of another log."""
    host.start()
    for event, port in (("rest.listen", host.rest.port), ("grpc.listen", host.grpc_port)):
        for byte in (json.dumps({"event": event, "port": port, "level": "info"}) + "\r\n").encode():
            os.write(1, bytes([byte]))
            time.sleep(0.005)
    host.wait()


@life("life.binds-late")
def binds_late(host: Host) -> None:
    """The server prints its ports two seconds before it listens on them."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    host.start()
    host.say({"event": "rest.listen", "port": host.rest.port}, {"event": "grpc.listen", "port": port})
    time.sleep(2)
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", host.grpc_port))
        for source, sink in ((client, server), (server, client)):
            threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(65536):
            sink.sendall(chunk)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)


@life("life.open-port-that-says-nothing", NOT_STARTED)
def open_port_that_says_nothing(host: Host) -> None:
    """The gRPC port accepts connections, and nobody answers on it."""
    host.start()
    mute = socket.create_server(("127.0.0.1", 0))
    host.say({"event": "rest.listen", "port": host.rest.port}, {"event": "grpc.listen", "port": mute.getsockname()[1]})
    kept = []
    while True:
        kept.append(mute.accept())


@life("life.listens-elsewhere", NOT_STARTED)
def listens_elsewhere(host: Host) -> None:
    """No process listens on the gRPC port that the server prints."""
    host.start()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    host.say({"event": "rest.listen", "port": host.rest.port}, {"event": "grpc.listen", "port": port})
    host.wait()


@life("life.grpc-port-speaks-html", NOT_STARTED)
def grpc_port_speaks_html(host: Host) -> None:
    """The gRPC port answers every connection with an HTML page."""
    host.start()
    page = socket.create_server(("127.0.0.1", 0))
    host.say({"event": "rest.listen", "port": host.rest.port}, {"event": "grpc.listen", "port": page.getsockname()[1]})
    while True:
        connection, _ = page.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n<html></html>")
