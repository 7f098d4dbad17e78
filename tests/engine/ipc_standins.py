"""Small sets of vectors for the readers of :mod:`tests.engine.ipc_library`, which do what the bytes say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.contract.closed import Tier, Validity
from conformance.contract.ipc.expecting import expect
from conformance.engine.reading import reader_clauses
from conformance.engine.selection import all_clauses
from conformance.generate.vectors import FORMAT, Vector, VectorChapter, VectorOrigin, VectorSet
from conformance.wire import Kind
from conformance.wire.integration import write_integration


def clauses() -> tuple[Clause, ...]:
    """The clauses on readers."""
    all_clauses()
    return reader_clauses()


def stream(word: str, *, columns: int = 1) -> bytes:
    """A stream of three numbers in a column of that name, and of as many more columns."""
    names = [word, *(f"more {number}" for number in range(1, columns))]
    batch = pa.record_batch([pa.array([1, None, 3])] * columns, names=names)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def vectors(**contents: bytes) -> VectorSet:
    """A set of vectors with these ids (``__`` for a dot) and bytes; valid ones have rows."""
    made = VectorSet()
    every = tuple(_vector(made, name.replace("__", "."), data) for name, data in contents.items())
    made.chapters["few"] = VectorChapter("Few", every, FORMAT)
    return made


def _vector(made: VectorSet, name: str, data: bytes) -> Vector:
    expectation = expect(data, Kind.STREAM)
    file, rows = f"bytes/{name}.arrows", ""
    made.contents[file] = data
    if expectation.rows is not None:
        rows = f"rows/{name}.json"
        made.contents[rows] = json.dumps(write_integration(list(pa.ipc.open_stream(data)))).encode()
    return Vector(
        id=name,
        comment=f"{name}.",
        kind="stream",
        clauses=expectation.clauses,
        result=expectation.result,
        tier=expectation.tier,
        file=file,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        provenance=VectorOrigin("tests", name),
        rows=rows,
        reason=expectation.reason,
    )


def written(folder: Path, **contents: bytes) -> Path:
    """The folder, with such a set of vectors in it."""
    vectors(**contents).write(folder)
    return folder


STRUCTURE: Final = (Validity.INVALID, Tier.STRUCTURE)
"""Inputs that must be refused."""
