"""Mutants of what becomes of a damaged stream: rows that are lost or invented under the status OK, and refused tables
that are stored all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import read_data
from conformance.protocols.flight.contract.encoding import data
from conformance.protocols.flight.reference.base import is_schema
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.reference.statuses import Refusal
from conformance.wire import Header
from conformance.wire.messages import read_apart

_WHOLE = "flight-put.damaged-is-whole-or-refused"
_BROKEN = {"flight-put.broken-data-is-refused": "the data there is damaged too, and accepted in the same way"}


def _readable(service: FlightService, came: Sequence[bytes]) -> Sequence[bytes]:
    """The messages before the first that cannot be read; nothing if even the first cannot."""
    for end in range(len(came), 0, -1):
        try:
            service.table_of(came[:end])
        except Refusal:
            continue
        return came[:end]
    return ()


def _filled(message: bytes) -> bytes:
    """A batch whose body is as long as its header declares, filled up with what nobody sent."""
    found = read_data(message)
    if found is None or not found.header:
        return message
    header = read_apart(0, bytes(found.header), memoryview(b""), []).message
    if header is None or header.header is not Header.RECORD_BATCH:
        return message
    body = bytes(found.body or b"").ljust(header.body_length, b"~")
    return data(found.header, body, of=None)


@mutant("flight-put.damage-ends-it", kills=_WHOLE, also=_BROKEN)
class DamageEndsIt(FlightService):
    """What comes before a message that cannot be read is stored, and the call ends in OK."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        readable = _readable(self, came)
        if readable:
            super().keep(key, readable)


@mutant("flight-put.short-bodies-are-filled", kills=_WHOLE, also=_BROKEN)
class ShortBodiesAreFilled(FlightService):
    """A body that is shorter than its header declares is read on behind its end."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        super().keep(key, [*came[:1], *map(_filled, came[1:])])


@mutant("flight-put.second-schema-begins-anew", kills=_WHOLE)
class SecondSchemaBeginsAnew(FlightService):
    """A second schema drops the rows before it."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        schemas = [at for at, one in enumerate(came) if is_schema(self.decode("FlightData", one).data("data_header"))]
        super().keep(key, came[schemas[-1] :] if len(schemas) > 1 else came)


@mutant("flight-put.refused-is-stored", kills="flight-put.refused-is-not-stored")
class RefusedIsStored(FlightService):
    """What comes before a message that cannot be read is stored, and the call ends in an error."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        readable = _readable(self, came)
        if readable:
            super().keep(key, readable)
        if len(readable) < len(came):
            self.refuse(StatusCode.INVALID_ARGUMENT, "a message cannot be read")


@mutant(
    "flight-put.refused-is-filled",
    kills="flight-put.refused-is-not-invented",
    also={"flight-put.refused-is-not-stored": "the rows that nobody sent are rows"},
)
class RefusedIsFilled(FlightService):
    """A table with a body that is too short is stored with other bytes behind it, and the call ends in an error."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        filled = [*came[:1], *map(_filled, came[1:])]
        if any(len(one) > len(other) for one, other in zip(filled, came, strict=True)):
            super().keep(key, filled)
            self.refuse(StatusCode.INVALID_ARGUMENT, "a body is too short")
        super().keep(key, came)


@mutant("flight-exchange.damage-ends-it", kills="flight-exchange.damaged-is-whole-or-refused")
class DamageEndsTheExchange(FlightService):
    """An exchange ends in OK at a message that cannot be read."""

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        came = list(requests)
        for at, message in enumerate(came):
            found = read_data(message)
            if found is not None and (found.header or found.body):
                came = [*came[:at], *_readable(self, came[at:])]
                break
        yield from super().do_exchange(iter(came))
