"""A connection that gRPC does not end is cut below it."""

from __future__ import annotations

import socket

import grpc

from conformance.targets import cutting


def test_the_connections_to_a_port_are_cut_and_no_other() -> None:
    """The other side reads the end of the one; the other one is as it was."""
    with socket.create_server(("127.0.0.1", 0)) as meant, socket.create_server(("127.0.0.1", 0)) as other:
        port = meant.getsockname()[1]
        with (
            socket.create_connection(("127.0.0.1", port)) as one,
            socket.create_connection(other.getsockname()) as left,
        ):
            assert cutting.cut(f"localhost:{port}") == 1

            assert one.recv(1) == b""
            left.sendall(b"x")


def test_a_channel_of_somebody_else_is_left_alone() -> None:
    """Nothing is known of where it leads."""
    with grpc.insecure_channel("localhost:1") as channel, cutting.cut_after(channel, 0.0):
        assert channel not in cutting._ENDPOINTS
