"""A Python library that does to its process what the bytes say."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from conformance._pandas import leave_pandas_out
from conformance.readers.ipc import Decoded, IpcReaderInfo, IpcWriterInfo, Library, Unsupported

leave_pandas_out()  # otherwise each fork would import it to convert its first value

READER = IpcReaderInfo(
    name="liar",
    title="a library that crashes, loops, allocates …",
    language="Python",
    module=__name__,
    kinds=("stream",),
    options={"threads": (True,), "chunk": ()},
    lacks="too modern",
)
WRITER = IpcWriterInfo(
    name="liar", title="a library that writes twice what it got", language="Python", module=__name__, kinds=("stream",)
)


class PanicException(BaseException):  # the name that pyo3 gives it
    """An exception like a Rust panic: not a subclass of Exception."""


def _segv() -> None:
    ctypes.string_at(0)


def _abort() -> None:
    print("assertion failed: offsets.len() > 0", file=sys.stderr, flush=True)  # as native code does
    os.abort()


def _abort_without_memory() -> None:
    print(
        "memory allocation of 4096 bytes failed\nnote: run with `RUST_BACKTRACE=1`", file=sys.stderr, flush=True
    )  # as Rust does
    os.abort()


def _panic() -> None:
    raise PanicException("index out of bounds: the len is 3 but the index is 7")


def _panic_for_lack() -> None:
    raise PanicException("too modern for this library")


def _refuse() -> None:
    raise ValueError("offset 9 lies beyond the buffer's 4 bytes")


def _unsupported() -> None:
    raise Unsupported("no such kind")


def _exit() -> None:
    os._exit(3)


def _loop() -> None:
    while True:
        pass


def _block() -> None:
    threading.Event().wait()


def _allocate() -> None:
    bytearray(1 << 40)


def _kill_by_processor_limit() -> None:
    os.kill(os.getpid(), signal.SIGXCPU)


def _scribble() -> None:
    for number in range(3, 64):
        try:
            os.write(number, b"\xff" * 64)
        except OSError:
            continue


DEEDS: Mapping[bytes, Callable[[], None]] = {
    b"segv": _segv,
    b"abort": _abort,
    b"abort without memory": _abort_without_memory,
    b"panic": _panic,
    b"panic for lack": _panic_for_lack,
    b"refuse": _refuse,
    b"unsupported": _unsupported,
    b"exit": _exit,
    b"loop": _loop,
    b"block": _block,
    b"allocate": _allocate,
    b"processor": _kill_by_processor_limit,
    b"scribble": _scribble,
}


class _Poisoned(list[Any]):
    """Batches at which nobody can look."""

    def __iter__(self) -> Any:
        _segv()


class FaultyServer:
    """Remembers in which process it was asked, and how often."""

    version = "0.1"

    def __init__(self) -> None:
        self._poison = b""
        self._kept = bytearray()

    def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Decoded:
        """Do what the bytes say; without a word for it, answer the process's number."""
        if self._poison:
            DEEDS[self._poison]()
        deed = DEEDS.get(data)
        if deed is not None:
            deed()
        if data.startswith(b"poison "):
            self._poison = data.removeprefix(b"poison ")
        batch = pa.record_batch([pa.array([os.getpid()], pa.int64())], names=["process"])
        if data == b"keep":
            self._kept = bytearray(200 << 20)
        if data == b"unsound":
            return Decoded(batch.schema, _Poisoned())
        rows = int(data) if data.isdigit() else 1
        if rows != 1:
            batch = pa.record_batch({"a": pa.nulls(rows)})
        return Decoded(batch.schema, [batch] if rows else [])

    def hand_over(self, made: Decoded) -> Decoded:
        """It is handed over already."""
        return made

    def source(self, data: bytes) -> bytes:
        """Read what is to be written."""
        if data == b"bad source":
            raise ValueError("no stream")
        return data

    def encode(self, kind: str, data: bytes, options: Mapping[str, Any]) -> bytes:
        """Write it twice, or do what it says."""
        deed = DEEDS.get(data)
        if deed is not None:
            deed()
        return data * 2


def load() -> Library:
    """The faulty library."""
    return FaultyServer()
