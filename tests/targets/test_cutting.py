"""A connection that gRPC does not end is cut below it."""

from __future__ import annotations

import socket

import grpc
import pytest

from conformance.targets import cutting
from tests.patience import LONG
from tests.targets.watching import Hands


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
        watch.ends(watch.begins(lambda: cutting.cut(f"127.0.0.1:{early.getsockname()[1]}"), 3600))
        watch.begins(lambda: cutting.cut(f"127.0.0.1:{late.getsockname()[1]}"), 0)

        assert one.recv(1) == b""
        assert watch._open == {}
        left.sendall(b"x")


def test_a_channel_of_somebody_else_is_left_alone() -> None:
    """Nothing is known of where it leads."""
    with grpc.insecure_channel("localhost:1") as channel, cutting.cut_after(channel, 0.0):
        assert channel not in cutting._ENDPOINTS


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    """The watch of this process, set by hand."""
    return Hands(monkeypatch)


def listening(hands: Hands, channel: grpc.Channel) -> cutting.Listening:
    """A call that may be silent for 20 seconds, and last for 120."""
    cutting.leads_to(channel, "host:1")
    return cutting.Listening(channel, 20.0, 120.0).to(hands.cancelled.set)


def test_a_call_that_goes_on_sending_is_not_given_up(hands: Hands) -> None:
    """It has the longer time in all, which is the deadline of the call."""
    with grpc.insecure_channel("host:1") as channel, listening(hands, channel) as call:
        for _ in range(7):
            hands.pass_time(15.0)
            call.heard()

        assert (call.silent, call.timeout) == (False, 120.0)

        hands.pass_time(17.0)
        assert (call.silent, hands.cut) == (False, ["host:1"])


def test_a_client_that_pauses_hears_nothing_and_gives_nothing_up(hands: Hands) -> None:
    """The seconds of silence begin anew behind the pause."""
    with grpc.insecure_channel("host:1") as channel, listening(hands, channel) as call:
        with call.paused():
            hands.pass_time(60.0)
        hands.pass_time(15.0)
        assert not call.silent

        hands.pass_time(5.0)
        assert call.silent


def test_a_silent_call_is_given_up_and_cut_if_that_does_not_end_it(hands: Hands) -> None:
    """The seconds count from the last message."""
    with grpc.insecure_channel("host:1") as channel, listening(hands, channel) as call:
        hands.pass_time(15.0)
        call.heard()
        hands.pass_time(20.0)

        assert call.silent
        assert hands.cancelled.wait(LONG)
        assert hands.cut == []

        hands.pass_time(cutting.GRACE_SECONDS)
        assert hands.cut == ["host:1"]


def test_nothing_is_cut_after_the_end_of_a_call(hands: Hands) -> None:
    """Other calls go over the same connection."""
    with grpc.insecure_channel("host:1") as channel:
        with listening(hands, channel):
            hands.pass_time(20.0)
        hands.pass_time(600.0)

    assert hands.cut == []


def test_a_call_that_ends_as_it_is_given_up_leaves_nothing_behind(hands: Hands) -> None:
    """The watch may act at any moment."""
    with grpc.insecure_channel("host:1") as channel:
        with listening(hands, channel) as call:
            pass
        call._give_up()
        hands.pass_time(600.0)

    assert (call.silent, hands.cut) == (False, [])


def test_a_call_within_this_process_has_the_shorter_time() -> None:
    """Nobody could give it up in the meantime."""
    with grpc.insecure_channel("localhost:1") as channel:
        assert cutting.Listening(channel, 20.0, 120.0).timeout == 20.0
