"""Message classes made from descriptions are those that generated code would have."""

from __future__ import annotations

import pytest

from conformance._protobuftables import declare
from conformance.contract.protoclasses import message_classes
from conformance.protocols.flight.wire.messages import FLIGHT, PACKAGE

CLASSES = message_classes(PACKAGE, FLIGHT)


def test_every_message_has_a_class_of_its_name() -> None:
    """Nested messages too; the messages of protobuf itself are not made again."""
    own = {name for name in FLIGHT if not name.startswith(".google.")}

    assert CLASSES.keys() == own
    assert CLASSES["SessionOptionValue.StringListValue"].DESCRIPTOR.full_name == (
        "arrow.flight.protocol.SessionOptionValue.StringListValue"
    )


def test_a_map_is_a_map() -> None:
    """The entries of a map are a message of its own, which the class shows as a dictionary."""
    request = CLASSES["SetSessionOptionsRequest"]()
    request.session_options["limit"].int64_value = -3

    assert request.SerializeToString().hex(" ") == "0a 12 0a 05 6c 69 6d 69 74 12 09 19 fd ff ff ff ff ff ff ff"


def test_pyarrow_reads_what_the_classes_write() -> None:
    """The numbers and types of the fields are those of a library that was made from Flight.proto."""
    flight = pytest.importorskip("pyarrow.flight")
    if not hasattr(flight.FlightInfo, "ordered"):
        pytest.skip("this pyarrow reads fewer fields")
    info = CLASSES["FlightInfo"](total_records=7, total_bytes=-1, ordered=True, app_metadata=b"of info")
    info.flight_descriptor.type = 1
    info.flight_descriptor.path.extend(["a", "é"])
    endpoint = info.endpoint.add(app_metadata=b"of endpoint")
    endpoint.ticket.ticket = b"ticket"
    endpoint.location.add(uri="grpc+tcp://localhost:1")
    endpoint.expiration_time.seconds = 1700000000

    read = flight.FlightInfo.deserialize(info.SerializeToString())

    assert (read.total_records, read.total_bytes, read.ordered, read.app_metadata) == (7, -1, True, b"of info")
    assert read.descriptor == flight.FlightDescriptor.for_path("a", "é")
    assert [each.ticket.ticket for each in read.endpoints] == [b"ticket"]
    assert [each.uri for each in read.endpoints[0].locations] == [b"grpc+tcp://localhost:1"]
    assert read.endpoints[0].app_metadata == b"of endpoint"
    assert read.endpoints[0].expiration_time.as_py().timestamp() == 1700000000


def test_what_protobuf_refuses_is_refused() -> None:
    """Two fields of one name are refused when the classes are made, not when they are used."""
    specs = declare("https://example.com/x.proto", {"Twice": ("1 name string", "2 name string")})

    with pytest.raises(TypeError):
        message_classes("x", specs)
