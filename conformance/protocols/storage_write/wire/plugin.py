"""The messages of the Storage Write API, and the IPC messages that an append carries."""

from collections.abc import Sequence
from typing import Final

from conformance._protobuftables import MessageSpec
from conformance.protocols.storage_write.wire.messages import METHODS, SPECS
from conformance.wire.faults import Fault
from conformance.wire.messages import Bytes, Header
from conformance.wire.plugin import Content, WirePlugin
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufmessages import ProtoMessage

CARRIER: Final = "AppendRowsRequest"
_PLACES: Final = (
    ("writer_schema", "serialized_schema", Header.SCHEMA),
    ("rows", "serialized_record_batch", Header.RECORD_BATCH),
)
"""The fields of ``arrow_rows`` with an IPC message in one of their own, the schema first."""


def _contents(data: Bytes, spec: MessageSpec) -> Sequence[Content]:
    return _contents_of(read_protobuf(data, spec).message) if spec.name == CARRIER else ()


def _contents_of(request: ProtoMessage) -> Sequence[Content]:
    rows = request.message("arrow_rows")
    found = []
    for outer, inner, header in _PLACES:
        place = None if rows is None else rows.message(outer)
        field = None if place is None else place.last(inner)
        if field is not None and isinstance(field.value, memoryview) and field.value:
            found.append(Content.of(field, header, f"arrow_rows.{outer}.{inner}"))
    return found


def _is_append(data: Bytes) -> bool:
    reading = read_protobuf(data, SPECS[CARRIER])
    return not reading.cut and not reading.violations and bool(_contents_of(reading.message))


def _faults(data: Bytes, spec: MessageSpec) -> Sequence[Fault]:
    return read_protobuf(data, spec).faults


PLUGIN: Final = WirePlugin(
    messages={name: SPECS[name] for pair in METHODS.values() for name in pair},
    carrier=CARRIER,
    is_carrier=_is_append,
    contents=_contents,
    faults=_faults,
    carries_bare=True,
)
