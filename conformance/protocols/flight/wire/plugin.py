"""The messages of Arrow Flight, and the IPC messages that they carry."""

from collections.abc import Sequence
from typing import Final

from conformance._protobuftables import MessageSpec
from conformance.protocols.flight.wire.data import is_flight_data, join_flight
from conformance.protocols.flight.wire.messages import FLIGHT
from conformance.wire.faults import Fault
from conformance.wire.messages import Bytes
from conformance.wire.plugin import Content, WirePlugin
from conformance.wire.protobuf import read_protobuf

CARRIER: Final = "FlightData"
_SCHEMA_FIELDS: Final = {"FlightInfo": "schema", "SchemaResult": "schema"}
"""The fields that contain an IPC message with its prefix."""


def _contents(data: Bytes, spec: MessageSpec) -> Sequence[Content]:
    if spec.name == CARRIER:
        stream = join_flight([data])
        (part,) = stream.parts
        there = [part.reading.message.last(name) for name in ("data_header", "data_body")]
        starts = frozenset(field.start for field in there if field is not None)
        return [Content(stream.data, part.back, starts)] if stream.data else []
    name = _SCHEMA_FIELDS.get(spec.name)
    field = read_protobuf(data, spec).message.last(name) if name is not None else None
    if field is None or not isinstance(field.value, memoryview) or not field.value:
        return []
    return [Content.of(field)]


def _faults(data: Bytes, spec: MessageSpec) -> Sequence[Fault]:
    return join_flight([data]).parts[0].faults if spec.name == CARRIER else read_protobuf(data, spec).faults


PLUGIN: Final = WirePlugin(
    messages=FLIGHT, carrier=CARRIER, is_carrier=is_flight_data, contents=_contents, faults=_faults
)
