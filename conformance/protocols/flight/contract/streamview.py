"""The IPC stream in the messages of a Flight call, as the clauses on streams see it."""

from __future__ import annotations

from conformance import wire
from conformance.contract.ipc.ipcview import IpcView
from conformance.contract.raised import remembered_property
from conformance.protocols.flight.wire.data import FlightStream
from conformance.wire import Kind

__all__ = ["FlightStreamView"]


class FlightStreamView(IpcView):
    """The IPC stream in the messages of one call in one direction; bytes count in this stream."""

    def __init__(self, flight: FlightStream) -> None:
        super().__init__(b"", Kind.STREAM)  # The stream is read in its parts; nobody needs its bytes.
        self.flight = flight

    @remembered_property
    def _alone(self) -> wire.StreamReading:
        return self.flight.read()
