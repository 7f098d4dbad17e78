"""An adapter in about 50 lines: it lets the suite judge a serializer that the suite cannot import.

It needs nothing of the suite. Replace the two marked lines by calls of your own implementation.
The messages are described in conformance/targets/protocol.schema.json.
"""

import base64
import io
import json
import sys

import pyarrow as pa

CAPABILITIES = {"arrow"}


def hello(_request: dict) -> dict:
    """Say who is under test, what it can do, and in which form it wants tables."""
    return {
        "protocol": 1,
        "name": "pyarrow in a program",
        "version": pa.__version__,
        "capabilities": sorted(CAPABILITIES),
        "input": "arrow",
    }


def serialize(request: dict) -> dict:
    """Answer with one Schema message and one RecordBatch message for each batch."""
    table = pa.ipc.open_stream(io.BytesIO(base64.b64decode(request["arrow"])))
    schema = table.schema.serialize()  # your implementation here
    batches = [batch.serialize() for batch in table]  # and here
    return {"schema": text(schema), "batches": [text(batch) for batch in batches]}


def text(message: bytes) -> str:
    """Put bytes into JSON."""
    return base64.b64encode(message).decode()


def answer(request: dict) -> dict:
    """Answer one request; what the implementation raises is an error of its own, not the end of the program."""
    if not CAPABILITIES.issuperset(request.get("needs", ())):
        return {"status": "unsupported"}
    try:
        return {"status": "ok", **{"hello": hello, "serialize": serialize}[request["op"]](request)}
    except Exception as error:  # noqa: BLE001
        return {"status": "error", "message": f"{type(error).__name__}: {error}"}


for line in sys.stdin:
    request = json.loads(line)
    sys.stdout.write(json.dumps({"id": request["id"], **answer(request)}) + "\n")
    sys.stdout.flush()
