"""A program under test: its output is drained, the ports that it reports are read, and its last output is kept.

This module decides which part of a program's output is kept; it does not know what the program serves.
Nothing here sleeps: each wait is for output, for the end of the program, or for a deadline.
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

__all__ = ["Child", "OutputEnds", "drain", "finish", "free_port"]

TAIL_BYTES: Final = 8192
"""Bytes kept from the end of each output stream: enough for a traceback, few if a program floods its output."""
HEAD_BYTES: Final = 4096
"""Bytes kept from the start: a Go program prints why it dies before the stacks of all its goroutines."""
SHOWN_CHARACTERS: Final = 1500
"""Characters of a tail that go into a message."""
LINE_BYTES: Final = 65536
"""The longest line that may report a port; only the end of a longer one is kept."""
DRAIN_SECONDS: Final = 2.0
"""Seconds for reading the remaining output of a program that has ended."""
PORTS: Final = 64
"""The number of reported ports that are remembered: a server has two."""

HEARD: Final = 10_000
"""The number of lines of a stream that are parsed as possible port reports: a server prints a few."""

_OBJECT: Final = re.compile(rb"^\{[^\n]*$", re.MULTILINE)
_REASON: Final = re.compile(r"^(fatal error|panic|runtime): |FATAL ERROR|OutOfMemoryError|# +SIG")
"""The first words of Go, V8 and the JVM when they abort."""


class OutputEnds:
    """The first and the last bytes of an output stream; any thread may read it while another fills it."""

    def __init__(self, limit: int = TAIL_BYTES) -> None:
        self._limit = limit
        self._first = bytearray()
        self._last = bytearray()
        self._lock = threading.Lock()

    def add(self, data: bytes) -> None:
        """Append ``data``, and drop the bytes between the kept start and the kept end."""
        with self._lock:
            self._first += data[: max(0, HEAD_BYTES - len(self._first))]
            self._last += data
            del self._last[: -self._limit]

    def clear(self) -> None:
        """Drop all bytes: output from now on belongs to the next job."""
        with self._lock:
            self._first.clear()
            self._last.clear()

    def raw(self) -> str:
        """The kept end as text; bytes that are not UTF-8 become escapes."""
        with self._lock:
            return bytes(self._last).decode("utf-8", "backslashreplace").strip()

    def text(self) -> str:
        """The kept end as one safe line, cut at its start."""
        text = self.raw()
        return safe(text if len(text) <= SHOWN_CHARACTERS else "…" + text[-SHOWN_CHARACTERS:])

    def reason(self) -> str:
        """The first line in which a runtime says why it aborts; empty if no line does."""
        with self._lock:
            lines = self._first.decode("utf-8", "backslashreplace").splitlines()
        return next((safe(line.strip(), SHOWN_CHARACTERS) for line in lines if _REASON.search(line)), "")


class Child:
    """A started program. If it is ``piped``, ``stdin`` and ``stdout`` are its pipes; otherwise stdout is drained, too,
    or discarded if ``errors_only``.

    JSON lines ``{"event": NAME, "port": N}`` in the drained output are remembered and can be waited for.

    Raises:
        CannotStart: There is no such program, or it cannot be executed.
    """

    def __init__(
        self, command: Sequence[str], *, environment: Mapping[str, str], piped: bool = False, errors_only: bool = False
    ) -> None:
        self._tail = OutputEnds()
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
        """The process that is an ancestor of every descendant of the program: see :class:`Supervised`."""
        return self._process.root

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe to a ``piped`` program."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """The pipe from the standard output of a program that was started ``piped``."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def running(self) -> bool:
        """True if the program has not ended."""
        return self._process.running

    @property
    def code(self) -> int | None:
        """The exit status, or the negative number of the signal that ended the program; None while it runs."""
        return self._process.code

    @property
    def tail(self) -> OutputEnds:
        """The kept part of the program's output."""
        return self._tail

    def last_words(self) -> str:
        """The way the program ended, if it has, and the end of its output, as one safe line.

        If a runtime gave its reason further up, the reason comes first: the end is then a trace, which differs from run
        to run.
        """
        tail, reason = self._tail.text(), self._tail.reason()
        if reason not in tail:
            tail = f"{reason} {tail}"
        said = f"; its last output: {tail}" if tail else "; it printed nothing"
        return f"{in_words(self.code)}{said}"

    def wait_for_exit(self, deadline: float | None) -> bool:
        """Wait up to ``deadline`` seconds for the end, None for ever; True if it ended. All its output is read then."""
        if not self._process.wait(deadline):
            return False
        finish(self._drains)
        return True

    def wait_for_port(self, event: str, until: float) -> int | None:
        """The port that a JSON line with ``event`` reports; waits until ``until`` (monotonic clock), else None."""
        with self._changed:
            self._changed.wait_for(lambda: event in self._ports or not self.running, max(0.0, until - time.monotonic()))
            return self._ports.get(event)

    def listens_on(self, port: int) -> bool:
        """True if this program or a descendant of it listens on TCP ``port``."""
        try:
            family = psutil.Process(self.root).children(recursive=True)
        except psutil.Error:
            return False
        return any(_listens(member, port) for member in family)

    def kill(self) -> None:
        """End the program and all its descendants at once, even while another thread waits for its answer."""
        self._process.kill()

    def terminate(self) -> None:
        """Ask the program to end, without waiting for it."""
        self._process.terminate()

    def stop(self, *, grace: float) -> None:
        """End the program and all its descendants: SIGTERM, then SIGKILL after ``grace`` seconds; 0 kills at once."""
        self._process.end(grace=grace)
        finish(self._drains)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # buffered input of a dead program cannot be flushed
                    pipe.close()

    def _notice_end(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _taking(self) -> Callable[[bytes], None]:
        """A function that keeps the output of one stream and looks for reported ports in it."""
        pending = b""
        left = HEARD

        def take(chunk: bytes) -> None:
            nonlocal pending, left
            # A chunk may end inside a line: the incomplete line waits for the next chunk.
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
        """Remember the port that a JSON line reports."""
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
    """Start a thread that passes everything on ``stream`` to ``take`` until its end.

    Without a reader, a full pipe would block the program (pipe(7)).
    """

    def read() -> None:
        with stream:
            while chunk := os.read(stream.fileno(), LINE_BYTES):
                take(chunk)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def finish(drains: Sequence[threading.Thread]) -> None:
    """Wait for the output of an ended program; a process that escaped its supervisor may keep a pipe open for ever."""
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
    """A TCP port that is free at this moment; :meth:`Child.listens_on` later checks which program got it."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
