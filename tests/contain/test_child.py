"""Children end when they are asked to, with all of their children, and their last words are kept."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from conformance.contain import child
from conformance.contain.child import DRAIN_SECONDS, Child, OutputEnds, drain, finish, free_port
from conformance.contain.errors import CannotStart
from tests.patience import LONG

WAIT = "import signal; signal.pause()"
STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('{"event": "up", "port": 1}', flush=True)
signal.pause()
"""


@pytest.fixture
def start() -> Callable[[str], Child]:
    """Start Python code as a process."""

    def run(code: str) -> Child:
        return Child([sys.executable, "-c", code], environment=os.environ)

    return run


def test_a_polite_process_ends_by_sigterm(start: Callable[[str], Child]) -> None:
    """The first step is enough for a process that does nothing about it."""
    process = start(WAIT)

    process.stop(grace=LONG)

    assert process.last_words() == "the process was ended by SIGTERM; it printed nothing"


def test_a_stubborn_process_is_killed_after_its_grace(start: Callable[[str], Child]) -> None:
    """The second step ends what the first one did not, no sooner than promised and not much later."""
    process = start(STUBBORN)
    process.wait_for_port("up", time.monotonic() + LONG)

    process.stop(grace=0.2)

    assert process.last_words().startswith("the process was ended by SIGKILL")


def test_the_end_is_seen_with_status_and_output(start: Callable[[str], Child]) -> None:
    """A process that ends by itself leaves its status and its last output."""
    process = start("import sys; print('one'); sys.stderr.write('two'); sys.exit(3)")

    assert process.wait_for_exit(LONG)
    process.stop(grace=0)
    assert process.last_words().startswith("the process exited with status 3; its last output: ")
    assert all(word in process.last_words() for word in ("one", "two"))  # two pipes, in either order


@pytest.mark.parametrize(
    ("lines", "shown"), [(200, "panic: nil pointer …"), (2, "up\\npanic: nil pointer\\n")], ids=["long", "short"]
)
def test_the_reason_of_a_runtime_comes_before_the_end_of_a_long_trace(
    start: Callable[[str], Child], lines: int, shown: str
) -> None:
    """A trace differs from run to run, and the reason is above it; a short one shows the reason by itself."""
    process = start(f"print('up', 'panic: nil pointer', *['goroutine'] * {lines}, sep=chr(10)); raise SystemExit(2)")

    assert process.wait_for_exit(LONG)
    process.stop(grace=0)
    assert process.last_words().startswith(f"the process exited with status 2; its last output: {shown}")


def test_waiting_for_a_port_ends_with_the_process(start: Callable[[str], Child]) -> None:
    """A process that dies before it reports its port is not waited for."""
    process = start('print(\'{"event": "other", "port": 5}\')')

    port = process.wait_for_port("grpc.listen", time.monotonic() + LONG)

    assert port is None
    process.stop(grace=0)


def test_a_flood_of_output_stops_nothing(start: Callable[[str], Child]) -> None:
    """More output than a pipe holds, without a line end, is drained and cut."""
    process = start("import sys; sys.stdout.write('x' * 3_000_000); sys.stdout.flush(); sys.exit(0)")

    assert process.wait_for_exit(LONG)
    process.stop(grace=0)
    assert len(process.last_words()) < 2000


def test_lines_that_look_like_json_are_no_harm(start: Callable[[str], Child]) -> None:
    """Broken JSON, other JSON and wrong types are output like any other."""
    process = start(
        'print(\'{\')\nprint(\'{"event": 1, "port": 2}\')\nprint(\'{"event": "up", "port": "x"}\')\n'
        'print(\'{"event": "up", "port": 7}\', flush=True)\n' + WAIT  # of a program that has ended, no port is asked
    )

    assert process.wait_for_port("up", time.monotonic() + LONG) == 7
    process.stop(grace=0)


def test_a_program_that_does_not_exist_is_one_sentence() -> None:
    """A program that cannot be started is named with the reason."""
    with pytest.raises(CannotStart) as raised:
        Child(["/nowhere/serve"], environment={})

    assert str(raised.value) == "cannot start '/nowhere/serve': no such program"


def test_a_port_belongs_to_whoever_listens(start: Callable[[str], Child]) -> None:
    """A process is known to listen on its own ports and on no others."""
    process = start(
        "import socket, json, signal\ns = socket.create_server(('127.0.0.1', 0))\n"
        "print(json.dumps({'event': 'up', 'port': s.getsockname()[1]}), flush=True)\nsignal.pause()"
    )
    port = process.wait_for_port("up", time.monotonic() + LONG) or 0

    assert process.listens_on(port)
    assert not process.listens_on(free_port("127.0.0.1"))
    process.stop(grace=0)
    assert not process.listens_on(port)


def test_a_tail_forgets_what_is_old() -> None:
    """Only the last bytes are kept, and bytes that are not text are shown."""
    tail = OutputEnds(limit=6)

    tail.add(b"forgotten")
    tail.add(b" ab\xff")

    assert tail.text() == "en ab\\xff"


class Drain(threading.Thread):
    """A thread that notes how long it is waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: float | None = None

    def join(self, timeout: float | None = None) -> None:
        """A note."""
        self.waited = timeout


def test_all_pipes_of_an_ended_program_together_have_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first pipe takes is not there for the second, and none is waited for in the past."""
    seconds = iter([50.0, 50.0, 50.5, 51 + DRAIN_SECONDS])
    monkeypatch.setattr(child, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    drains = [Drain(), Drain(), Drain()]

    finish(drains)

    assert [drain.waited for drain in drains] == [DRAIN_SECONDS, DRAIN_SECONDS - 0.5, 0.0]


def test_a_stopped_program_leaves_no_pipe_open() -> None:
    """A run starts thousands of programs, and a process may have a limited number of open files."""
    process = Child([sys.executable, "-c", WAIT], environment=os.environ, piped=True)

    process.stop(grace=0)

    assert process.stdin.closed
    assert process.stdout.closed


def test_a_pipe_that_nobody_closes_does_not_keep_the_suite_from_ending() -> None:
    """A process that escaped its supervisor may hold a pipe for ever; the thread that reads it is not waited for."""
    end, other = os.pipe()

    reading = drain(os.fdopen(end, "rb"), lambda _: None)

    os.close(other)
    reading.join()
    assert reading.daemon
