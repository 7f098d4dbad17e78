"""The streams of Arrow Flight that a decoder can read: those with the columns of the case, and no dictionaries.

The decoders know the types that a Storage Read server sends, and undo what their libraries document on these. So a
stream with other types, such as views or dictionaries, which a Flight server may choose, is left to the clauses.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.comparing.matching import shape
from conformance.contract.mapping import arrow_schema
from conformance.contract.view import View
from conformance.protocols.flight.contract.view import DataView, FlightView
from conformance.protocols.flight.wire.messages import METHOD_PATHS
from conformance.readers.fullread import FullRead
from conformance.readers.plugin import ReadersPlugin
from conformance.records import Case, Exchange
from conformance.wire.messages import Header, Message

__all__ = ["flight_reads", "held_streams"]

_PREFIX: Final = struct.Struct("<Ii")
_CONTINUATION: Final = 0xFFFFFFFF


def held_streams(view: View) -> dict[str, pa.Table]:
    """The rows of each stream that a decoder can read, by the label of its readings."""
    assert isinstance(view, FlightView), "it is the view of this protocol"
    return {call.stream_label: table for call in _readable(view) if (table := call.table) is not None}


def flight_reads(case: Case, exchange: Exchange, view: View | None = None) -> list[FullRead]:
    """The streams that a decoder can read, in the order of their calls."""
    seen = view or FlightView(case, exchange, arrow_schema(case.table.columns).empty_table())
    assert isinstance(seen, FlightView), "it is the view of this protocol"
    return [_read(case, call) for call in _readable(seen)]


def _readable(view: FlightView) -> list[DataView]:
    streams = [call for call in view.flight_calls if isinstance(call, DataView) and call.ok]
    wanted = _shapes(arrow_schema(view.case.table.columns)) if streams else []
    return [
        call
        for call in streams
        if call.table is not None and _shapes(call.table.schema) == wanted and _is_plain(call.messages)
    ]


def _is_plain(messages: Sequence[Message]) -> bool:
    """True for a schema and batches."""
    return [one.header for one in messages] == [Header.SCHEMA, *[Header.RECORD_BATCH] * (len(messages) - 1)]


def _shapes(schema: pa.Schema) -> list[tuple[str, object]]:
    return [(field.name, shape(field.type)) for field in schema]


def _read(case: Case, call: DataView) -> FullRead:
    schema, *batches = (
        _PREFIX.pack(_CONTINUATION, len(metadata)) + metadata + body for metadata, body in call.joined.apart
    )
    return FullRead(
        case_id=case.id,
        label=call.stream_label,
        request=b"",
        session=b"",
        streams=(),
        columns=case.table.columns,
        counted=False,
        bare=(schema, tuple(batches)),
    )


PLUGIN: Final = ReadersPlugin(flight_reads, held_streams, METHOD_PATHS)
