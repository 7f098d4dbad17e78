"""What a Flight client uploads by DoPut and DoExchange: whether it is what the program wrote, in legal messages.

Every path that uploads writes :data:`UPLOADED` in one batch. The scripted server answers behind the last message of the
client, so that an upload that it has seen is whole, whatever the script makes of the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.flight.clients.streams import NAME
from conformance.protocols.flight.contract.decoding import in_words, meaning_of, message_of
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.wire.data import read_flight
from conformance.wire.arrow import DecodingError
from conformance.wire.faults import Severity

__all__ = ["UPLOADED", "uploaded_wrongly"]

UPLOADED: Final = pa.record_batch([pa.array([1, 2, 3], pa.int64())], names=["number"])
"""What a path for DoPut or DoExchange writes."""
_METHODS: Final = ("DoPut", "DoExchange")
_NAMED: Final = Descriptor(path=(NAME,))


def uploaded_wrongly(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A sentence for each upload of these calls that is not :data:`UPLOADED`, or that breaks Flight or the format."""
    for event in events:
        if event["method"] in _METHODS:
            named = _named(event["requests"][0], needed=event["method"] == "DoPut")
            yield from (f"its {event['method']} has {fault}" for fault in (*named, *_faults(event["requests"])))


def _faults(messages: Sequence[bytes]) -> Iterator[str]:
    reading = read_flight(messages)
    wrong = [one for one in reading.faults if one.fault.severity is Severity.VIOLATION]
    if wrong:
        yield f"in message {wrong[0].message} {wrong[0].fault}"
        return
    try:
        table = reading.content.to_arrow()
    except DecodingError as error:
        yield f"no rows: {error}"
        return
    expected = pa.Table.from_batches([UPLOADED])
    if table.schema.names != expected.schema.names or table.to_pydict() != expected.to_pydict():
        yield f"the columns {table.to_pydict()}, and the program wrote {expected.to_pydict()}"


def _named(first: bytes, *, needed: bool) -> Iterator[str]:
    """What is wrong with the descriptor in the first message. Flight.proto calls it relevant for DoPut alone, so that
    an exchange may go without.
    """
    found = message_of("FlightData", first)
    held = None if found is None else found.last("flight_descriptor")
    if held is None:
        if needed:
            yield "no descriptor in its first message"
        return
    named = message_of("FlightDescriptor", first[held.value_start : held.end])
    meaning = None if named is None else meaning_of(named)
    if meaning is None or meaning[2] != _NAMED.path or meaning[1]:
        yield "a descriptor that cannot be read" if meaning is None else in_words(meaning)
