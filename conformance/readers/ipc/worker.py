"""The process that a Python library stays warm in: it imports it once, and forks for the jobs.

Started as ``python -m conformance.readers.ipc.worker FD``; FD is its end of a connection of frames
(:mod:`conformance.readers.frames`). Frames that it answers, one for one:

``{"do": "load", "module": import path}``
    Answers ``{"absent": reason, or "", "version": …}``.
``{"do": "run", "op": "read" or "write", "kind", "options", "seconds", "memory", "cpu", "values", "reuse"}``, with data
and schema
    Answers ``{"end": how the fork ended, "stage": how far it had got, "answer": its answer, or null, "said": …}``
    with the answer's byte strings. ``end`` is ``""`` where it answered, ``late``, ``garbage``, or the exit status.

Only forks touch the data, so what a job does to its memory is gone with the fork. This process runs one thread of
ours, and starts none of the library's: a fork would inherit their locks without them.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from conformance.readers.frames import Channel, Closed, Frame, FrameError
from conformance.readers.ipc import child
from conformance.readers.ipc.info import Library, LibraryModule

STDERR_TAIL: Final = 65536
"""Bytes of standard error that are looked at: a backtrace is long, and follows the message."""

_Told = tuple[dict[str, Any], Sequence[bytes]]


class _Fork:
    """A fork, from the worker's side."""

    def __init__(self, library: Library, first: Frame, worker: Channel) -> None:
        ours, theirs = socket.socketpair()
        self.done = 0
        self.number = os.fork()
        if self.number == 0:
            worker.close()
            ours.close()
            child.serve(library, first, Channel(theirs))
        theirs.close()
        self.channel = Channel(ours)

    def answer(self, until: float) -> _Told:
        """Wait for the answer to the job that the fork has; where none comes, the fork is gone."""
        self.done += 1
        stage = ""
        try:
            while True:
                frame = self.channel.receive(seconds=max(0.0, until - time.monotonic()))
                if "at" not in frame.header:
                    return {"end": "", "stage": "", "answer": frame.header, "said": ""}, frame.blobs
                stage = frame.header["at"]
        except TimeoutError:
            self.kill()
            end: int | str = "late"
        except Closed:
            end = self.kill()
        except (FrameError, OSError):  # it ended inside a frame, or sent what is none and may still be running
            end = self.kill()
            end = "garbage" if end == -signal.SIGKILL else end
        return {"end": end, "stage": stage, "answer": None, "said": _said()}, ()

    def kill(self) -> int:
        """End the fork; how it ended, which is its own way where it already had."""
        self.channel.close()
        os.kill(self.number, signal.SIGKILL)
        return self.wait()

    def wait(self) -> int:
        """Close the channel, which ends a fork that waits, and reap it."""
        self.channel.close()
        _, status = os.waitpid(self.number, 0)
        return os.waitstatus_to_exitcode(status)


class Worker:
    """Serves frames until the pool closes its end."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._library: Library | None = None
        self._fork: _Fork | None = None

    def serve(self) -> None:
        """Answer frames until the connection closes."""
        while True:
            try:
                frame = self._channel.receive()
            except Closed:
                return
            if frame.header["do"] == "load":
                self._channel.send(self._load(frame.header["module"]))
            else:
                self._channel.send(*self._run(frame))

    def _load(self, path: str) -> Mapping[str, str]:
        try:
            self._library = cast(LibraryModule, importlib.import_module(path)).load()
        except ImportError as error:
            return {"absent": f"not installed here: {error}", "version": ""}
        gc.collect()
        gc.freeze()  # a collection in a fork would otherwise write to, and so copy, every page
        return {"absent": "", "version": self._library.version}

    def _run(self, job: Frame) -> _Told:
        used = self._fork is not None
        told = self._try(job)
        blame_is_open = used and told[0]["answer"] is None
        return self._try(job) if blame_is_open else told

    def _try(self, job: Frame) -> _Told:
        """Do the job in the fork that waits for one, or else in a new one."""
        assert self._library is not None
        os.ftruncate(2, 0)  # what is said from now on is about this job
        os.lseek(2, 0, os.SEEK_SET)
        until = time.monotonic() + job.header["seconds"]
        fork, self._fork = self._fork, None
        if fork is None:
            fork = _Fork(self._library, job, self._channel)
        else:
            with contextlib.suppress(OSError):  # it is gone: the answer tells how
                fork.channel.send(job.header, job.blobs, seconds=job.header["seconds"])
        told = fork.answer(until)
        answer = told[0]["answer"]
        if answer is not None:
            if fork.done < job.header["reuse"] and not answer["retiring"]:
                self._fork = fork
            else:
                fork.wait()
        return told


def _said() -> str:
    size = os.fstat(2).st_size
    return os.pread(2, STDERR_TAIL, max(0, size - STDERR_TAIL)).decode(errors="replace")


def main() -> None:
    """Serve on the socket whose number is the argument."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pool ends its workers, not the terminal
    Worker(Channel(socket.socket(fileno=int(sys.argv[1])))).serve()


if __name__ == "__main__":
    main()
