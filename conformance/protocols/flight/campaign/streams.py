"""What of the streams of Flight two runs of a case have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from conformance.contract.view import View
from conformance.protocols.flight.contract.decoding import Data
from conformance.protocols.flight.contract.subjects import without_dictionaries
from conformance.protocols.flight.contract.view import DataView, FlightView
from conformance.protocols.flight.records import DoGet

__all__ = ["messages", "tables"]


def messages(view: View) -> list[bytes]:
    """The Arrow bytes of each stream that a second run gives as well."""
    return [part for call in _streams(view) for data in call.data for part in _parts(data)]


def tables(view: View) -> dict[str, pa.Table]:
    """The rows of each such stream, by its place among them."""
    found = enumerate(call.table for call in _streams(view))
    return {str(at): without_dictionaries(table) for at, table in found if table is not None}


def _streams(view: View) -> list[DataView]:
    """The calls that ended in OK and gave data, without reads that a second run may answer differently."""
    assert isinstance(view, FlightView), "it is the view of this protocol"
    return [call for call in view.flight_calls if isinstance(call, DataView) and call.ok and _is_settled(view, call)]


def _is_settled(view: FlightView, call: DataView) -> bool:
    """False for a read at the time of a DoPut of its flight, or after two of them at the same time: their order is
    nobody's choice.
    """
    if not isinstance(call.step, DoGet) or call.step.ticket is not None:
        return True
    descriptor = view.descriptor_of(call.step.info, call.index)
    puts = () if descriptor is None else view.puts.get(descriptor, ())
    return not any(
        put in call.beside or any(other in put.beside for other in puts) for put in puts if put.at <= call.at
    )


def _parts(data: Data | None) -> Iterator[bytes]:
    """The Arrow bytes of a FlightData."""
    return (part for part in (() if data is None else (data.header, data.body)) if part)
