"""A Flight server on pyarrow.flight, as the Arrow cookbook writes one, with the tables in memory.

https://arrow.apache.org/cookbook/py/flight.html: DoPut stores a table under the path of its descriptor, and the path is
also the ticket. Findings are about pyarrow unless they are about the few lines below.

    python with_pyarrow.py HOST | URI [CERTIFICATE KEY]

With a URI it listens there: at a socket, or over TLS with a certificate and its key, two PEM files.
"""

# ruff: noqa: ARG002  # the base class gives these arguments

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.flight

SEPARATOR = "\0"
"""Between the steps of a path in a ticket."""


class Server(pyarrow.flight.FlightServerBase):  # type: ignore[misc]  # it has no types
    """The tables by their tickets; every other method is that of pyarrow's base class."""

    def __init__(self, location: str, *pair: str) -> None:
        certificates = [tuple(Path(file).read_bytes() for file in pair)] if pair else None
        super().__init__(location, tls_certificates=certificates)
        self.tables: dict[bytes, pa.Table] = {}

    def list_flights(self, context: object, criteria: bytes) -> Iterator[pyarrow.flight.FlightInfo]:
        """List all tables whose ticket begins with the criteria."""
        return (self._info(ticket) for ticket in sorted(self.tables) if ticket.startswith(criteria))

    def get_flight_info(self, context: object, descriptor: object) -> pyarrow.flight.FlightInfo:
        """Describe a table."""
        return self._info(_ticket(descriptor))

    def get_schema(self, context: object, descriptor: object) -> pyarrow.flight.SchemaResult:
        """Give the schema of a table."""
        return pyarrow.flight.SchemaResult(self._table(_ticket(descriptor)).schema)

    def do_put(
        self, context: object, descriptor: object, reader: pyarrow.flight.FlightStreamReader, writer: object
    ) -> None:
        """Store a table, and replace an older one."""
        self.tables[_ticket(descriptor)] = reader.read_all()

    def do_get(self, context: object, ticket: pyarrow.flight.Ticket) -> pyarrow.flight.RecordBatchStream:
        """Send a table."""
        return pyarrow.flight.RecordBatchStream(self._table(ticket.ticket))

    def do_exchange(
        self,
        context: object,
        descriptor: object,
        reader: pyarrow.flight.FlightStreamReader,
        writer: pyarrow.flight.FlightStreamWriter,
    ) -> None:
        """Send each batch back as it comes."""
        began = False
        for chunk in reader:
            if chunk.data is None:
                writer.write_metadata(chunk.app_metadata)
                continue
            if not began:
                writer.begin(reader.schema)
                began = True
            if chunk.app_metadata is None:  # write_with_metadata takes no None
                writer.write_batch(chunk.data)
            else:
                writer.write_with_metadata(chunk.data, chunk.app_metadata)

    def list_actions(self, context: object) -> list[tuple[str, str]]:
        """List the one action that there is."""
        return [("drop_dataset", "Remove the table whose ticket is the body.")]

    def do_action(self, context: object, action: pyarrow.flight.Action) -> list[bytes]:
        """Remove a table."""
        if action.type != "drop_dataset":
            raise NotImplementedError(action.type)
        self._table(action.body.to_pybytes())
        del self.tables[action.body.to_pybytes()]
        return []

    def _table(self, ticket: bytes) -> pa.Table:
        if ticket not in self.tables:
            raise KeyError(f"there is no table {ticket!r}")
        return self.tables[ticket]

    def _info(self, ticket: bytes) -> pyarrow.flight.FlightInfo:
        table = self._table(ticket)
        descriptor = pyarrow.flight.FlightDescriptor.for_path(*ticket.decode().split(SEPARATOR))
        endpoint = pyarrow.flight.FlightEndpoint(ticket, [])
        return pyarrow.flight.FlightInfo(table.schema, descriptor, [endpoint], table.num_rows, table.nbytes)


def _ticket(descriptor: pyarrow.flight.FlightDescriptor) -> bytes:
    if descriptor is None or not descriptor.path:
        raise pa.ArrowInvalid("a flight is named by a path")
    return SEPARATOR.encode().join(descriptor.path)


if __name__ == "__main__":
    place, *pair = sys.argv[1:]
    server = Server(place if "://" in place else f"grpc://{place}:0", *pair)
    sys.stdout.write(json.dumps({"event": "grpc.listen", "port": server.port}) + "\n")
    sys.stdout.flush()
    server.serve()
