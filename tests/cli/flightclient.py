"""A client of pyarrow.flight that calls every method it has, and checks what comes: a program for the tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import pyarrow as pa
from pyarrow import flight

from conformance._pandas import leave_pandas_out

leave_pandas_out()  # importing it, or pytest, takes about as long as the rest of this program

ROWS = pa.table({"n": pa.array(range(1000), pa.int64()), "s": pa.array([f"row {n}" for n in range(1000)], pa.string())})
PATH = flight.FlightDescriptor.for_path("rows")


def write(client: flight.FlightClient) -> None:
    """Store the table."""
    writer, _ = client.do_put(PATH, ROWS.schema)
    with writer:
        for batch in ROWS.to_batches(max_chunksize=300):
            writer.write_batch(batch)


def read(client: flight.FlightClient) -> None:
    """Read the table with its info, and its schema alone."""
    info = client.get_flight_info(PATH)
    assert [client.do_get(one.ticket).read_all() for one in info.endpoints] == [ROWS]
    assert client.get_schema(PATH).schema == ROWS.schema
    assert [one.total_records for one in client.list_flights()] == [ROWS.num_rows]


def talk(client: flight.FlightClient) -> None:
    """Send a batch, and get it back before the next one."""
    writer, reader = client.do_exchange(flight.FlightDescriptor.for_command(b"echo"))
    with writer:
        writer.begin(ROWS.schema)
        for number, batch in enumerate(ROWS.to_batches(max_chunksize=500)):
            writer.write_with_metadata(batch, b"%d" % number)
            came = reader.read_chunk()
            assert (came.data, came.app_metadata.to_pybytes()) == (batch, b"%d" % number)
        writer.done_writing()


def be_refused(client: flight.FlightClient) -> None:
    """Ask for what there is not; the message of the server is the message of the error."""
    said = _raised(KeyError, lambda: client.get_flight_info(flight.FlightDescriptor.for_path("nothing")))
    assert "there is no table b'nothing'" in said
    _raised(NotImplementedError, lambda: list(client.do_action(flight.Action("unknown", b""))))


def _raised(kind: type[Exception], call: Callable[[], object]) -> str:
    """The text of the error that a call raises."""
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"expected {kind.__name__}")


def act(client: flight.FlightClient) -> None:
    """List the actions."""
    assert [one.type for one in client.list_actions()] == ["drop_dataset"]


if __name__ == "__main__":
    with flight.connect(f"grpc+tcp://{os.environ['CONFORMANCE_GRPC']}") as connected:
        for name in sys.argv[1:]:
            {"write": write, "read": read, "talk": talk, "be-refused": be_refused, "act": act}[name](connected)
