"""Client of pyarrow.flight: makes the calls of one path against a server of the suite, and gives back what came.

Each path is one way in which a program can read; the rows are what the library gives, and nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyarrow import flight
from serving import batches_of, serve

SECONDS = 10.0
"""The deadline of a call."""
REUSE = "arrow-flight-reuse-connection://?"
Asked = Mapping[str, Any]


def options() -> flight.FlightCallOptions:
    """A deadline, so that a server that goes on is no hang of the client."""
    return flight.FlightCallOptions(timeout=SECONDS)


def connected(asked: Asked) -> flight.FlightClient:
    """A client of the server."""
    return flight.connect(f"grpc+tcp://{asked['grpc']}")


def ticket(asked: Asked) -> flight.Ticket:
    """The ticket of a request for data alone."""
    return flight.Ticket(asked["name"].encode())


def descriptor(asked: Asked) -> flight.FlightDescriptor:
    """The descriptor of a request."""
    return flight.FlightDescriptor.for_path(asked["name"])


def texts(name: str, values: Iterable[Any], kind: pa.DataType) -> list[pa.RecordBatch]:
    """One column of what is no data."""
    return [pa.record_batch({name: pa.array(list(values), kind)})]


def chunks(reader: Any) -> Iterator[Any]:
    """Every chunk of a reader, by its own method."""
    while True:
        try:
            yield reader.read_chunk()
        except StopIteration:
            return


def with_schema(reader: Any, found: Iterable[Any]) -> list[pa.RecordBatch]:
    """The batches of some chunks; without any, an empty one with the columns."""
    batches = [chunk.data for chunk in found if chunk.data is not None]
    return batches or [pa.RecordBatch.from_pylist([], schema=reader.schema)]


def metadata_of(found: Iterable[Any]) -> list[pa.RecordBatch]:
    """One row for each metadata of some chunks."""
    held = (None if chunk.app_metadata is None else chunk.app_metadata.to_pybytes() for chunk in found)
    return texts("app_metadata", (one for one in held if one), pa.binary())


def read_all(asked: Asked) -> list[pa.RecordBatch]:
    """The whole table at once."""
    with connected(asked) as client:
        return batches_of(client.do_get(ticket(asked), options()).read_all())


def read_chunk(asked: Asked) -> list[pa.RecordBatch]:
    """Chunk by chunk."""
    with connected(asked) as client:
        reader = client.do_get(ticket(asked), options())
        return with_schema(reader, chunks(reader))


def iterate(asked: Asked) -> list[pa.RecordBatch]:
    """By iteration over the reader."""
    with connected(asked) as client:
        reader = client.do_get(ticket(asked), options())
        return with_schema(reader, reader)


def to_reader(asked: Asked) -> list[pa.RecordBatch]:
    """Through a RecordBatchReader, as datasets and DuckDB take it."""
    with connected(asked) as client:
        reader = client.do_get(ticket(asked), options()).to_reader()
        return [*reader] or [pa.RecordBatch.from_pylist([], schema=reader.schema)]


def read_pandas(asked: Asked) -> list[pa.RecordBatch]:
    """The whole table as a DataFrame."""
    with connected(asked) as client:
        frame = client.do_get(ticket(asked), options()).read_pandas()
    return batches_of(pa.Table.from_pandas(frame, preserve_index=False))


def metadata(asked: Asked) -> list[pa.RecordBatch]:
    """The metadata of each chunk."""
    with connected(asked) as client:
        return metadata_of(chunks(client.do_get(ticket(asked), options())))


def whole_flight(asked: Asked) -> list[pa.RecordBatch]:
    """Every endpoint of a flight, each at the first of its locations that can be used."""
    with connected(asked) as client:
        info = client.get_flight_info(descriptor(asked), options())
        found = []
        for endpoint in info.endpoints:
            reader = redeemed(client, endpoint)
            found += with_schema(reader, chunks(reader))
        return found


def redeemed(client: flight.FlightClient, endpoint: Any) -> Any:
    """The reader of an endpoint; raises the last error if no location can be used."""
    uris = [location.uri.decode() for location in endpoint.locations] or [REUSE]
    last: Exception | None = None
    for uri in uris:
        try:
            one = client if uri in ("", REUSE) else flight.connect(uri)
            return one.do_get(endpoint.ticket, options())
        except (pa.ArrowException, OSError) as error:
            last = error
    assert last is not None, "there is a location"
    raise last


def put(asked: Asked) -> list[pa.RecordBatch]:
    """The metadata of each result of an upload."""
    with connected(asked) as client:
        batch = pa.record_batch({"number": [1, 2, 3]})
        writer, results = client.do_put(descriptor(asked), batch.schema, options())
        found = []
        with writer:
            writer.write_batch(batch)
            writer.done_writing()
            while (one := results.read()) is not None:
                found.append(one.to_pybytes())
    return texts("app_metadata", found, pa.binary())


def exchanged(client: flight.FlightClient, asked: Asked) -> tuple[Any, Any]:
    """The writer and the reader of an exchange in which one batch was sent."""
    batch = pa.record_batch({"number": [1, 2, 3]})
    writer, reader = client.do_exchange(descriptor(asked), options())
    writer.begin(batch.schema)
    writer.write_batch(batch)
    writer.done_writing()
    return writer, reader


def exchange(asked: Asked) -> list[pa.RecordBatch]:
    """What comes back, chunk by chunk."""
    with connected(asked) as client:
        writer, reader = exchanged(client, asked)
        with writer:
            return with_schema(reader, chunks(reader))


def exchange_all(asked: Asked) -> list[pa.RecordBatch]:
    """What comes back, at once."""
    with connected(asked) as client:
        writer, reader = exchanged(client, asked)
        with writer:
            return batches_of(reader.read_all())


def exchange_metadata(asked: Asked) -> list[pa.RecordBatch]:
    """The metadata of what comes back."""
    with connected(asked) as client:
        writer, reader = exchanged(client, asked)
        with writer:
            return metadata_of(chunks(reader))


def action(asked: Asked) -> list[pa.RecordBatch]:
    """The body of each result."""
    with connected(asked) as client:
        found = [one.body.to_pybytes() for one in client.do_action(flight.Action(asked["name"], b""), options())]
    return texts("body", found, pa.binary())


def list_flights(asked: Asked) -> list[pa.RecordBatch]:
    """The path of each flight."""
    with connected(asked) as client:
        found = ["/".join(step.decode() for step in one.descriptor.path) for one in client.list_flights(b"", options())]
    return texts("path", found, pa.string())


def list_actions(asked: Asked) -> list[pa.RecordBatch]:
    """The type of each action."""
    with connected(asked) as client:
        return texts("type", [one.type for one in client.list_actions(options())], pa.string())


def schema(asked: Asked) -> list[pa.RecordBatch]:
    """The name of each field."""
    with connected(asked) as client:
        return texts("name", client.get_schema(descriptor(asked), options()).schema.names, pa.string())


class Login(flight.ClientAuthHandler):
    """Sends a password, and keeps what comes."""

    def __init__(self) -> None:
        super().__init__()
        self.token = b""

    def authenticate(self, outgoing: Any, incoming: Any) -> None:
        """The conversation."""
        outgoing.write(b"password")
        self.token = incoming.read()

    def get_token(self) -> bytes:
        """What every later call carries."""
        return self.token


def handshake(asked: Asked) -> list[pa.RecordBatch]:
    """The token of a login."""
    with connected(asked) as client:
        login = Login()
        client.authenticate(login, options())
    return texts("token", [login.token], pa.binary())


PATHS = {
    "read-all": read_all,
    "read-chunk": read_chunk,
    "iterate": iterate,
    "to-reader": to_reader,
    "read-pandas": read_pandas,
    "metadata": metadata,
    "flight": whole_flight,
    "put": put,
    "exchange": exchange,
    "exchange-all": exchange_all,
    "exchange-metadata": exchange_metadata,
    "action": action,
    "list-flights": list_flights,
    "list-actions": list_actions,
    "schema": schema,
    "handshake": handshake,
}

if __name__ == "__main__":
    about = {"implementation": "flight-python", "title": "pyarrow.flight", "version": pa.__version__}
    serve(about, PATHS, lambda error: type(error).__name__)
