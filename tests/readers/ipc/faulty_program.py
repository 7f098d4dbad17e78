"""A program that breaks the protocol, or dies, as a job's bytes say; its argument says how it answers hello."""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
import threading
from typing import Any

HELLO: dict[str, Any] = {
    "status": "ok",
    "protocol": 1,
    "implementation": "liar",
    "title": "a program that lies",
    "language": "Python",
    "version": "0.1",
    "reads": ["stream", "message"],
    "writes": ["file"],
    "read_options": {"threads": [True], "chunk": True},
}
ROWS: dict[str, Any] = {"status": "ok", "names": ["process"], "types": ["int"], "rows": 1, "columns": [[os.getpid()]]}


def _answer(asked: dict[str, Any], data: bytes) -> dict[str, Any] | bytes:  # noqa: C901, PLR0911, PLR0912  # one word, one deed
    match data:
        case b"segv":
            print("about to crash", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        case b"exit":
            print("fatal error: stack overflow", file=sys.stderr, flush=True)
            os._exit(2)
        case b"long words":
            stacks = "goroutine 1 [running]:\n" * 2000
            print(f"runtime: out of memory: cannot allocate 4 bytes\n{stacks}", file=sys.stderr, flush=True)
            os._exit(2)
        case b"block":
            threading.Event().wait()
        case b"loop":
            while True:
                pass
        case b"allocate":
            held = bytearray(300 << 20)
            held[::4096] = b"x" * len(held[::4096])
            threading.Event().wait()
        case b"garbage":
            return b"warning: something went wrong"
        case b"wrong id":
            return {**ROWS, "id": 99}
        case b"no columns":
            return {"id": asked["id"], "status": "ok", "names": ["a"], "rows": 1}
        case b"bad value":
            return {"id": asked["id"], **ROWS, "columns": [[1.5]]}
        case b"wrong count":
            return {"id": asked["id"], **ROWS, "columns": [[1, 2]]}
        case b"counts":
            return {"id": asked["id"], **ROWS, "statistics": {"messages": 2, "record_batches": 1}}
        case b"two ways":
            return {"id": asked["id"], **ROWS, "ways": ["sliced: column 0 'process', row 0: expected 1, got 2"]}
        case b"other counts":
            return {"id": asked["id"], **ROWS, "statistics": {"bytes": 2}}
        case b"wrong columns":
            return {"id": asked["id"], **ROWS, "columns": []}
        case b"refuse":
            return {"id": asked["id"], "status": "error", "class": "java.io.IOException", "message": "bad magic"}
        case b"no memory":
            name = "java.lang.OutOfMemoryError"
            return {"id": asked["id"], "status": "error", "class": name, "message": "Java heap space"}
        case b"panic":
            said = {"class": "panic: runtime.boundsError", "message": "index out of range", "panicked": True}
            return {"id": asked["id"], "status": "error", "stage": "values", **said}
        case b"unsupported":
            return {"id": asked["id"], "status": "unsupported", "message": "no such type"}
    if asked["op"] == "write":
        return {"id": asked["id"], "status": "ok", "data": asked["data"]}
    if asked["kind"] == "message":
        schema = base64.b64decode(asked["schema"]).decode()
        return {"id": asked["id"], "status": "ok", "names": [schema], "rows": 0, "columns": [[]]}
    return {"id": asked["id"], **ROWS}


def main() -> None:
    """Answer line by line."""
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["op"] == "hello":
            reported: dict[str, Any] | bytes = {"id": asked["id"], **HELLO}
            if sys.argv[1:] == ["mute"]:
                sys.exit("cannot load the library")
            if sys.argv[1:] == ["old"]:
                reported = {"id": asked["id"], **HELLO, "protocol": 7}
        else:
            reported = _answer(asked, base64.b64decode(asked["data"]))
        text = reported if isinstance(reported, bytes) else json.dumps(reported).encode()
        sys.stdout.buffer.write(text + b"\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
