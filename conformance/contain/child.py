"""A program under test: its output drained, the ports that it announces heard, its last words kept.

This module decides what is kept of a program's output; it does not know what the program serves.
Nothing here sleeps: waiting is for output, for the end, or for a deadline.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Final

import psutil

from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.contain.supervised import Supervised, in_words
from conformance.contain.text import safe

__all__ = ["Child", "Tail", "drain", "finish", "free_port"]

TAIL_BYTES: Final = 8192
"""What is kept of each output stream: enough for a traceback, too little to matter under a flood."""
HEAD_BYTES: Final = 4096
"""What is kept of the beginning: a Go program says why it dies before the stacks of all its goroutines."""
SHOWN_CHARACTERS: Final = 1500
"""How much of a tail goes into a message."""
LINE_BYTES: Final = 65536
"""A longer line of output is no announcement, and what is kept of it is its end."""
DRAIN_SECONDS: Final = 2.0
"""For the output of a program that has ended to be read."""
PORTS: Final = 64
"""Announcements that are remembered: a server has two."""

HEARD: Final = 10_000
"""Lines of a stream that may be announcements and are looked at: a server has a few."""

_OBJECT: Final = re.compile(rb"^\{[^\n]*$", re.MULTILINE)
_REASON: Final = re.compile(r"^(fatal error|panic|runtime): |FATAL ERROR|OutOfMemoryError|# +SIG")
"""How Go, V8 and the JVM begin when they give up."""


class Tail:
    """The first and the last bytes of an output stream, safe to read while a thread fills it."""

    def __init__(self, limit: int = TAIL_BYTES) -> None:
        self._limit = limit
        self._first = bytearray()
        self._last = bytearray()
        self._lock = threading.Lock()

    def add(self, data: bytes) -> None:
        """Append ``data``, forgetting what lies between beginning and end."""
        with self._lock:
            self._first += data[: max(0, HEAD_BYTES - len(self._first))]
            self._last += data
            del self._last[: -self._limit]

    def clear(self) -> None:
        """Forget everything: what comes from now on belongs to the next job."""
        with self._lock:
            self._first.clear()
            self._last.clear()

    def raw(self) -> str:
        """What is kept of the end; bytes that are not UTF-8 are shown as such."""
        with self._lock:
            return bytes(self._last).decode("utf-8", "backslashreplace").strip()

    def text(self) -> str:
        """The end as one safe line."""
        text = self.raw()
        return safe(text if len(text) <= SHOWN_CHARACTERS else "…" + text[-SHOWN_CHARACTERS:])

    def reason(self) -> str:
        """The first line that says why a runtime gave up; empty where none does."""
        with self._lock:
            lines = self._first.decode("utf-8", "backslashreplace").splitlines()
        return next((safe(line.strip(), SHOWN_CHARACTERS) for line in lines if _REASON.search(line)), "")


class Child:
    """A started program. ``stdin`` and ``stdout`` are its pipes where ``piped``; otherwise stdout is drained too, or
    not even kept where ``errors_only``.

    JSON lines ``{"event": NAME, "port": N}`` in what is drained are remembered and can be waited for.

    Raises:
        CannotStart: There is no such program, or it cannot be executed.
    """

    def __init__(
        self, command: Sequence[str], *, environment: Mapping[str, str], piped: bool = False, errors_only: bool = False
    ) -> None:
        self._tail = Tail()
        self._changed = threading.Condition()
        self._ports: dict[str, int] = {}
        self._drains: list[threading.Thread] = []
        self._process = Supervised(
            command,
            environment=environment,
            stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if errors_only else subprocess.PIPE,
            stderr=subprocess.PIPE,
            on_end=self._notice_end,
        )
        streams = [self._process.stderr, None if piped else self._process.stdout]
        try:
            self._drains += [drain(stream, self._taking()) for stream in streams if stream is not None]
        except BaseException:
            self._process.end()
            raise

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._process.pid

    @property
    def root(self) -> int:
        """The process of which every descendant of the program is one, whatever it does: see :class:`Supervised`."""
        return self._process.root

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe to a ``piped`` program."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """The pipe from a ``piped`` program."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def running(self) -> bool:
        """Whether the program has not ended."""
        return self._process.running

    @property
    def code(self) -> int | None:
        """How it ended: its exit status, or the negative number of a signal; None while it runs."""
        return self._process.code

    @property
    def tail(self) -> Tail:
        """What is kept of its output."""
        return self._tail

    def last_words(self) -> str:
        """How the program ended, where it has, and the last of its output, as one safe line."""
        tail = self._tail.text()
        said = f"; its last output: {tail}" if tail else "; it printed nothing"
        return f"{in_words(self.code)}{said}"

    def wait_for_exit(self, deadline: float | None) -> bool:
        """Wait up to ``deadline`` seconds for the end, None for ever; whether it came. Its output is read then."""
        if not self._process.wait(deadline):
            return False
        finish(self._drains)
        return True

    def wait_for_port(self, event: str, until: float) -> int | None:
        """The port that the JSON line ``event`` told, waiting until ``until`` (monotonic); None where it never came."""
        with self._changed:
            self._changed.wait_for(lambda: event in self._ports or not self.running, max(0.0, until - time.monotonic()))
            return self._ports.get(event)

    def listens_on(self, port: int) -> bool:
        """Whether this program or a descendant of it listens on TCP ``port``."""
        try:
            family = psutil.Process(self.root).children(recursive=True)
        except psutil.Error:
            return False
        return any(_listens(member, port) for member in family)

    def kill(self) -> None:
        """End the program and everything that it started, at once, under whoever waits for its answer."""
        self._process.kill()

    def terminate(self) -> None:
        """Ask the program to end, without waiting for it."""
        self._process.terminate()

    def stop(self, *, grace: float) -> None:
        """End everything: SIGTERM, then SIGKILL after ``grace`` seconds; 0 kills at once."""
        self._process.end(grace=grace)
        finish(self._drains)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was buffered for a dead program cannot be flushed
                    pipe.close()

    def _notice_end(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _taking(self) -> Callable[[bytes], None]:
        """Keeps what is printed on one stream, and looks for announcements in it."""
        pending = b""
        left = HEARD

        def take(chunk: bytes) -> None:
            nonlocal pending, left
            self._tail.add(chunk)
            printed = pending + chunk
            whole = printed.rfind(b"\n") + 1
            for line in _OBJECT.finditer(printed, 0, whole):
                if left:
                    left -= 1
                    self._hear(line.group())
            pending = printed[whole:][-LINE_BYTES:]

        return take

    def _hear(self, line: bytes) -> None:
        """Remember the port that a JSON line tells."""
        try:
            said = parse_object(line)
        except ForeignJsonError:
            return
        event, port = said.get("event"), said.get("port")
        if isinstance(event, str) and type(port) is int and 0 < port < 1 << 16:
            with self._changed:
                if len(self._ports) < PORTS:
                    self._ports.setdefault(event, port)
                self._changed.notify_all()


def drain(stream: IO[bytes], take: Callable[[bytes], None]) -> threading.Thread:
    """A thread that hands everything on ``stream`` to ``take`` until its end: a full pipe would stop the program."""

    def read() -> None:
        with stream:
            while chunk := os.read(stream.fileno(), LINE_BYTES):
                take(chunk)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def finish(drains: Sequence[threading.Thread]) -> None:
    """Let what an ended program has printed be read; one that escaped its supervisor may hold a pipe open for ever."""
    until = time.monotonic() + DRAIN_SECONDS
    for thread in drains:
        thread.join(max(0.0, until - time.monotonic()))


def _listens(process: psutil.Process, port: int) -> bool:
    try:
        sockets = process.net_connections("tcp")
    except psutil.Error:
        return False
    return any(held.status == psutil.CONN_LISTEN and held.laddr.port == port for held in sockets)


def free_port(host: str) -> int:
    """A TCP port that was free a moment ago; ask :meth:`Child.listens_on` who has it in the end."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
