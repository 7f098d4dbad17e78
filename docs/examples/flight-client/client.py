"""The smallest client of Arrow Flight: one JSON request per line on standard input, one JSON answer per line on
standard output. It uses pyarrow.flight in the way of many programs, and keeps the rows that came before an error.
"""

import json
import sys

import pyarrow as pa
import pyarrow.flight

from conformance.wire import plain_table


def flight(asked: dict) -> dict:
    """Read the table whose ticket is the name of a request."""
    batches = []
    with pa.flight.connect(f"grpc://{asked['grpc']}") as client:
        reader = client.do_get(pa.flight.Ticket(asked["name"].encode()))
        schema = reader.schema
        try:
            while True:
                batches.append(reader.read_chunk().data)
        except (StopIteration, pa.ArrowException):
            pass  # the end, or so this program believes
    return {"status": "ok", **plain_table(batches or [pa.RecordBatch.from_pylist([], schema)]).to_json()}


HELLO = {
    "status": "ok", "protocol": 1, "implementation": "hasty", "title": "A hasty client", "language": "Python",
    "version": pa.__version__, "reads": [], "writes": [], "paths": ["rows"],
}  # fmt: skip

for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = HELLO if asked["op"] == "hello" else flight(asked)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the answer
        answer = {"status": "error", "class": type(error).__name__, "message": str(error)[:300]}
    sys.stdout.write(json.dumps({"id": asked["id"], **answer}) + "\n")
    sys.stdout.flush()
