"""A process under test: started in a group of its own, its output drained, stopped in two steps.

This module decides how a process is begun and ended and what is kept of its output; it does not know what it serves.
Nothing here sleeps: waiting is for output, for the exit, or for a deadline.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Final

import psutil

from conformance.targets.errors import TargetUnavailable

__all__ = ["Process", "Tail", "free_port"]

TAIL_BYTES: Final = 8192
"""What is kept of each output stream: enough for a traceback, too little to matter under a flood."""

SHOWN_CHARACTERS: Final = 1500
"""How much of a tail goes into a message."""

DRAIN_SECONDS: Final = 0.5
"""How long an ended process's output may still come, where a child of it holds the pipe open."""

LINE_BYTES: Final = 65536
"""A longer line of output is cut: a target that prints without line ends must not fill our memory."""


class Tail:
    """The last bytes of an output stream, safe to read while a thread fills it."""

    def __init__(self, limit: int = TAIL_BYTES) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._lock = threading.Lock()

    def add(self, data: bytes) -> None:
        """Append ``data``, forgetting what is too old."""
        with self._lock:
            self._kept += data
            del self._kept[: -self._limit]

    def text(self) -> str:
        """The last lines of what is kept; bytes that are not UTF-8 are shown as such."""
        with self._lock:
            text = bytes(self._kept).decode("utf-8", "backslashreplace").strip()
        return text if len(text) <= SHOWN_CHARACTERS else "…" + text[-SHOWN_CHARACTERS:]


class Process:
    """One started process. ``stdin`` and ``stdout`` are its pipes where ``piped``; otherwise stdout is drained too.

    JSON lines ``{"event": NAME, "port": N}`` in what is drained are remembered and can be waited for.
    Raises :class:`TargetUnavailable` where the program cannot be started at all.
    """

    def __init__(self, command: Sequence[str], *, environment: Mapping[str, str], piped: bool = False) -> None:
        self.command = tuple(command)
        self._tail = Tail()
        self._changed = threading.Condition()
        self._ports: dict[str, int] = {}
        self._exited = False
        try:
            self._popen = subprocess.Popen(  # noqa: S603  # the command is the user's own target file
                self.command,
                env=dict(environment),
                stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise TargetUnavailable(f"cannot start {command[0]!r}: {error.strerror}") from None
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        drained = [self._popen.stderr] if piped else [self._popen.stderr, self._popen.stdout]
        self._drains = [_thread(self._drain, stream) for stream in drained]
        self._waiter = _thread(self._await_exit)

    @property
    def pid(self) -> int:
        """The process's id, which is its group's id as well."""
        return self._popen.pid

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe to a ``piped`` process."""
        assert self._popen.stdin is not None
        return self._popen.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """The pipe from a ``piped`` process."""
        assert self._popen.stdout is not None
        return self._popen.stdout

    @property
    def running(self) -> bool:
        """Whether the process has not ended."""
        return not self._exited

    def last_words(self) -> str:
        """How the process ended, where it has, and the last of its output."""
        tail = self._tail.text()
        said = f"; its last output: {tail}" if tail else "; it printed nothing"
        return f"{self._ending()}{said}"

    def _ending(self) -> str:
        if not self._exited:
            return "the process is still running"
        status = self._popen.wait()
        return (
            f"the process was ended by signal {-status}" if status < 0 else f"the process exited with status {status}"
        )

    def wait_for_exit(self, deadline: float) -> bool:
        """Wait up to ``deadline`` seconds for the end; whether it came."""
        with self._changed:
            return self._changed.wait_for(lambda: self._exited, deadline)

    def wait_for_port(self, event: str, until: float) -> int | None:
        """The port that the JSON line ``event`` told, waiting until ``until`` (monotonic); None where it never came."""
        with self._changed:
            self._changed.wait_for(lambda: event in self._ports or self._exited, max(0.0, until - time.monotonic()))
            return self._ports.get(event)

    def listens_on(self, port: int) -> bool:
        """Whether this process or a child of it listens on TCP ``port``."""
        try:
            leader = psutil.Process(self.pid)
            family = [leader, *leader.children(recursive=True)]
            sockets = [held for member in family for held in member.net_connections("tcp")]
        except psutil.Error:
            return False
        return any(held.status == psutil.CONN_LISTEN and held.laddr.port == port for held in sockets)

    def stop(self, *, grace: float) -> None:
        """End the whole group: SIGTERM, then SIGKILL after ``grace`` seconds; 0 kills at once."""
        if grace > 0 and self.running:
            self._signal(signal.SIGTERM)
            self.wait_for_exit(grace)
        # The group is killed even after its leader has gone: helpers of a server must not survive it.
        # The leader is not reaped before this, so its id still names this group and no other.
        self._signal(signal.SIGKILL)
        self._waiter.join()
        self._popen.wait()
        if self._popen.stdin is not None:
            with contextlib.suppress(OSError):  # what was buffered for a dead process cannot be flushed
                self._popen.stdin.close()
        for thread in self._drains:
            thread.join(timeout=DRAIN_SECONDS)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _await_exit(self) -> None:
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)  # seen, and left to be reaped by stop()
        else:
            self._popen.wait()
        for thread in self._drains:
            thread.join(timeout=DRAIN_SECONDS)
        with self._changed:
            self._exited = True
            self._changed.notify_all()

    def _drain(self, stream: IO[bytes]) -> None:
        """Read ``stream`` to its end, whatever it says: a full pipe would stop the process."""
        pending = b""
        with stream:
            while chunk := os.read(stream.fileno(), LINE_BYTES):
                self._tail.add(chunk)
                *whole, pending = (pending + chunk).split(b"\n")
                for line in whole:
                    self._hear(line)
                pending = pending[-LINE_BYTES:]

    def _hear(self, line: bytes) -> None:
        """Remember the port that a JSON line tells."""
        if not line.startswith(b"{"):
            return
        try:
            said = json.loads(line)
        except ValueError:
            return
        event, port = said.get("event"), said.get("port")
        if isinstance(event, str) and isinstance(port, int):
            with self._changed:
                self._ports[event] = port
                self._changed.notify_all()


def _thread(function: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def free_port(host: str) -> int:
    """A TCP port that was free a moment ago; ask :meth:`Process.listens_on` who has it in the end."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
