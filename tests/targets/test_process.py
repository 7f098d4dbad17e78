"""Processes end when they are told to, with all of their children, and their last words are kept."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable

import pytest

from conformance.targets.errors import TargetUnavailable
from conformance.targets.process import Process, Tail, free_port

WAIT = "import signal; signal.pause()"
STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('{"event": "up", "port": 1}', flush=True)
signal.pause()
"""


@pytest.fixture
def start() -> Callable[[str], Process]:
    """Start Python code as a process."""

    def run(code: str) -> Process:
        return Process([sys.executable, "-c", code], environment=os.environ)

    return run


def test_a_polite_process_ends_by_sigterm(start: Callable[[str], Process]) -> None:
    """The first step is enough for a process that does nothing about it."""
    process = start(WAIT)

    process.stop(grace=5)

    assert process.last_words() == "the process was ended by signal 15; it printed nothing"


def test_a_stubborn_process_is_killed_after_its_grace(start: Callable[[str], Process]) -> None:
    """The second step ends what the first one did not, no sooner than promised and not much later."""
    process = start(STUBBORN)
    process.wait_for_port("up", time.monotonic() + 5)
    started = time.monotonic()

    process.stop(grace=0.2)

    assert 0.2 <= time.monotonic() - started < 2
    assert process.last_words().startswith("the process was ended by signal 9")


def test_children_do_not_survive(start: Callable[[str], Process]) -> None:
    """The group is ended as a whole, even where its leader has gone before."""
    process = start(
        "import subprocess, sys, json\n"
        f"child = subprocess.Popen([sys.executable, '-c', {STUBBORN!r}], stdout=subprocess.DEVNULL)\n"
        "print(json.dumps({'event': 'child', 'port': child.pid}), flush=True)\n"
    )
    child = os.pidfd_open(process.wait_for_port("child", time.monotonic() + 5) or 0)
    process.wait_for_exit(5)

    process.stop(grace=1)

    assert select.select([child], [], [], 2)[0] == [child]
    os.close(child)


def test_the_end_is_seen_with_status_and_output(start: Callable[[str], Process]) -> None:
    """A process that ends by itself leaves its status and its last output."""
    process = start("import sys; print('one'); sys.stderr.write('two'); sys.exit(3)")

    assert process.wait_for_exit(5)
    process.stop(grace=0)
    assert process.last_words().startswith("the process exited with status 3; its last output: ")
    assert all(word in process.last_words() for word in ("one", "two"))  # two pipes, in either order


def test_waiting_for_a_port_ends_with_the_process(start: Callable[[str], Process]) -> None:
    """A process that dies before it tells its port is not waited for."""
    process = start('print(\'{"event": "other", "port": 5}\')')
    started = time.monotonic()

    port = process.wait_for_port("grpc.listen", time.monotonic() + 20)

    assert port is None
    assert time.monotonic() - started < 5
    process.stop(grace=0)


def test_a_flood_of_output_stops_nothing(start: Callable[[str], Process]) -> None:
    """More output than a pipe holds, without a line end, is drained and cut."""
    process = start("import sys; sys.stdout.write('x' * 3_000_000); sys.stdout.flush(); sys.exit(0)")

    assert process.wait_for_exit(10)
    process.stop(grace=0)
    assert len(process.last_words()) < 2000


def test_lines_that_look_like_json_are_no_harm(start: Callable[[str], Process]) -> None:
    """Broken JSON, other JSON and wrong types are output like any other."""
    process = start(
        'print(\'{\')\nprint(\'{"event": 1, "port": 2}\')\nprint(\'{"event": "up", "port": "x"}\')\n'
        'print(\'{"event": "up", "port": 7}\', flush=True)'
    )

    assert process.wait_for_port("up", time.monotonic() + 5) == 7
    process.stop(grace=0)


def test_a_program_that_does_not_exist_is_one_sentence() -> None:
    """What cannot be started is named with the reason."""
    with pytest.raises(TargetUnavailable) as raised:
        Process(["/nowhere/serve"], environment={})

    assert str(raised.value) == "cannot start '/nowhere/serve': No such file or directory"


def test_a_port_belongs_to_whoever_listens(start: Callable[[str], Process]) -> None:
    """A process is known to listen on its own ports and on no others."""
    process = start(
        "import socket, json, signal\ns = socket.create_server(('127.0.0.1', 0))\n"
        "print(json.dumps({'event': 'up', 'port': s.getsockname()[1]}), flush=True)\nsignal.pause()"
    )
    port = process.wait_for_port("up", time.monotonic() + 5) or 0

    assert process.listens_on(port)
    assert not process.listens_on(free_port("127.0.0.1"))
    process.stop(grace=0)
    assert not process.listens_on(port)


def test_a_tail_forgets_what_is_old() -> None:
    """Only the last bytes are kept, and bytes that are not text are shown."""
    tail = Tail(limit=6)

    tail.add(b"forgotten")
    tail.add(b" ab\xff")

    assert tail.text() == "en ab\\xff"
