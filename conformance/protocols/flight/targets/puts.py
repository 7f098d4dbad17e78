"""The FlightData of a DoPut in the forms that a step asks for: writings, damages, names, metadata and spellings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from conformance.protocols.flight.contract import encoding
from conformance.protocols.flight.records import DoPut, Naming, Spelling
from conformance.protocols.flight.targets.pieces import pieces_of
from conformance.protocols.flight.wire.messages import FLIGHT
from conformance.records import Case
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufmessages import ProtoField, ProtoMessage

__all__ = ["put_messages", "spelled"]

_UNKNOWN: Final = encoding.number(77, 5) + encoding.part(78, b"x")
"""Fields that no version of Flight has."""


def put_messages(case: Case, table: pa.Table, step: DoPut, of: bytes, other: bytes) -> Iterator[tuple[bytes, bool]]:
    """The messages of a DoPut, each with whether it has rows; ``other`` is the descriptor of another flight."""
    if step.ahead:
        yield spelled("FlightData", encoding.data(of=of), step.spelled), False
    for at, piece in enumerate(pieces_of(case, table, written=step.written, damage=step.damage, at=step.at)):
        named = None if step.ahead else _name(step.named, at, of, other)
        metadata = b"%d" % at if step.metadata and piece.rows else None
        message = dataclasses.replace(piece, of=named, metadata=metadata).message
        yield spelled("FlightData", message, step.spelled), piece.rows
        if step.metadata:
            yield spelled("FlightData", encoding.data(metadata=b"alone"), step.spelled), False


def spelled(kind: str, message: bytes, how: Spelling) -> bytes:
    """A message of Flight in another form that means the same."""
    if how is Spelling.UNKNOWN_FIELDS:
        return _UNKNOWN + message + _UNKNOWN
    if how is Spelling.PLAIN:
        return message
    fields = read_protobuf(message, FLIGHT[kind]).message.fields
    if how is Spelling.HALVES:
        return b"".join(_halves(one, message) for one in fields)
    if how is Spelling.REVERSED:  # the occurrences of one field keep their order
        return b"".join(message[one.start : one.end] for one in sorted(fields, key=lambda one: -one.number))
    return b"".join(_before(one.number, one.value) + message[one.start : one.end] for one in fields)


def _halves(field: ProtoField, message: bytes) -> bytes:
    """A field as it is, or the occurrences of an embedded message with the first half of its fields and the others."""
    if not isinstance(field.value, ProtoMessage):
        return message[field.start : field.end]
    inside = field.value.fields
    middle = inside[(len(inside) + 1) // 2].start if len(inside) > 1 else field.end
    halves = (message[field.value_start : middle], message[middle : field.end])
    return b"".join(encoding.part(field.number, half) for half in halves if half)


def _before(field: int, value: object) -> bytes:
    """An earlier occurrence of a scalar field; a text is repeated in Flight and a message is merged: they have none."""
    if isinstance(value, int):
        return encoding.number(field, 0)
    return encoding.part(field, b"\xff") if isinstance(value, memoryview) else b""


def _name(named: Naming, at: int, of: bytes, other: bytes) -> bytes | None:
    """The descriptor of the message number ``at``; None if it has none."""
    if at == 0:
        return None if named is Naming.LATE else of
    if named is Naming.CHANGED:
        return other
    return of if named is Naming.EVERY or (named is Naming.LATE and at == 1) else None
