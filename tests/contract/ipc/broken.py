"""For every rule on wholes, bytes that break it, as the wire's own tests have them; and good bytes of each kind."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.wire import Kind, Rule, StreamReading, read_stream
from tests.wire import breaking
from tests.wire.breaking_files import FILES, TENSORS

GOOD = pa.RecordBatch.from_pydict(
    {
        "x": pa.array([1, None, 3]),
        "t": pa.array(["a", "bb", None]),
        "d": pa.array(["a", "b", "a"]).dictionary_encode(),
        "s": pa.array([{"a": 1}, None, {"a": 3}]),
    }
)
END = bytes.fromhex("ffffffff00000000")


def written(kind: str, *batches: pa.RecordBatch, **options: Any) -> bytes:
    """A stream or file that pyarrow writes."""
    sink = pa.BufferOutputStream()
    given = pa.ipc.IpcWriteOptions(**options)
    with getattr(pa.ipc, f"new_{kind}")(sink, batches[0].schema, options=given) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def tensor() -> bytes:
    """A tensor that pyarrow writes."""
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(np.arange(6).reshape(2, 3)), sink)
    return bytes(sink.getvalue().to_pybytes())


@functools.cache
def broken() -> Mapping[Rule, tuple[Kind, bytes]]:
    """For every rule on streams, files and tensors, bytes that break it, and perhaps others with it."""
    found: dict[Rule, tuple[Kind, bytes]] = {}
    caught: list[bytes] = []

    def catch(data: Any) -> StreamReading:
        caught.append(bytes(data))
        return read_stream(data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(breaking, "read_stream", catch)
        for rule, case in breaking.BREAKING.items():
            caught.clear()
            case()
            if caught:
                found[rule] = Kind.STREAM, caught[-1]
    found |= {rule: (Kind.FILE, data) for rule, data in FILES.items()}
    return found | {rule: (Kind.TENSOR, data) for rule, data in TENSORS.items()}
