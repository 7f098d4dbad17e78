"""REST through the proxy: connections are passed on byte for byte."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

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
            with socket.create_connection(address(proxy.rest), timeout=60) as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
            server.join()

    assert b"".join(heard) == sent
    assert received == answer


def test_a_server_that_is_not_there_ends_the_connection(tmp_path: Path) -> None:
    """The remark says where nobody listened."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        rest = f"127.0.0.1:{listener.getsockname()[1]}"
    with recording("127.0.0.1:1", tmp_path / "said.log", rest=rest) as (proxy, _):
        with socket.create_connection(address(proxy.rest), timeout=60) as connection:
            assert connection.recv(1) == b""
        assert proxy.remarks[0].startswith(f"1 REST connections could not be passed on to {rest}: ")
