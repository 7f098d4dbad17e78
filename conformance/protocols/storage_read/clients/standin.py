"""A correct client in Python, and wrong ones: the mutants of the clauses on clients.

``python -m conformance.protocols.storage_read.clients.standin`` speaks the protocol of
``conformance/readers/ipc/protocol.schema.json``. With the name of a fault of :data:`FAULTS` as its argument, it has
that fault and no other. It uses grpc and pyarrow alone, so that it needs no client library.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

import grpc
import pyarrow as pa

from conformance.clients.standinfault import StandinFault
from conformance.contract import proto
from conformance.formats.messages import ARROW
from conformance.wire import plain_table

__all__ = ["FAULTS"]

SECONDS: Final = 30.0
ATTEMPTS: Final = 5
"""Calls for one stream that are lost in a row, before the client gives up."""

WHOLE: Final = "client.interrupted-is-whole-or-error"
FAULTS: Final[Mapping[str, StandinFault]] = {
    "dies": StandinFault("It ends its process on an error.", "client.survives"),
    "loops": StandinFault("It spins for ever on an error.", "client.survives"),
    "fills-memory": StandinFault("It takes memory without end on an error.", "client.survives"),
    "refuses": StandinFault("It refuses a table without rows.", "client.reads"),
    "drops-last-row": StandinFault("It loses the last row of a table.", "client.rows-true", also=(WHOLE,)),
    "no-columns": StandinFault("It has no columns where there are no rows.", "client.columns"),
    "backwards": StandinFault("It reverses the rows of each stream.", "client.order-in-stream"),
    "silent": StandinFault("It ends a read without an error when a call is refused.", "client.refusal-is-error"),
    "skips-broken": StandinFault("It skips a batch that cannot be decoded.", "client.broken-is-error"),
    "keeps-calls": StandinFault("It leaves the call of a read that fails as it is.", "client.cancels-what-it-abandons"),
    "starts-again": StandinFault("It resumes from row 0 and keeps what it had.", WHOLE),
    "gives-up": StandinFault("It makes an error of a lost connection.", "client.resumes"),
    "one-too-far": StandinFault(
        "It resumes one row behind the place that it has reached.", "client.resumes-at-its-offset", ("client.resumes",)
    ),
}
"""Every wrong client, by the argument that makes it."""
KEPT: Final[list[Any]] = []
"""Calls that the client with this fault does not end."""


class WrongRead:
    """One read of a table, with a fault."""

    def __init__(self, fault: str, asked: Mapping[str, Any]) -> None:
        self.fault = fault
        self.asked = asked
        self.channel = grpc.insecure_channel(asked["grpc"], options=[("grpc.max_receive_message_length", -1)])

    def table(self) -> pa.Table:
        """The rows of all streams, stream by stream."""
        request = proto.CreateReadSessionRequest(parent="/".join(self.asked["table"].split("/")[:2]))
        request.read_session.table = self.asked["table"]
        request.read_session.data_format = proto.DATA_FORMAT["ARROW"]
        request.read_session.read_options.selected_fields.extend(self.asked["columns"])
        request.read_session.read_options.row_restriction = self.asked["restriction"]
        try:
            call = self.channel.unary_unary(f"{proto.SERVICE}CreateReadSession", bytes, bytes)
            session = proto.ReadSession.FromString(call(request.SerializeToString(), timeout=SECONDS))
        except grpc.RpcError:
            if self.fault != "silent":
                raise
            return pa.table({})
        schema = pa.ipc.read_schema(pa.py_buffer(ARROW.schema_in(session) or b""))
        batches = [batch for stream in session.streams for batch in self.stream(stream.name, schema)]
        table = pa.Table.from_batches(batches, schema)
        if not table.num_rows:
            if self.fault == "refuses":
                raise ValueError("a table without rows")
            return pa.table({}) if self.fault == "no-columns" else table
        return table.slice(0, table.num_rows - 1) if self.fault == "drops-last-row" else table

    def stream(self, name: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The batches of a stream in their order, resumed where the connection was lost."""
        found: list[pa.RecordBatch] = []
        offset = failed = 0
        while True:
            try:
                for response in self.responses(name, offset):
                    batch = self.decoded(ARROW.rows_in(response) or b"", schema)
                    offset += response.row_count
                    found += [] if batch is None else [batch]
                break
            except grpc.RpcError as error:
                failed += 1
                if not _is_lost(error):
                    if self.fault == "silent":
                        break
                    raise
                if self.fault == "gives-up" or failed == ATTEMPTS:
                    raise
                if self.fault == "starts-again":
                    offset = 0
                if self.fault == "one-too-far":
                    offset += 1
        if self.fault == "backwards":
            found = [batch.take(pa.array(range(batch.num_rows - 1, -1, -1), pa.int64())) for batch in reversed(found)]
        yield from found

    def responses(self, name: str, offset: int) -> Iterator[Any]:
        """The responses of one call."""
        request = proto.ReadRowsRequest(read_stream=name, offset=offset).SerializeToString()
        method = self.channel.unary_stream(f"{proto.SERVICE}ReadRows", bytes, bytes)
        call: Any = method(request, timeout=None if self.fault == "keeps-calls" else SECONDS)
        try:
            yield from map(proto.ReadRowsResponse.FromString, call)
        finally:
            if self.fault == "keeps-calls":
                KEPT.append((self.channel, call))
            else:
                call.cancel()

    def decoded(self, data: bytes, schema: pa.Schema) -> pa.RecordBatch | None:
        """A batch, checked."""
        try:
            batch = pa.ipc.read_record_batch(pa.py_buffer(data), schema)
            batch.validate()
        except (pa.ArrowException, OSError):
            if self.fault != "skips-broken":
                raise
            return None
        return batch


def _is_lost(error: grpc.RpcError) -> bool:
    """Whether the connection was lost, so that the read goes on behind what came."""
    reset = error.code() is grpc.StatusCode.INTERNAL and "RST_STREAM" in (error.details() or "")
    return reset or error.code() is grpc.StatusCode.UNAVAILABLE


def answer(fault: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    if asked["op"] == "hello":
        about = {"implementation": "standin", "title": "stand-in", "language": "Python", "version": pa.__version__}
        return {"status": "ok", "protocol": 1, "reads": [], "writes": [], "paths": ["rows"], **about}
    try:
        table = WrongRead(fault, asked).table()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is this client's answer
        if fault == "dies":
            os.abort()
        while fault == "loops":
            pass
        taken = []
        while fault == "fills-memory":
            taken.append(b"x" * (8 << 20))
        return {"status": "error", "class": type(error).__name__, "message": str(error)[:300]}
    batches = table.to_batches()
    made = plain_table(batches).to_json() if batches else _empty(table)
    return {"status": "ok", "types": [str(kind) for kind in table.schema.types], **made}


def _empty(table: pa.Table) -> dict[str, Any]:
    return {"names": table.column_names, "rows": 0, "columns": [[] for _ in table.column_names]}


def main() -> None:
    """Answer requests until standard input ends."""
    fault = sys.argv[1] if len(sys.argv) > 1 else ""
    for line in sys.stdin:
        asked = json.loads(line)
        sys.stdout.write(json.dumps({"id": asked["id"], **answer(fault, asked)}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
