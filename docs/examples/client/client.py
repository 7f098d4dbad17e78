"""The smallest client: one JSON request per line on standard input, one JSON answer per line on standard output."""

import json
import sys

import grpc
import pyarrow as pa

from conformance.contract import proto
from conformance.wire import plain_table


def fetch(asked: dict) -> dict:
    """Read the table of a request."""
    channel = grpc.insecure_channel(asked["grpc"])
    request = proto.CreateReadSessionRequest(parent=asked["table"].partition("/datasets/")[0])
    request.read_session.table = asked["table"]
    request.read_session.data_format = proto.DATA_FORMAT["ARROW"]
    request.read_session.read_options.selected_fields.extend(asked["columns"])
    request.read_session.read_options.row_restriction = asked["restriction"]
    create = channel.unary_unary(f"{proto.SERVICE}CreateReadSession")
    session = proto.ReadSession.FromString(create(request.SerializeToString()))
    schema = pa.ipc.read_schema(pa.py_buffer(session.arrow_schema.serialized_schema))
    batches = []
    for stream in session.streams:
        read = channel.unary_stream(f"{proto.SERVICE}ReadRows")
        for data in read(proto.ReadRowsRequest(read_stream=stream.name).SerializeToString()):
            response = proto.ReadRowsResponse.FromString(data)
            message = pa.py_buffer(response.arrow_record_batch.serialized_record_batch)
            batches.append(pa.ipc.read_record_batch(message, schema))
    if not batches:
        return {"status": "ok", "names": schema.names, "rows": 0, "columns": [[] for _ in schema]}
    return {"status": "ok", **plain_table(batches).to_json()}


HELLO = {
    "status": "ok", "protocol": 1, "implementation": "tiny", "title": "A tiny client", "language": "Python",
    "version": grpc.__version__, "reads": [], "writes": [], "paths": ["rows"],
}  # fmt: skip

for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = HELLO if asked["op"] == "hello" else fetch(asked)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the answer
        answer = {"status": "error", "class": type(error).__name__, "message": str(error)[:300]}
    sys.stdout.write(json.dumps({"id": asked["id"], **answer}) + "\n")
    sys.stdout.flush()
