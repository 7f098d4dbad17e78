"""The supervisor of one program, spoken to as the suite speaks to it: bytes on one pipe, lines on another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from conformance.contain import supervisor
from tests.patience import LONG

POLITE = "trap 'exit 7' TERM; echo ready; while :; do sleep 60 & wait; done"
STUBBORN = "trap '' TERM; echo ready; while :; do sleep 60 & wait; done"


class Spoken:
    """A supervisor, both of its pipes, and the output of its program."""

    def __init__(self) -> None:
        theirs, self.control = os.pipe()
        status, mine = os.pipe()
        command = [sys.executable, "-I", "-S", supervisor.__file__, str(theirs), str(mine)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=(theirs, mine)
        )
        os.close(theirs)
        os.close(mine)
        self.status = os.fdopen(status, "r", encoding="utf-8")

    def ask(self, *command: str, **environment: str) -> str:
        """The line that comes of a request."""
        request = {"command": command, "environment": environment, "keep": []}
        os.write(self.control, json.dumps(request).encode() + b"\n")
        return self.status.readline()

    def printed(self) -> bytes:
        """The next line of the program's output."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def end(self) -> None:
        """The end of the pipe that the suite holds."""
        if self.control >= 0:
            os.close(self.control)
            self.control = -1


@pytest.fixture
def spoken() -> Iterator[Spoken]:
    """A supervisor that ends with the test."""
    made = Spoken()
    with made.process, made.status:
        yield made
        made.end()
        made.process.wait(LONG)


def test_a_program_starts_and_its_status_comes_back(spoken: Spoken) -> None:
    """One line with the process id, one with the exit code, and no more."""
    word, pid = spoken.ask("/bin/sh", "-c", "echo $$ $GIVEN; exit 3", GIVEN="this").split()

    assert (word, spoken.printed().split()) == ("started", [pid.encode(), b"this"])
    assert spoken.status.read() == "ended 3\n"


def test_a_program_that_dies_has_the_signal_for_its_status(spoken: Spoken) -> None:
    """The number is negative, as the standard library counts."""
    spoken.ask("/bin/sh", "-c", "kill -QUIT $$")

    assert spoken.status.read() == f"ended {-signal.SIGQUIT}\n"


@pytest.mark.parametrize(
    ("name", "environment", "reason"),
    [
        ("nowhere", {}, "No such file or directory"),
        ("data", {}, "Exec format error"),
        ("text", {}, "Permission denied"),
        ("data", {"a": "\0"}, "embedded null byte"),
    ],
)
def test_what_cannot_start_is_reported(
    name: str, environment: dict[str, str], reason: str, spoken: Spoken, tmp_path: Path
) -> None:
    """One line with the reason and nothing on standard error; then the supervisor ends."""
    for file, mode in (("data", 0o755), ("text", 0o644)):
        (tmp_path / file).write_bytes(b"\0\1\2")
        (tmp_path / file).chmod(mode)

    assert spoken.ask(str(tmp_path / name), **environment) == f"failed {reason}\n"
    assert spoken.status.read() == ""
    assert spoken.process.wait(LONG) == 0
    assert spoken.process.stderr is not None
    assert spoken.process.stderr.read() == b""


def test_a_suite_that_ends_before_it_asks_has_started_nothing(spoken: Spoken) -> None:
    """Not even half a request is an error."""
    os.write(spoken.control, b'{"command": ["/bin/sh"')
    spoken.end()

    assert spoken.status.read() == ""
    assert spoken.process.wait(LONG) == 0


def test_a_request_may_come_in_pieces(spoken: Spoken) -> None:
    """A pipe may deliver a long line in several reads."""
    long = "x" * 100_000

    spoken.ask("/bin/sh", "-c", "echo ${#LONG}", LONG=long)

    assert spoken.printed() == b"100000\n"


@pytest.mark.parametrize(
    ("code", "words", "ending"),
    [
        (POLITE, b"t", "ended 7\n"),
        (STUBBORN, b"ttk", "ended -9\n"),
        (POLITE, b"k", "ended -9\n"),
        (POLITE, b"", "ended -9\n"),
    ],
)
def test_the_suite_may_ask_politely_and_otherwise(code: str, words: bytes, ending: str, spoken: Spoken) -> None:
    """One letter is SIGTERM to the group, and any other one the end, as is the end of the suite."""
    spoken.ask("/bin/sh", "-c", code, PATH=os.defpath)
    assert spoken.printed() == b"ready\n"
    members = psutil.Process(spoken.process.pid).children(recursive=True)

    if words:
        os.write(spoken.control, words)
    else:
        spoken.end()

    assert spoken.status.read() == ending
    assert psutil.wait_procs(members, timeout=0)[1] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_to_the_suite_do_not_end_it(number: signal.Signals, spoken: Spoken) -> None:
    """It lives until its program has ended."""
    spoken.ask("/bin/sh", "-c", POLITE, PATH=os.defpath)
    spoken.printed()

    spoken.process.send_signal(number)
    os.write(spoken.control, b"t")

    assert spoken.status.read() == "ended 7\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to the supervisor")
def test_an_orphan_that_ends_is_not_the_end_of_its_program(spoken: Spoken) -> None:
    """The supervisor reaps it, and the program goes on."""
    spoken.ask("/bin/sh", "-c", "orphan=$(true & echo $!); while kill -0 $orphan; do :; done; echo still here; exit 7")

    assert spoken.printed() == b"still here\n"
    assert spoken.status.read() == "ended 7\n"
