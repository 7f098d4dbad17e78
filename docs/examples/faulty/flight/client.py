"""Reads the stream of the server in FLIGHT as users of pyarrow.flight do.

The argument is the way: ``read_all``, ``read_pandas``, ``chunks``, ``reader``, ``exchange`` or ``list_flights``.
"""

import os
import sys
from typing import Any

from pyarrow import flight

client = flight.connect(f"grpc://{os.environ['FLIGHT']}")
options = flight.FlightCallOptions(timeout=60)


def get() -> flight.FlightStreamReader:
    """The reader of DoGet."""
    return client.do_get(flight.Ticket(b"ticket"), options)


def texts(chunks: Any) -> list[str]:
    """The texts of every chunk that has data."""
    return [text for chunk in chunks if chunk.data for text in chunk.data["s"].to_pylist()]


def exchange() -> list[str]:
    """The texts of DoExchange, to which nothing is sent."""
    writer, reader = client.do_exchange(flight.FlightDescriptor.for_path("table"), options)
    with writer:
        writer.done_writing()
        return texts(reader)


WAYS = {
    "read_all": lambda: [*map(str, get().read_all()["s"])],
    "read_pandas": lambda: [*get().read_pandas()["s"]],
    "chunks": lambda: texts(get()),
    "reader": lambda: [*map(str, get().to_reader().read_all()["s"])],
    "exchange": exchange,
    "list_flights": lambda: [one.descriptor.path[0].decode() for one in client.list_flights(b"", options)],
}
sys.stdout.write(f"{WAYS[sys.argv[1]]()}\n")
