"""What the programs of this folder share: the suite's line protocol, and cutting a stream into its messages.

A program gives :func:`serve` two functions of its library. ``batches`` reads the table, an Arrow IPC stream.
``stream`` writes one batch as a stream of its own, uncompressed: a Schema message, the RecordBatch message, and the
end-of-stream marker. The programs need nothing of the suite; conformance/targets/protocol.schema.json describes the
messages, and docs/examples/adapter.py is the shortest example.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def serve(name: str, version: str, batches: Callable[[bytes], Sequence[Any]], stream: Callable[[Any], bytes]) -> None:
    """Answer requests until standard input ends. An exception of the library is the answer to its request."""
    hello = {"protocol": 1, "name": name, "version": version, "capabilities": ["arrow"], "input": "arrow"}
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "hello":
            answer = {"status": "ok", **hello}
        elif set(request["needs"]) - {"arrow"}:
            answer = {"status": "unsupported"}
        else:
            answer = serialized(base64.b64decode(request["arrow"]), batches, stream)
        sys.stdout.write(json.dumps({"id": request["id"], **answer}) + "\n")
        sys.stdout.flush()


def serialized(
    table: bytes, batches: Callable[[bytes], Sequence[Any]], stream: Callable[[Any], bytes]
) -> dict[str, Any]:
    """The answer to one request: the messages of the first stream's schema, and of every stream's batch."""
    try:
        written = [cut(stream(batch)) for batch in batches(table)]
    except BaseException as error:  # a panic of a Rust library derives from BaseException
        if isinstance(error, KeyboardInterrupt):
            raise
        return {"status": "error", "message": f"{type(error).__name__}: {error}"}
    schemas = [schema for schema, _ in written]
    if len(set(schemas)) != 1:
        return {"status": "error", "message": f"{len(set(schemas))} different schemas for the batches of one table"}
    messages = [base64.b64encode(batch).decode() for _, batch in written if batch]
    return {"status": "ok", "schema": base64.b64encode(schemas[0]).decode(), "batches": messages}


def cut(stream: bytes) -> tuple[bytes, bytes]:
    """The Schema message of a stream, and the bytes between it and the end-of-stream marker.

    The prefix of a message says how long its metadata are, and a Schema message has nothing behind them.
    """
    end = 8 + int.from_bytes(stream[4:8], "little")
    return stream[:end], stream[end:].removesuffix(END_OF_STREAM)
