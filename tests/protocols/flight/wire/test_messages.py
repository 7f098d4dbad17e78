"""The descriptions of Flight's messages, compared with the bytes that pyarrow.flight writes."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from conformance.protocols.flight.wire.messages import FLIGHT, METHODS
from conformance.wire import ProtoMessage, read_protobuf

flight = pytest.importorskip("pyarrow.flight")

SCHEMA = pa.schema([("x", pa.int64())])
EXPIRY = dt.datetime(2027, 1, 1, tzinfo=dt.UTC)
PATH = flight.FlightDescriptor.for_path("one", "zwei")
COMMAND = flight.FlightDescriptor.for_command(b"\xff select")
ENDPOINT = flight.FlightEndpoint(
    b"\x00ticket", ["grpc+tcp://localhost:1"], pa.scalar(EXPIRY, pa.timestamp("s", "UTC")), b"of endpoint"
)
INFO = flight.FlightInfo(SCHEMA, PATH, [ENDPOINT, ENDPOINT], 12, -1, ordered=True, app_metadata=b"of info")


def read(data: bytes, name: str) -> ProtoMessage:
    """The message in bytes that break no rule and show nothing unusual."""
    reading = read_protobuf(data, FLIGHT[name])

    assert not reading.faults
    assert not reading.observations
    return reading.message


def test_flight_info_and_what_it_contains() -> None:
    """Numbers, texts, bytes, a repeated message and a timestamp, at the fields that the library wrote."""
    info = read(INFO.serialize(), "FlightInfo")
    first, second = info.messages("endpoint")

    assert (info.number("total_records"), info.number("total_bytes"), info.number("ordered")) == (12, -1, 1)
    assert bytes(info.data("app_metadata")) == b"of info"
    assert pa.ipc.read_schema(pa.py_buffer(info.data("schema"))) == SCHEMA
    descriptor = info.message("flight_descriptor")
    assert descriptor is not None
    assert (descriptor.number("type"), descriptor.texts("path")) == (1, ["one", "zwei"])
    assert [each.text("uri") for each in second.messages("location")] == ["grpc+tcp://localhost:1"]
    ticket, expiry = first.message("ticket"), first.message("expiration_time")
    assert ticket is not None
    assert bytes(ticket.data("ticket")) == b"\x00ticket"
    assert expiry is not None
    assert expiry.number("seconds") == EXPIRY.timestamp()
    assert bytes(first.data("app_metadata")) == b"of endpoint"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (PATH.serialize(), "FlightDescriptor"),
        (COMMAND.serialize(), "FlightDescriptor"),
        (ENDPOINT.serialize(), "FlightEndpoint"),
        (flight.Ticket(b"x").serialize(), "Ticket"),
        (flight.Result(pa.py_buffer(b"x")).serialize(), "Result"),
        (flight.Action("x", b"y").serialize(), "Action"),
        (flight.BasicAuth(b"user", b"password").serialize(), "BasicAuth"),
        (flight.SchemaResult(SCHEMA).serialize(), "SchemaResult"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_byte_of_a_message_has_a_declared_field(data: bytes, name: str) -> None:
    """A message of the library is read to its end, and no field is unknown."""
    message = read(data, name)

    assert message.fields
    assert message.read_to == message.end == len(data)
    assert all(field.spec is not None for field in message.fields)


def test_methods_name_declared_messages() -> None:
    """Each method's request and response is a message of the table."""
    assert {name for method in METHODS.values() for name in (method.request, method.response)} <= FLIGHT.keys()
    assert len(METHODS) == 10
