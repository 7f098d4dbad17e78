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


def test_what_is_over_in_time_is_not_cut_and_what_is_late_is() -> None:
    """A call with an earlier end than those that are open wakes the one that watches."""
    watch = cutting._Watch()
    with (
        socket.create_server(("127.0.0.1", 0)) as late,
        socket.create_server(("127.0.0.1", 0)) as early,
        socket.create_connection(late.getsockname()) as one,
        socket.create_connection(early.getsockname()) as left,
    ):
        watch.ends(watch.begins(f"127.0.0.1:{early.getsockname()[1]}", 3600))
        watch.begins(f"127.0.0.1:{late.getsockname()[1]}", 0)

        assert one.recv(1) == b""
        assert watch._open == {}
        left.sendall(b"x")


def test_a_channel_of_somebody_else_is_left_alone() -> None:
    """Nothing is known of where it leads."""
    with grpc.insecure_channel("localhost:1") as channel, cutting.cut_after(channel, 0.0):
        assert channel not in cutting._ENDPOINTS
