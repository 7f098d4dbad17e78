"""A reader that does to its worker what the label of the session says."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

import pyarrow as pa

from conformance.readers.fullread import FullRead
from conformance.readers.info import Read, ReaderInfo, Takes

INFO = ReaderInfo(
    name="misbehaving", title="a reader that aborts, loops, allocates …", package="none", takes=Takes.MESSAGES
)


class Panic(BaseException):
    """An exception like a Rust panic: not a subclass of Exception."""


def _abort() -> pa.Table:
    print("assertion failed: offsets.len() > 0", file=sys.stderr, flush=True)  # as native code does
    os.abort()


def _loop() -> pa.Table:
    while True:
        pass


def _panic() -> pa.Table:
    raise Panic("index out of bounds")


def _exit() -> pa.Table:
    os._exit(3)


def _babble() -> pa.Table:
    """Write to the worker's own connection what is no frame."""
    for number in range(3, 64):
        try:
            os.write(number, b"\xff" * 64)
        except OSError:
            continue
    os._exit(0)


HOSTILE = "\n::error::x\x1b]0;x\x07\u202e\ud800##vso[task.x]\x00"


def _speak() -> pa.Table:
    raise type(HOSTILE.replace("\0", "").replace("\ud800", ""), (Exception,), {})(HOSTILE)


def _last_words() -> pa.Table:
    os.write(2, HOSTILE.encode("utf-8", "surrogatepass"))
    os.abort()


def _no_offsets() -> pa.Table:
    """Lists without slots, whose offsets are 0 bytes in front of other bytes: legal, and Table.nbytes reads them."""
    nothing = pa.py_buffer(b"\x7f" * 4096).slice(64, 0)
    kind = pa.list_(pa.int64())
    inner = pa.Array.from_buffers(kind, 0, [None, nothing], children=[pa.array([], pa.int64())])
    items = pa.StructArray.from_arrays([inner], ["b"])
    return pa.table({"a": pa.Array.from_buffers(pa.list_(items.type), 0, [None, nothing], children=[items])})


ACTS: Mapping[str, Callable[[], pa.Table]] = {
    "behave": lambda: pa.table({"a": [1]}),
    "abort": _abort,
    "loop": _loop,
    "panic": _panic,
    "exit": _exit,
    "babble": _babble,
    "allocate": lambda: pa.table({"a": pa.array([bytes(1 << 40)])}),
    "speak": _speak,
    "last words": _last_words,
    "names": lambda: pa.table({f"a{HOSTILE}".replace("\ud800", ""): [1]}),
    "no table": object,  # a defect of the suite's reader
    "no offsets": _no_offsets,
    "break the rules": lambda: pa.table({"a": pa.array([b"\xff"], pa.binary()).view(pa.string())}),
}


def load() -> Read:
    """The function that misbehaves."""
    return read


def read(whole: FullRead) -> pa.Table:
    """Act."""
    return ACTS[whole.label]()
