"""A correct Flight client in Python, and wrong ones: the mutants of the clauses on Flight clients.

``python -m conformance.protocols.flight.clients.standin`` speaks the protocol of
``conformance/readers/ipc/protocol.schema.json``. With the name of a fault of :data:`FAULTS` as its argument, it has
that fault and no other. It uses grpc, pyarrow's IPC reader and the suite's own protobuf reader, and no Flight library.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import grpc
import pyarrow as pa

from conformance.clients.standinfault import StandinFault
from conformance.protocols.flight.clients.streams import encoded
from conformance.protocols.flight.clients.uploads import UPLOADED
from conformance.protocols.flight.contract.decoding import message_of, read_data, read_info, read_poll
from conformance.protocols.flight.contract.encoding import action, data, descriptor, part
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.wire.messages import SERVICE
from conformance.wire import plain_table
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["FAULTS", "WHOLE"]

SECONDS: Final = 30.0
CHANCE: Final = itertools.count()
"""What decides for a client that is right by chance."""
REUSE: Final = ("", "arrow-flight-reuse-connection://?")
WHOLE: Final = "flight-client.whole-or-error"
UPLOADS: Final = "flight-client.uploads-are-true"
FAULTS: Final[Mapping[str, StandinFault]] = {
    "dies": StandinFault("It ends its process on an error.", "flight-client.survives"),
    "loops": StandinFault("It spins for ever on an error.", "flight-client.survives"),
    "refuses": StandinFault("It refuses a stream with a dictionary.", "flight-client.reads"),
    "drops-last-row": StandinFault("It loses the last row of a table.", "flight-client.rows-true", (WHOLE,)),
    "backwards": StandinFault("It reverses the rows of a stream.", "flight-client.order-in-stream"),
    "metadata-of-batches": StandinFault("It drops the metadata of messages without data.", "flight-client.metadata"),
    "silent": StandinFault(
        "It ends a read without an error when a call fails.", "flight-client.status-is-error", (WHOLE,)
    ),
    "skips-broken": StandinFault("It skips a message that cannot be decoded.", "flight-client.broken-is-error"),
    "ends-at-metadata": StandinFault("It ends a read at a message with metadata alone.", WHOLE),
    "loses-by-chance": StandinFault(
        "Where the schema comes again, it gives an error each other time, and else the rows before it.", WHOLE
    ),
    "uploads-unnamed": StandinFault("It uploads without a descriptor.", UPLOADS),
    "uploads-less": StandinFault("It uploads the schema and no row.", UPLOADS),
    "uploads-cut": StandinFault("It uploads the first half of a body.", UPLOADS),
    "tickets-as-text": StandinFault("It makes text of tickets.", "flight-client.tickets-as-given"),
}
"""Every wrong client, by the argument that makes it."""


class WrongCalls:
    """The calls of one request, with a fault."""

    def __init__(self, fault: str, asked: Mapping[str, Any]) -> None:
        self.fault = fault
        self.name = str(asked["name"])
        self.channel = grpc.insecure_channel(asked["grpc"], options=[("grpc.max_receive_message_length", -1)])
        self.descriptor = descriptor(Descriptor(path=(self.name,)))

    def call(self, method: str, *requests: bytes) -> list[bytes]:
        """The responses of a call that ends in OK."""
        made: Any = self.channel.stream_stream(f"{SERVICE}{method}", bytes, bytes)(iter(requests), timeout=SECONDS)
        found: list[bytes] = []
        try:
            found.extend(made)
        except grpc.RpcError:
            if self.fault != "silent":
                raise
        return found

    def one(self, method: str, request: bytes) -> bytes:
        """The only response of a call."""
        responses = self.call(method, request)
        if len(responses) != 1:
            raise ValueError(f"expected one answer of {method}, got {len(responses)}")
        return responses[0]

    def message(self, kind: str, data: bytes) -> ProtoMessage:
        """A message of Flight; raises :class:`ValueError` if it is none."""
        found = message_of(kind, data)
        if found is None:
            raise ValueError(f"an answer is no {kind}")
        return found

    def parts(self, responses: Sequence[bytes]) -> Iterator[tuple[pa.ipc.Message | None, bytes]]:
        """The Arrow message and the metadata of each FlightData."""
        for response in responses:
            found = read_data(response)
            header = bytes(found.header or b"") if found is not None else b""
            body = bytes(found.body or b"") if found is not None else b""
            metadata = bytes(found.metadata or b"") if found is not None else b""
            try:
                yield _message(header, body, encoded=found is not None), metadata
            except (pa.ArrowException, ValueError, OSError):
                if self.fault != "skips-broken":
                    raise

    def table(self, responses: Sequence[bytes]) -> pa.Table:
        """The rows of a stream of FlightData."""
        stream, schemas = pa.BufferOutputStream(), 0
        for message, metadata in self.parts(responses):
            if message is None and metadata and self.fault == "ends-at-metadata":
                break
            schemas += message is not None and message.type == "schema"
            if schemas > 1 and self.fault == "loses-by-chance":
                if next(CHANCE) % 2:
                    break
                raise ValueError("the schema comes again")
            if message is not None:
                message.serialize_to(stream)
        table = self.read(stream.getvalue())
        if self.fault == "refuses" and any(pa.types.is_dictionary(kind) for kind in table.schema.types):
            raise ValueError("a dictionary")
        if self.fault == "backwards":
            return table.take(pa.array(range(table.num_rows - 1, -1, -1), pa.int64()))
        return table.slice(0, table.num_rows - 1) if self.fault == "drops-last-row" else table

    def read(self, stream: pa.Buffer) -> pa.Table:
        """The rows of an IPC stream, checked."""
        with pa.ipc.open_stream(stream) as reader:
            batches = []
            for batch in reader:
                batch.validate(full=True)
                batches.append(batch)
            # Behind an end marker, or a message that the reader takes for one, there is nothing left.
            return pa.Table.from_batches(batches, reader.schema)

    def metadata(self, responses: Sequence[bytes]) -> pa.Table:
        """The metadata of each message, if the data can be read."""
        self.read_only(responses)
        found = [
            metadata
            for message, metadata in self.parts(responses)
            if metadata and not (message is None and self.fault == "metadata-of-batches")
        ]
        return pa.table({"app_metadata": pa.array(found, pa.binary())})

    def read_only(self, responses: Sequence[bytes]) -> None:
        """Read the rows for the errors that are in them."""
        stream = pa.BufferOutputStream()
        for message, _ in self.parts(responses):
            if message is not None:
                message.serialize_to(stream)
        self.read(stream.getvalue())

    def get(self, ticket: bytes) -> list[bytes]:
        """The stream of a ticket."""
        if self.fault == "tickets-as-text":
            ticket = ticket.decode("utf-8", "replace").encode()
        return self.call("DoGet", part(1, ticket))

    def endpoints(self, info: bytes) -> pa.Table:
        """The rows of all endpoints of an info."""
        found = read_info(info)
        if found is None:
            raise ValueError("an answer is no FlightInfo")
        tables = []
        for endpoint in found.endpoints:
            if endpoint.locations and not set(REUSE) & set(endpoint.locations):
                raise ValueError("this client knows no other server")
            tables.append(self.table(self.get(endpoint.ticket or b"")))
        return pa.concat_tables(tables) if tables else pa.table({})

    def poll(self) -> pa.Table:
        """The rows of a query that is asked about until it has ended."""
        asked = self.descriptor
        while True:
            found = read_poll(self.one("PollFlightInfo", asked))
            if found is None or found.info is None:
                raise ValueError("an answer is no PollInfo")
            if found.descriptor is None:
                return self.endpoints(found.info.raw)
            asked = found.descriptor

    def schema(self) -> pa.Table:
        """The fields of a flight's schema."""
        held = bytes(self.message("SchemaResult", self.one("GetSchema", self.descriptor)).data("schema"))
        return pa.table({"name": pa.ipc.read_schema(pa.py_buffer(held)).names})

    def exchange(self) -> list[bytes]:
        """What comes back for one batch."""
        return self.call("DoExchange", *self.upload())

    def upload(self) -> Iterator[bytes]:
        """The messages of one batch."""
        header, batch = encoded([UPLOADED])
        yield data(header.header, of=None if self.fault == "uploads-unnamed" else self.descriptor)
        if self.fault != "uploads-less":
            yield data(batch.header, batch.body[: len(batch.body) // 2] if self.fault == "uploads-cut" else batch.body)

    def put(self) -> pa.Table:
        """The metadata of each result of an upload."""
        return self.column("app_metadata", "PutResult", self.call("DoPut", *self.upload()))

    def column(self, name: str, kind: str, responses: Sequence[bytes], field: str = "") -> pa.Table:
        """One field of each message of a list."""
        found = [bytes(self.message(kind, one).data(field or name)) for one in responses]
        return pa.table({name: pa.array(found, pa.binary())})

    def flights(self) -> pa.Table:
        """The path of each flight."""
        infos = [read_info(one) for one in self.call("ListFlights", b"")]
        if None in infos:
            raise ValueError("an answer is no FlightInfo")
        paths = ["/".join(info.descriptor[2]) if info is not None and info.descriptor else "" for info in infos]
        return pa.table({"path": pa.array(paths, pa.string())})

    def actions(self) -> pa.Table:
        """The type of each action."""
        found = [self.message("ActionType", one).text("type") for one in self.call("ListActions", b"")]
        return pa.table({"type": pa.array(found, pa.string())})

    def handshake(self) -> pa.Table:
        """The token of a login."""
        return self.column("token", "HandshakeResponse", [self.one("Handshake", part(2, b"password"))], "payload")

    @property
    def paths(self) -> Mapping[str, Callable[[], pa.Table]]:
        """Every path."""
        return {
            "rows": lambda: self.table(self.get(self.name.encode())),
            "metadata": lambda: self.metadata(self.get(self.name.encode())),
            "flight": lambda: self.endpoints(self.one("GetFlightInfo", self.descriptor)),
            "poll": self.poll,
            "exchange": lambda: self.table(self.exchange()),
            "exchange-metadata": lambda: self.metadata(self.exchange()),
            "put": self.put,
            "action": lambda: self.column("body", "Result", self.call("DoAction", action(self.name))),
            "flights": self.flights,
            "actions": self.actions,
            "schema": self.schema,
            "handshake": self.handshake,
        }


def _message(header: bytes, body: bytes, *, encoded: bool) -> pa.ipc.Message | None:
    """The Arrow message in a FlightData; None if it has none. Raises :class:`ValueError` if it cannot be one."""
    if not encoded or (body and not header):
        raise ValueError("a message is no FlightData, or has a body alone")
    if not header:
        return None
    padded = header + bytes(-len(header) % 8)
    whole = b"\xff\xff\xff\xff" + len(padded).to_bytes(4, "little") + padded + body
    message = pa.ipc.read_message(pa.py_buffer(whole))
    if message is None:
        raise ValueError("the header of a message is an end marker")
    return message


ASKS: Final = (
    *("rows", "metadata", "flight", "poll", "exchange", "exchange-metadata"),
    *("put", "action", "flights", "actions", "schema", "handshake"),
)
"""The paths, each of which asks for what it is called."""


def answer(fault: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    if asked["op"] == "hello":
        about = {"implementation": "standin", "title": "stand-in", "language": "Python", "version": pa.__version__}
        return {"status": "ok", "protocol": 1, "reads": [], "writes": [], "paths": [*ASKS], **about}
    try:
        table = WrongCalls(fault, asked).paths[asked["path"]]()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is this client's answer
        if fault == "dies":
            os.abort()
        while fault == "loops":
            pass
        return {"status": "error", "class": type(error).__name__, "message": str(error)[:300]}
    batches = table.to_batches()
    empty = {"names": table.column_names, "rows": 0, "columns": [[] for _ in table.column_names]}
    made = plain_table(batches).to_json() if batches else empty
    return {"status": "ok", "types": [str(kind) for kind in table.schema.types], **made}


def main() -> None:
    """Answer requests until standard input ends."""
    fault = "".join(itertools.islice(sys.argv, 1, 2))
    for line in sys.stdin:
        asked = json.loads(line)
        sys.stdout.write(json.dumps({"id": asked["id"], **answer(fault, asked)}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
