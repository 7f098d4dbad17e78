"""A fork answers over its channel, and its end is known in every way of ending."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from conformance.contain import forks
from conformance.contain.channel import Channel, Closed
from conformance.contain.forks import Fork, run_in_fork


def in_keeper(function: Callable[[], None]) -> subprocess.CompletedProcess[str]:
    """Run a function of this module in a process without threads, as a keeper is."""
    script = f"from {__name__} import {function.__name__} as run; run()"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def echo(channel: Channel) -> None:
    """Answer frames until the channel closes."""
    while True:
        frame = channel.receive()
        channel.send(frame.header, frame.blobs)


def ask_a_fork() -> None:
    """A fork is asked twice, and ends when its channel closes."""
    fork = Fork(echo)
    for number in range(2):
        fork.channel.send({"n": number}, [b"x"])
        print(fork.channel.receive())
    print(fork.wait())


def kill_a_fork() -> None:
    """A fork is killed, and another has killed itself."""
    print(Fork(echo).kill())
    fork = Fork(lambda _: os.kill(os.getpid(), signal.SIGSEGV))
    try:
        fork.channel.receive()
    except Closed:
        print(fork.kill())


def outstay() -> None:
    """A fork does not end when its channel closes."""
    waited: list[float] = []

    def never(_pid: int, seconds: float) -> bool:
        waited.append(seconds)
        return False

    forks._ends = never
    fork = Fork(lambda _: signal.pause())
    print(fork.wait(), waited)


def leave_a_channel() -> None:
    """A fork waits for the end of a channel of its keeper, whose other end it would hold open itself."""
    ours, theirs = socket.socketpair()
    ending = Channel(theirs)
    fork = Fork(lambda channel: channel.send({"rest": ours.recv(1).decode()}), leaving=(ending,))
    ending.close()
    print(fork.channel.receive(seconds=240).header, fork.wait())


def run_functions() -> None:
    """Functions in forks that return, exit and raise."""
    print(run_in_fork(lambda: None), run_in_fork(lambda: sys.exit(3)), run_in_fork(lambda: os._exit(4)))


@pytest.mark.parametrize(
    ("function", "printed", "said"),
    [
        (
            ask_a_fork,
            "ChannelMessage(header={'n': 0}, blobs=(b'x',))\nChannelMessage(header={'n': 1}, blobs=(b'x',))\n0\n",
            "",
        ),
        (kill_a_fork, "-9\n-11\n", ""),
        (outstay, "-9 [10.0]\n", ""),
        (leave_a_channel, "{'rest': ''} 0\n", ""),
        (run_functions, "0 1 4\n", "SystemExit: 3\n"),
    ],
)
def test_forks(function: Callable[[], None], printed: str, said: str) -> None:
    """The work of a fork, and its end, reach the parent; an exception is reported on standard error."""
    done = in_keeper(function)

    assert (done.stdout, done.returncode) == (printed, 0)
    assert done.stderr.endswith(said)
