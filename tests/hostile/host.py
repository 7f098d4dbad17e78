"""A small correct BigQueryRead server for tables of INT64 columns; attacks spoil single answers of it.

It starts in a third of the time that the reference takes, because it is started again after most attacks.
A case is attacked by the attack that it is named after: its table's name holds the id.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc
import pyarrow as pa

from conformance.contract import proto
from tests.hostile.attack import ATTACKS, Attack, Part, by_slug
from tests.hostile.calm import LIVES
from tests.hostile.restside import RestSide
from tests.hostile.wires import Wire

__all__ = ["Host", "attack_in", "main"]

_TABLE: Final = re.compile(r"\bt_(\w+?)_[0-9a-f]{8}_\w+")
HOUR: Final = 3600


def attack_in(text: str, *parts: Part) -> Attack | None:
    """The attack whose case's table is named in ``text``, where it is one of ``parts``."""
    found = _TABLE.search(text)
    return by_slug(found[1].removesuffix("_avro"), parts) if found else None  # as --data-format names its cases


class Host:
    """The server: its REST side, its tables, its gRPC service, and between that and the suite a wire."""

    def __init__(self) -> None:
        self.rest = RestSide()
        self.sessions: dict[str, Any] = {}
        self.current: Attack | None = None
        self.grpc_port = 0
        self.rest.on_table = self._forget
        self.stop = threading.Event()

    def _forget(self) -> None:
        self.current = None

    def start(self) -> None:
        """Bind both ports."""
        self.rest.start()
        self.server = grpc.server(ThreadPoolExecutor(32), options=[("grpc.so_reuseport", 0)])
        self.server.add_generic_rpc_handlers((_Handlers(self),))
        port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()
        self.wire = Wire(port, lambda: self.current)
        self.grpc_port = self.wire.port

    def announce(self) -> None:
        """Print the ports as JSON lines."""
        self.say({"event": "rest.listen", "port": self.rest.port}, {"event": "grpc.listen", "port": self.grpc_port})

    @staticmethod
    def say(*lines: Any) -> None:
        """Print JSON lines."""
        sys.stdout.write("".join(json.dumps(line) + "\n" for line in lines))
        sys.stdout.flush()

    def wait(self) -> None:
        """Serve until SIGTERM."""
        signal.signal(signal.SIGTERM, lambda *_: self.stop.set())
        self.stop.wait()

    def serve(self) -> None:
        """Everything that a server does that attacks nobody."""
        self.start()
        self.announce()
        self.wait()

    # --- answers ---

    def session(self, request: Any, context: grpc.ServicerContext) -> bytes:
        """CreateReadSession."""
        asked = request.read_session
        self.current = attack_in(asked.table, Part.SESSION, Part.ROWS, Part.WIRE)
        schema = self.schema(asked.table)
        name = f"{request.parent}/locations/us/sessions/s{time.monotonic_ns():x}"
        answer = proto.ReadSession(
            name=name,
            data_format=asked.data_format,
            table=asked.table,
            trace_id=asked.trace_id,
            estimated_row_count=len(self.rest.rows_of(asked.table)),
            estimated_total_bytes_scanned=8 * len(schema) * len(self.rest.rows_of(asked.table)),
            streams=[proto.ReadStream(name=f"{name}/streams/0")],
        )
        for field in ("table_modifiers", "read_options"):
            if asked.HasField(field):
                getattr(answer, field).CopyFrom(getattr(asked, field))
        answer.expire_time.FromSeconds(int(time.time()) + 6 * HOUR)
        answer.arrow_schema.serialized_schema = schema.serialize().to_pybytes()
        if self.current is not None and self.current.part is Part.SESSION:
            spoilt = self.current.act(answer, context)
            answer = answer if spoilt is None else spoilt
        if not isinstance(answer, bytes):
            self.sessions.update((stream.name, asked.table) for stream in answer.streams[:2000])
            answer = answer.SerializeToString()
        return bytes(answer)

    def rows(self, request: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
        """ReadRows."""
        answers = self.responses(request)
        if self.current is not None and self.current.part is Part.ROWS:
            return self._spoilt(self.current, answers, context)
        return (answer.SerializeToString() for answer in answers)

    @staticmethod
    def _spoilt(attack: Attack, answers: Iterator[Any], context: grpc.ServicerContext) -> Iterator[bytes]:
        for answer in attack.act(answers, context):
            yield answer if isinstance(answer, bytes) else answer.SerializeToString()

    def schema(self, table: str) -> pa.Schema:
        """The Arrow schema of a table."""
        return pa.schema([pa.field(name, pa.int64(), nullable) for name, nullable in self.rest.columns_of(table)])

    def responses(self, request: Any) -> Iterator[Any]:
        """The responses of a stream: two rows in the first, the others in the second."""
        table = self.sessions[request.read_stream]
        schema, rows = self.schema(table), self.rest.rows_of(table)
        total = max(len(rows), 1)
        start = request.offset
        while start < len(rows):
            stop = min(start + 2, len(rows))
            arrays = [pa.array([_int(row.get(name)) for row in rows[start:stop]], pa.int64()) for name in schema.names]
            answer = proto.ReadRowsResponse(row_count=stop - start)
            batch = pa.record_batch(arrays, schema=schema)
            answer.arrow_record_batch.serialized_record_batch = batch.serialize().to_pybytes()
            answer.stats.progress.at_response_start, answer.stats.progress.at_response_end = start / total, stop / total
            answer.throttle_state.throttle_percent = 0
            if start == request.offset:
                answer.arrow_schema.serialized_schema = schema.serialize().to_pybytes()
            yield answer
            start = stop


class _Handlers(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # generic in the stubs only
    def __init__(self, host: Host) -> None:
        self._host = host

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, bytes] | None:
        method = details.method.rsplit("/", 1)[-1]
        decode = proto.REQUESTS[method].FromString
        if method == "ReadRows":
            return grpc.unary_stream_rpc_method_handler(self._host.rows, decode)
        return grpc.unary_unary_rpc_method_handler(self._host.session, decode)


def _int(text: Any) -> int | None:
    return None if text is None else int(text)


def main(name: str = "") -> None:
    """Serve, as the attack on the process's life ``name`` has it."""
    host = Host()
    if name in LIVES:
        LIVES[name](host)
    elif name:
        ATTACKS[name].act(host)
    else:
        host.serve()
