"""Python serializers that attack: what two functions can do to the process that calls them.

Pyarrow's own serializer obeys; a table whose second column is named after an attack meets the attack instead.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final, NoReturn

import pyarrow as pa

from tests.hostile.attack import Act, Attack, Expected, Part, attacks, by_slug, register
from tests.hostile.lives import sleeper

__all__ = ["Hostile"]

MIB: Final = 1 << 20
BUSY_SECONDS: Final = 40.0
"""How long a loop without end goes on where nobody ends it."""
HANG: Final = Expected(("hang",), "within")
CRASH: Final = Expected(("crash",), "exit|signal|died|ended")
REFUSED: Final = Expected(("refused", "fail", "crash"))
WRONG: Final = Expected(("refused", "fail"), "bytes")


def _serializer(name: str, expected: Expected, **more: Any) -> Callable[[Act], Act]:
    return register(name, Part.SERIALIZER, expected, **more)


class _Serializer:
    """The two functions of a target file's entry."""

    def serialize_schema(self, schema: pa.Schema) -> Any:
        """The Schema message."""
        attack = _attack_on(schema)
        return schema.serialize().to_pybytes() if attack is None else attack.act(schema)

    def serialize_batch(self, batch: pa.RecordBatch) -> bytes:
        """The RecordBatch message."""
        data: bytes = batch.serialize().to_pybytes()
        return data


Hostile: Final = _Serializer()
"""The objects that a target file names."""


def _attack_on(schema: pa.Schema) -> Attack | None:
    attacks()
    return by_slug(schema.names[1], (Part.SERIALIZER,)) if len(schema.names) > 1 else None


@_serializer("serializer.loops", HANG)
def loops(schema: Any) -> None:
    """The function loops without end, and holds the interpreter's lock as long as it can."""
    until = time.monotonic() + BUSY_SECONDS
    sys.setswitchinterval(5)
    while time.monotonic() < until:
        pass


@_serializer("serializer.sleeps", HANG)
def sleeps(schema: Any) -> None:
    """The function sleeps in native code that holds the interpreter's lock."""
    ctypes.PyDLL(None).sleep(int(BUSY_SECONDS))


@_serializer("serializer.exits", CRASH)
def exits(schema: Any) -> NoReturn:
    """The function ends the process with status 0."""
    os._exit(0)


@_serializer("serializer.segfaults", CRASH)
def segfaults(schema: Any) -> None:
    """The function reads address zero."""
    ctypes.string_at(0)


@_serializer("serializer.aborts", CRASH)
def aborts(schema: Any) -> None:
    """The function aborts with hostile text as its last output."""
    os.write(2, b"::error::HOSTILE\n\x1b[2J\n")
    os.abort()


@_serializer("serializer.kills-its-group", CRASH)
def kills_its_group(schema: Any) -> None:
    """The function kills its process."""
    os.kill(os.getpid(), signal.SIGKILL)


@_serializer("serializer.allocates", Expected(("crash", "hang", "refused", "fail"), "memory|exhausted|limit|signal"))
def allocates(schema: Any) -> bytes:
    """The function takes 3 GiB of memory, and writes to all of it."""
    return b"".join(b"\xff" * (64 * MIB) for _ in range(48))[:8]


@_serializer("serializer.returns-2-gib", Expected(("crash", "hang", "fail"), ""))
def returns_2_gib(schema: Any) -> bytes:
    """The function returns 2 GiB for the schema of two columns."""
    return bytes(2 << 30)


@_serializer("serializer.returns-text", WRONG)
def returns_text(schema: Any) -> str:
    """The function returns a text with lone surrogates."""
    return "\ud800" * 100


@_serializer("serializer.returns-none", WRONG)
def returns_none(schema: Any) -> None:
    """The function returns None."""


class _FaultyObject:
    """An object whose every method attacks."""

    def _fault(self, *_: object) -> NoReturn:
        raise SystemExit("HOSTILE")

    __repr__ = __str__ = __eq__ = __hash__ = __len__ = __iter__ = __bytes__ = __bool__ = _fault

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise KeyboardInterrupt("HOSTILE")


@_serializer("serializer.returns-a-liar", Expected(("refused", "fail", "crash")))
def returns_a_faulty_object(schema: Any) -> _FaultyObject:
    """The function returns an object whose class, text, length and truth all raise."""
    return _FaultyObject()


class _Growing(bytes):
    """Bytes that say that they are others."""

    def __len__(self) -> int:
        return 1 << 62

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = bytes.__hash__


@_serializer("serializer.returns-lying-bytes", Expected(("refused", "fail", "pass")))
def returns_lying_bytes(schema: Any) -> bytes:
    """The function returns bytes that equal everything and report a length of 2^62."""
    return _Growing(schema.serialize().to_pybytes())


@_serializer("serializer.returns-a-strided-view", Expected(("fail", "refused")))
def returns_a_strided_view(schema: Any) -> memoryview:
    """The function returns a memoryview of every other byte, backwards."""
    return memoryview(bytes(4096))[::-2]


@_serializer("serializer.raises-system-exit", REFUSED)
def raises_system_exit(schema: Any) -> NoReturn:
    """The function raises SystemExit(0)."""
    sys.exit(0)


@_serializer("serializer.raises-keyboard-interrupt", REFUSED)
def raises_keyboard_interrupt(schema: Any) -> NoReturn:
    """The function raises KeyboardInterrupt."""
    raise KeyboardInterrupt


class _Unspeakable(BaseException):
    """An exception that cannot be shown: its text raises, and its name is hostile."""

    def __str__(self) -> str:
        raise SystemExit("HOSTILE")

    __repr__ = __str__


@_serializer("serializer.raises-the-unspeakable", REFUSED)
def raises_the_unspeakable(schema: Any) -> NoReturn:
    """The function raises an exception whose text raises SystemExit."""
    raise _Unspeakable


@_serializer("serializer.raises-hostile-words", REFUSED)
def raises_hostile_words(schema: Any) -> NoReturn:
    """The function raises an exception whose name and text contain control sequences for terminals and CI systems."""
    raise type("\x1b[2J", (Exception,), {})("\n::error::HOSTILE\n##vso[task.complete]\ud800\u202e")


@_serializer("serializer.recurses", Expected(("refused", "fail", "crash", "hang")))
def recurses(schema: Any) -> Any:
    """The function calls itself without end, with a recursion limit of a million."""
    sys.setrecursionlimit(1_000_000)
    return recurses(schema)


@_serializer("serializer.raises-a-long-chain", REFUSED)
def raises_a_long_chain(schema: Any) -> None:
    """The function raises an exception with 20,000 causes."""
    error = ValueError("first")
    for _ in range(20_000):
        following = ValueError("next")
        following.__cause__ = error
        error = following
    raise error


@_serializer("serializer.takes-the-signals", Expected(("pass",)))
def takes_the_signals(schema: Any) -> bytes:
    """The function ignores every signal that can be ignored."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGCHLD, signal.SIGPIPE):
        signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    data: bytes = schema.serialize().to_pybytes()
    return data


@_serializer("serializer.patches-the-library", Expected(("pass", "fail", "crash", "refused")))
def patches_the_library(schema: Any) -> bytes:
    """The function replaces functions of the standard library: json writes nothing, the clock never advances."""
    data: bytes = schema.serialize().to_pybytes()
    json.dumps = lambda *_, **__: "HOSTILE"
    time.monotonic = lambda: 0.0
    time.time_ns = lambda: 0
    gc.disable()
    return data


@_serializer("serializer.closes-all-files", Expected(("pass", "crash", "fail")))
def closes_all_files(schema: Any) -> bytes:
    """The function closes every file of its process."""
    data: bytes = schema.serialize().to_pybytes()
    os.closerange(0, 4096)
    return data


@_serializer("serializer.scribbles", Expected(("pass", "crash", "fail")))
def scribbles(schema: Any) -> bytes:
    """The function writes garbage to every file of its process."""
    data: bytes = schema.serialize().to_pybytes()
    for number in range(64):
        try:
            os.set_blocking(number, False)
            os.write(number, b"\n::error::HOSTILE\n\xff\x1b[2J" * 10)
        except OSError:
            continue
    return data


@_serializer("serializer.leaves-threads-and-a-daemon", Expected(("pass",)))
def leaves_threads_and_a_daemon(schema: Any) -> bytes:
    """The function leaves 200 threads that never end, and a child in its own session."""
    for _ in range(200):
        threading.Thread(target=threading.Event().wait, daemon=False).start()
    sleeper(before=os.setsid)
    data: bytes = schema.serialize().to_pybytes()
    return data


@_serializer("serializer.prints", Expected(("pass",)))
def prints(schema: Any) -> bytes:
    """The function prints control sequences for terminals and CI systems."""
    sys.stdout.write("\n::error::HOSTILE\n##vso[task.complete]\n\x1b[2J\n")
    sys.stdout.flush()
    data: bytes = schema.serialize().to_pybytes()
    return data


@_serializer("serializer.spoils-the-schema", Expected(("pass", "fail")))
def spoils_the_schema(schema: Any) -> bytes:
    """The function changes the buffers of the table that it received."""
    data: bytes = schema.serialize().to_pybytes()
    view = pa.py_buffer(data)
    ctypes.memset(view.address, 0, view.size)
    return data
