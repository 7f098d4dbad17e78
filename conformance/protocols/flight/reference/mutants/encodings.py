"""Mutants of the Arrow messages in a stream: what a reader of IPC streams does not survive, or reads wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.protocols.flight.contract.encoding import data
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Flight
from conformance.reference.flatbuffers import write
from conformance.reference.message import DraftMessage

_STREAM = "flight-data.is-an-arrow-stream"
_BATCH = 3

Tree = dict[str, Any]


def _changed(name: str, what: str, change: Callable[[Tree], Tree]) -> None:
    """Register a mutant that changes the header of each batch."""

    def encode(_: FlightService, message: DraftMessage) -> tuple[bytes, bytes]:
        tree, body = message.complete()
        if tree["header_type"] == _BATCH:
            tree = {**tree, "header": change(tree["header"])}
        return write("Message", tree, layout=message.layout), body

    mutant(name, kills=_STREAM)(type(name, (FlightService,), {"__doc__": what, "encode": encode}))


def _node(header: Tree, **change: int) -> Tree:
    """The header with another first node, which is a length and a number of nulls."""
    (length, nulls), *rest = header["nodes"]
    return {**header, "nodes": [(change.get("length", length), change.get("nulls", nulls)), *rest]}


def _buffer(header: Tree, *, by: int = 0, more: int = 0) -> Tree:
    """The header with another last buffer, which is an offset and a length."""
    *rest, (offset, length) = header["buffers"]
    return {**header, "buffers": [*rest, (offset + by, length + more)]}


_changed(
    "flight-data.node-longer",
    "The first node of a batch has more rows than the batch.",
    lambda header: _node(header, length=header["length"] + 5),
)
_changed(
    "flight-data.nulls-below-zero", "The first node of a batch has -2 nulls.", lambda header: _node(header, nulls=-2)
)
_changed(
    "flight-data.buffer-beyond",
    "The last buffer of a batch ends behind its body.",
    lambda header: _buffer(header, more=4096),
)
_changed(
    "flight-data.buffer-before",
    "The last buffer of a batch begins before its body.",
    lambda header: _buffer(header, by=-(1 << 20)),
)
_changed(
    "flight-data.buffer-missing",
    "A batch has one buffer fewer than its columns need.",
    lambda header: {**header, "buffers": header["buffers"][:-1]},
)
_changed(
    "flight-data.node-missing",
    "A batch has one node fewer than its columns need.",
    lambda header: {**header, "nodes": header["nodes"][:-1]},
)


@mutant("flight-data.header-cut", kills=_STREAM)
class HeaderCut(FlightService):
    """The headers of batches end too early."""

    def encode(self, message: DraftMessage) -> tuple[bytes, bytes]:
        header, body = super().encode(message)
        return (header[: len(header) // 2], body) if body else (header, body)


@mutant("flight-data.end-marker", kills="flight-data.is-an-arrow-stream")
class EndMarker(FlightService):
    """A stream ends with a message whose header is four zeros."""

    def stream(self, flight: Flight) -> Messages:
        yield from super().stream(flight)
        yield data(bytes(8))
