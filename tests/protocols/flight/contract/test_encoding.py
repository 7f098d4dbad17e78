"""What is written by hand is read by protobuf's own classes."""

from __future__ import annotations

import pyarrow.flight as pf
import pytest
from google.protobuf import struct_pb2, wrappers_pb2

from conformance.protocols.flight.contract import encoding
from conformance.protocols.flight.records import Descriptor


@pytest.mark.parametrize("value", [0, 1, 127, 128, 1 << 40, (1 << 63) - 1, -1, -(1 << 63)])
def test_numbers_are_varints(value: int) -> None:
    """A negative one takes ten bytes."""
    read = wrappers_pb2.Int64Value.FromString(encoding.number(1, value))

    assert read.value == value


def test_texts_parts_and_doubles_are_fields() -> None:
    """Each with its number and its wire type."""
    assert wrappers_pb2.StringValue.FromString(encoding.text(1, "é")).value == "é"
    assert wrappers_pb2.BytesValue.FromString(encoding.part(1, b"\xff" * 300)).value == b"\xff" * 300
    assert struct_pb2.Value.FromString(encoding.double(2, 0.5)).number_value == 0.5


@pytest.mark.parametrize("named", [Descriptor(path=("a", "b c")), Descriptor(cmd=b"\x00\xff")])
def test_a_descriptor_is_that_of_pyarrow(named: Descriptor) -> None:
    """Its type belongs to what it has."""
    read = pf.FlightDescriptor.deserialize(encoding.descriptor(named))

    made = pf.FlightDescriptor.for_path(*named.path) if named.path else pf.FlightDescriptor.for_command(named.cmd)
    assert read == made


def test_an_action_is_that_of_pyarrow() -> None:
    """An empty body is left out."""
    assert pf.Action.deserialize(encoding.action("a", b"x")).body.to_pybytes() == b"x"
    assert pf.Action.deserialize(encoding.action("a")).type == "a"
    assert encoding.action("a") == encoding.text(1, "a")


def test_data_leaves_out_what_is_empty() -> None:
    """A message without header and body is one of metadata alone; metadata may be empty and there."""
    assert encoding.data() == b""
    assert encoding.data(metadata=b"") == b"\x1a\x00"
    assert encoding.data(b"h", b"b", of=b"") == b"\x0a\x00\x12\x01h\xc2\x3e\x01b"
