"""Adapter of Apache Arrow C++ without pyarrow's interface: reads and writes IPC data for the suite.

Built by ``python -m adapters arrow-cpp``. The library of ``ipc.cc`` reads and writes; its batches are wrapped in the
classes of pyarrow, and their values come from their buffers. Standard input has one JSON request per line, standard
output one JSON answer per line. An error of Arrow becomes an answer whose class is its code; a crash ends the program.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pyarrow as pa

from conformance.contract.ipc.expectation import STATISTICS
from conformance.wire import PlainTable, plain_table

MAX_VALUES = 4194304
DEPTH = 64
"""The default of Arrow C++."""
LACKS = "NotImplemented"
STAGES = ("source", "values")
"""Each begins, with a colon, the text of an error that is not of the reader or the writer; ipc.cc puts it there.

An error of ``source`` came while the input of a write was read. One of ``values`` says that batches that were read are
not valid, so that nobody may look at their values.
"""


class LibraryError(Exception):
    """An error of Arrow: its code and its text."""

    def __init__(self, said: str) -> None:
        first, _, rest = said.partition(": ")
        self.stage = {"stage": first} if first in STAGES else {}
        self.code, _, text = (rest if self.stage else said).partition(": ")
        super().__init__(text)


class Unsupported(Exception):  # noqa: N818  # it becomes an answer of this name
    """The adapter has no way to do what was asked."""


def _wrapping(name: str) -> Callable[[int], Any]:
    """The function of pyarrow's C API that wraps what a shared pointer holds; it is given that pointer's address.

    The C data interface would cut a name at its first NUL.
    """
    capsule = pa.lib.__pyx_capi__[name]
    python = ctypes.pythonapi
    python.PyCapsule_GetName.argtypes, python.PyCapsule_GetName.restype = [ctypes.py_object], ctypes.c_char_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    address = python.PyCapsule_GetPointer(capsule, python.PyCapsule_GetName(capsule))
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(address)


class Arrow:
    """The functions of ``ipc.cc``."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        for name in ("ipc_read", "ipc_write", "ipc_write_tensor"):
            getattr(self._library, name).restype = ctypes.c_void_p
        self._library.ipc_free.argtypes = self._library.ipc_release.argtypes = [ctypes.c_void_p]
        for name in ("ipc_schema", "ipc_batch"):
            getattr(self._library, name).restype = ctypes.c_void_p
        self._library.ipc_batches.restype = ctypes.c_int64
        self._schema, self._batch = _wrapping("pyarrow_wrap_schema"), _wrapping("pyarrow_wrap_batch")

    def read(
        self, kind: str, data: bytes, options: Mapping[str, Any]
    ) -> tuple[pa.Schema, list[pa.RecordBatch], Mapping[str, int]]:
        """The schema and the batches of a stream or file, and what the reader counted."""
        chosen: Sequence[int] = options.get("included_fields", ())
        count = len(chosen) if "included_fields" in options else -1
        out = ctypes.c_void_p()
        counted = (ctypes.c_int64 * len(STATISTICS))()
        self._done(
            self._library.ipc_read(
                kind == "file",
                data,
                ctypes.c_int64(len(data)),
                options.get("way", "").encode(),
                ctypes.c_int64(0 if options.get("way") == "exact" else options.get("chunk", -1)),
                options.get("native_endian", True),
                options.get("threads", True),
                (ctypes.c_int * max(1, len(chosen)))(*chosen),
                count,
                counted,
                ctypes.byref(out),
            )
        )
        try:
            schema = self._schema(self._library.ipc_schema(out))
            numbers = range(self._library.ipc_batches(out))
            batches = [self._batch(self._library.ipc_batch(out, ctypes.c_int64(at))) for at in numbers]
        finally:
            self._library.ipc_release(out)
        return schema, batches, dict(zip(STATISTICS, counted, strict=True))

    def write(self, kind: str, data: bytes, options: Mapping[str, Any]) -> bytes:
        """The stream or the tensor, read and written again."""
        out, length = ctypes.c_void_p(), ctypes.c_int64()
        given = data, ctypes.c_int64(len(data))
        if kind == "tensor":
            self._done(self._library.ipc_write_tensor(*given, ctypes.byref(out), ctypes.byref(length)))
            return self._taken(out, length)
        savings = options.get("min_space_savings")
        self._done(
            self._library.ipc_write(
                kind == "file",
                *given,
                options.get("codec", "").encode(),
                options.get("version") == "V4",
                options.get("legacy", False),
                options.get("alignment", 8),
                ctypes.c_double(-1.0 if savings is None else savings),
                options.get("deltas", False),
                options.get("unify", False),
                options.get("depth", DEPTH),
                ctypes.byref(out),
                ctypes.byref(length),
            )
        )
        return self._taken(out, length)

    def _taken(self, out: ctypes.c_void_p, length: ctypes.c_int64) -> bytes:
        """The bytes that a function has written, whose memory is given back."""
        written = ctypes.string_at(out.value, length.value) if out.value else b""
        self._library.ipc_free(out)
        return written

    def _done(self, said: int | None) -> None:
        """Raise the error that a function returned, if it returned one."""
        if said:
            text = ctypes.string_at(said).decode(errors="replace")
            self._library.ipc_free(said)
            raise LibraryError(text)


HELLO: dict[str, Any] = {
    "status": "ok",
    "protocol": 1,
    "implementation": "arrow-cpp",
    "title": "Arrow C++, compiled: StreamDecoder and options that pyarrow lacks",
    "language": "C++",
    "version": pa.cpp_version,
    "reads": ["stream", "file"],
    "writes": ["stream", "file", "tensor"],
    "read_options": {
        "included_fields": [],
        "native_endian": [True, False],
        "threads": [True, False],
        "chunk": [],
        "way": ["", "exact", "prebuffered", "embedded"],
    },
    "write_options": {
        "codec": ["", "lz4", "zstd"],
        "version": ["V5", "V4"],
        "legacy": [False, True],
        "alignment": [8, 64],
        "min_space_savings": [],
        "deltas": [False, True],
        "unify": [False, True],
        "depth": [DEPTH, 200],
    },
}


def _rows(schema: pa.Schema, batches: Sequence[pa.RecordBatch], counted: Mapping[str, int]) -> dict[str, Any]:
    rows = sum(batch.num_rows for batch in batches)
    if rows * max(1, len(schema)) > MAX_VALUES:
        raise ValueError(f"the library announces more than {MAX_VALUES} values")
    names = tuple(schema.names)
    table = plain_table(batches) if batches else PlainTable(names, tuple([] for _ in names), 0)
    types = [str(field.type) for field in schema]
    return {"status": "ok", "types": types, "statistics": counted, **table.to_json()}


def _check(asked: Mapping[str, Any]) -> None:
    """Raise Unsupported for an operation, a kind or an option that hello does not list."""
    op, kind = asked["op"], asked.get("kind")
    if op not in ("read", "write") or kind not in HELLO[f"{op}s"]:
        raise Unsupported(f"cannot {op} kind {kind}")
    known: Mapping[str, Sequence[Any]] = HELLO[f"{op}_options"]
    for name, value in asked.get("options", {}).items():
        if name not in known or (known[name] and value not in known[name]):
            raise Unsupported(f"there is no option {name} with the value {value!r}")


def _answer(arrow: Arrow, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request to read or write."""
    stage, options = {}, asked.get("options", {})
    try:
        _check(asked)
        data = base64.b64decode(asked["data"])
        if asked["op"] == "write":
            written = arrow.write(asked["kind"], data, options)
            return {"status": "ok", "data": base64.b64encode(written).decode()}
        made = arrow.read(asked["kind"], data, options)
        stage = {"stage": "values"}
        return _rows(*made)
    except LibraryError as error:
        if error.code == LACKS and not error.stage:
            return {"status": "unsupported", "message": str(error)}
        return {"status": "error", "class": error.code, "message": str(error)[:2000], **error.stage}
    except Unsupported as error:
        return {"status": "unsupported", "message": str(error)}
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the answer
        return {"status": "error", "class": type(error).__name__, "message": str(error)[:2000], **stage}


def main() -> None:
    """Answer requests until standard input ends."""
    arrow = Arrow(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            asked = json.loads(line)
        except ValueError as error:
            asked = {"id": None}
            made = {"status": "error", "class": "ValueError", "message": str(error)}
        else:
            made = HELLO if asked["op"] == "hello" else _answer(arrow, asked)
        answers.write(json.dumps({"id": asked["id"], **made}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
