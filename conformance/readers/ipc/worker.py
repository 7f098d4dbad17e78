"""The process in which a Python library stays warm: it imports the library once and forks for the jobs.

Started as ``python -m conformance.readers.ipc.worker FD``; FD is its end of a connection of frames
(:mod:`conformance.contain.channel`). It answers each of these frames with one frame:

``{"do": "load", "module": import path}``
    Answers ``{"absent": reason, or "", "version": …}``.
``{"do": "run", "op": "read" or "write", "kind", "options", "seconds", "memory", "cpu", "values", "reuse"}``, with
data and schema
    Answers ``{"end": how the fork ended, "stage": the stage it had reached, "answer": its answer, or null, "said":
    …}`` with the answer's byte strings. ``end`` is ``""`` if the fork answered, else ``late``, ``garbage``, or the
    exit status.

Only forks touch the data, so the effects of a job on its memory end with the fork. This process runs a single thread
and starts none of the library's: a fork inherits the locks of other threads, but not the threads that would release
them.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from conformance.contain.channel import Channel, ChannelMessage, Closed, FrameError
from conformance.contain.forks import Fork
from conformance.contain.limits import limit_files, limit_memory, no_core_dump, unlimit_memory
from conformance.contain.worker import STDERR_TAIL
from conformance.readers.ipc import forked
from conformance.readers.ipc.implementation import Library, LibraryModule

IMPORT_MEMORY: Final = 1 << 30
"""Bytes that the import of a library may map; of those that ship, polars 2.1.0 maps the most, 175 MiB on two cores."""
STDERR_BYTES: Final = 64 << 20
"""The largest size in bytes of the file behind standard error, which belongs to one job."""

_Reported = tuple[dict[str, Any], Sequence[bytes]]


class _Fork(Fork):
    """A fork that does jobs with the library."""

    def __init__(self, library: Library, first: ChannelMessage, worker: Channel) -> None:
        super().__init__(lambda channel: forked.serve(library, first, channel), leaving=[worker])
        self.done = 0

    def answer(self, until: float) -> _Reported:
        """Wait for the answer to the fork's job; without an answer, kill the fork and report how it ended."""
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
        except (FrameError, OSError):  # it ended inside a frame, or sent an invalid frame and may still be running
            end = self.kill()
            # Ended by our SIGKILL, the fork was still running and its frame was invalid; else the status is its own.
            end = "garbage" if end == -signal.SIGKILL else end
        return {"end": end, "stage": stage, "answer": None, "said": _said()}, ()


class IpcLoop:
    """Serves frames until the pool closes its end."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._library: Library | None = None
        self._fork: _Fork | None = None

    def serve(self) -> None:
        """Answer frames until the connection closes."""
        for frame in self._channel.frames():
            if frame.header["do"] == "load":
                self._channel.send(self._load(frame.header["module"]))
            else:
                self._channel.send(*self._run(frame))

    def _load(self, path: str) -> Mapping[str, str]:
        limit_memory(IMPORT_MEMORY)
        try:
            self._library = cast(LibraryModule, importlib.import_module(path)).load()
        except ImportError as error:
            return {"absent": f"not installed here: {error}", "version": ""}
        except BaseException as error:  # noqa: BLE001  # an import may raise anything, including SystemExit
            return {"absent": f"its import raised {type(error).__qualname__}: {error}", "version": ""}
        unlimit_memory()
        gc.collect()
        gc.freeze()  # otherwise a collection in a fork would write to every page, and so copy it
        return {"absent": "", "version": self._library.version}

    def _run(self, job: ChannelMessage) -> _Reported:
        used = self._fork is not None
        reported = self._try(job)
        # An earlier job may have damaged a reused fork, so a job that ends one is tried again in a fresh fork.
        blame_is_open = used and reported[0]["answer"] is None
        return self._try(job) if blame_is_open else reported

    def _try(self, job: ChannelMessage) -> _Reported:
        """Do the job in the fork that waits for one, or else in a new one."""
        assert self._library is not None
        os.ftruncate(2, 0)  # from now on, standard error is about this job
        os.lseek(2, 0, os.SEEK_SET)
        until = time.monotonic() + job.header["seconds"]
        fork, self._fork = self._fork, None
        if fork is None:
            fork = _Fork(self._library, job, self._channel)
        else:
            with contextlib.suppress(OSError):  # it has died: waiting for its answer reports how
                fork.channel.send(job.header, job.blobs, seconds=job.header["seconds"])
        reported = fork.answer(until)
        answer = reported[0]["answer"]
        if answer is not None:
            if fork.done < job.header["reuse"] and not answer["retiring"]:
                self._fork = fork
            else:
                fork.wait()
        return reported


def _said() -> str:
    size = os.fstat(2).st_size
    return os.pread(2, STDERR_TAIL, max(0, size - STDERR_TAIL)).decode(errors="replace")


def main() -> None:
    """Serve on the socket whose number is the argument."""
    no_core_dump()
    limit_files(STDERR_BYTES)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pool ends its workers, not the terminal
    IpcLoop(Channel(socket.socket(fileno=int(sys.argv[1])))).serve()


if __name__ == "__main__":
    main()
