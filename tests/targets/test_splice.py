"""REST through the proxy: connections are passed on byte for byte."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
from pathlib import Path

import pytest

from conformance.reference.guard import ServerTls
from conformance.targets.splice import Splice
from tests.certificates import make_certificates
from tests.recording.running import address, recording


def answering(listener: socket.socket, heard: list[bytes], answer: bytes) -> None:
    """Take one connection, read it to its end, answer, and hang up."""
    connection, _ = listener.accept()
    with connection:
        while data := connection.recv(1 << 16):
            heard.append(data)
        connection.sendall(answer)


def test_both_directions_are_the_same_bytes(tmp_path: Path) -> None:
    """Bytes that are no HTTP, more than any buffer holds, and an end of one direction before the other's."""
    sent, answer = bytes(range(256)) * 9_000, b"\x00\xff" * 500_000
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=answering, args=(listener, heard, answer))
        server.start()
        rest = f"127.0.0.1:{listener.getsockname()[1]}"
        with recording("127.0.0.1:1", tmp_path / "said.log", rest=rest) as (proxy, _):
            with socket.create_connection(address(proxy.rest)) as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
            server.join()

    assert b"".join(heard) == sent
    assert received == answer


def test_a_web_page_is_refused_and_not_passed_on(tmp_path: Path) -> None:
    """Not even behind a request of a program on the same connection."""
    ours = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=answering, args=(listener, heard, b""))
        server.start()
        rest = f"127.0.0.1:{listener.getsockname()[1]}"
        with recording("127.0.0.1:1", tmp_path / "said.log", rest=rest) as (proxy, _):
            with socket.create_connection(address(proxy.rest)) as connection:
                connection.sendall(ours + b"POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n")
                received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
            server.join()

    assert b"".join(heard) == ours
    assert received.startswith(b"HTTP/1.1 403 ")


def test_a_server_that_is_not_there_ends_the_connection(tmp_path: Path) -> None:
    """The remark says where nobody listened."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        rest = f"127.0.0.1:{listener.getsockname()[1]}"
    with recording("127.0.0.1:1", tmp_path / "said.log", rest=rest) as (proxy, _):
        with socket.create_connection(address(proxy.rest)) as connection:
            assert connection.recv(1) == b""
        assert proxy.remarks[0].startswith(f"1 REST connections could not be passed on to {rest}: ")


def test_a_server_that_never_reads_does_not_keep_the_recording_open(tmp_path: Path) -> None:
    """All buffers on the way are full when the client goes, and what is in them can go nowhere."""
    with contextlib.ExitStack() as ends:
        listener = ends.enter_context(socket.create_server(("127.0.0.1", 0)))
        rest = f"127.0.0.1:{listener.getsockname()[1]}"
        proxy, _ = ends.enter_context(recording("127.0.0.1:1", tmp_path / "said.log", rest=rest))
        connection = socket.create_connection(address(proxy.rest))
        server, _ = listener.accept()
        connection.settimeout(0.2)
        with connection, pytest.raises(TimeoutError):
            connection.sendall(bytes(256 << 20))

        ends.pop_all().close()

        server.close()


def test_a_connection_that_is_heard_of_after_the_end_is_closed() -> None:
    """It was taken before, and nobody would wait for its task any more."""

    async def late() -> tuple[bytes, int]:
        splice = Splice("127.0.0.1", 1)
        await splice.close()
        async with await asyncio.start_server(splice.accept, "127.0.0.1", 0) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            came = await reader.read()
            writer.close()
        return came, splice.connections

    assert asyncio.run(late()) == (b"", 0)


def test_a_fault_ends_tls_that_the_client_does_not_end(tmp_path: Path) -> None:
    """TLS began on a connection that was open already, as behind CONNECT: asyncio itself would wait 30 seconds."""
    made = make_certificates(tmp_path)
    context = ServerTls(made / "server.pem", made / "server.key").context()

    assert asyncio.run(broken_off(context, made / "ca.pem")) == (b"abc", b"")


async def broken_off(context: ssl.SSLContext, authority: Path) -> tuple[bytes, bytes]:
    """What a client gets over TLS from a connection that breaks after three bytes, and what it gets below TLS then."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"abcdef")
        await reader.read()
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await writer.start_tls(context)
        await splice.accept(reader, writer)

    def read() -> tuple[bytes, bytes]:
        trusted = ssl.create_default_context(cafile=authority)
        with (
            socket.create_connection(front.sockets[0].getsockname()) as plain,
            socket.fromfd(plain.fileno(), plain.family, plain.type) as below,
            trusted.wrap_socket(plain, server_hostname="127.0.0.1") as secure,
        ):
            below.settimeout(20)
            return b"".join(iter(lambda: secure.recv(100), b"")), below.recv(100)

    there = await asyncio.start_server(answer, "127.0.0.1", 0)
    splice = Splice("127.0.0.1", int(there.sockets[0].getsockname()[1]), cut=3)
    front = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        return await asyncio.to_thread(read)
    finally:
        await splice.close()
        front.close()
        there.close()
