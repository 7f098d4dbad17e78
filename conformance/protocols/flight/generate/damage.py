"""Streams of FlightData whose messages are damaged, doubled, left out or out of place.

A stream is a list of pieces, and a damage changes it at one of its batches. The same damages are done to the streams
that clients read and to those that servers are sent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from conformance.protocols.flight.contract.encoding import HEADER, data, part
from conformance.protocols.flight.records import Damage

__all__ = ["DAMAGES", "Change", "Piece", "Pieces", "changed", "inserted", "place_of"]

_PREFIX: Final = b"\xff\xff\xff\xff"
"""The first half of the prefix that an encapsulated message has, and of the end marker of a stream."""


@dataclasses.dataclass(frozen=True, slots=True)
class Piece:
    """One FlightData; ``rows`` says that it is a batch. ``raw`` is sent in place of the fields."""

    header: bytes = b""
    body: bytes = b""
    metadata: bytes | None = None
    of: bytes | None = None
    raw: bytes | None = None
    rows: bool = False

    @property
    def message(self) -> bytes:
        """The message in bytes."""
        if self.raw is not None:
            return self.raw
        return data(self.header, self.body, of=self.of, metadata=self.metadata)


Pieces: TypeAlias = Sequence[Piece]
Change: TypeAlias = Callable[[Pieces, int], Pieces]
"""Changes a stream; the number says at which batch, from 0."""


def place_of(pieces: Pieces, at: int) -> int:
    """The place of a batch in a stream."""
    return [place for place, piece in enumerate(pieces) if piece.rows][at]


def changed(of: Callable[[Piece], Piece]) -> Change:
    """Change the batch at a place."""

    def change(pieces: Pieces, at: int) -> Pieces:
        place = place_of(pieces, at)
        return [of(piece) if number == place else piece for number, piece in enumerate(pieces)]

    return change


def inserted(*made: Piece) -> Change:
    """Put messages before the first batch, between two batches, or behind the last one."""

    def change(pieces: Pieces, at: int) -> Pieces:
        last = at == sum(piece.rows for piece in pieces) - 1
        place = len(pieces) if last else place_of(pieces, at)
        return [*pieces[:place], *made, *pieces[place:]]

    return change


def _with_body(of: Callable[[bytes], bytes]) -> Change:
    return changed(lambda one: dataclasses.replace(one, body=of(one.body)))


def _with_header(of: Callable[[bytes], bytes]) -> Change:
    return changed(lambda one: dataclasses.replace(one, header=of(one.header)))


def _raw(of: Callable[[Piece], bytes]) -> Change:
    return changed(lambda one: dataclasses.replace(one, raw=of(one)))


def _schema_again(pieces: Pieces, at: int) -> Pieces:
    return inserted(pieces[0])(pieces, at)


def _schema_behind(pieces: Pieces, at: int) -> Pieces:
    behind = place_of(pieces, at) + 1
    return [*pieces[1:behind], pieces[0], *pieces[behind:]]


def _body_behind(pieces: Pieces, at: int) -> Pieces:
    """The body of a batch comes in a message of its own."""
    place = place_of(pieces, at)
    batch = pieces[place]
    apart = [dataclasses.replace(batch, body=b""), Piece(body=batch.body)]
    return [*pieces[:place], *apart, *pieces[place + 1 :]]


DAMAGES: Final[Mapping[Damage, Change]] = {
    Damage.NONE: lambda pieces, _at: pieces,
    Damage.MESSAGE_EMPTY: inserted(Piece()),
    Damage.SCHEMA_AGAIN: _schema_again,
    Damage.SCHEMA_MISSING: lambda pieces, _at: pieces[1:],
    Damage.SCHEMA_LATE: _schema_behind,
    Damage.HEADER_TWICE: _raw(lambda one: part(HEADER, b"first") + one.message),
    Damage.HEADER_WITH_PREFIX: _with_header(lambda data: _PREFIX + len(data).to_bytes(4, "little") + data),
    Damage.HEADER_CUT: _with_header(lambda data: data[: len(data) // 2]),
    Damage.HEADER_NOISE: _with_header(lambda _: bytes(range(64))),
    Damage.END_MARKER: inserted(Piece(_PREFIX + bytes(4))),
    Damage.BODY_ALONE: inserted(Piece(body=bytes(64))),
    Damage.BODY_BEHIND: _body_behind,
    Damage.BODY_MISSING: _with_body(lambda _: b""),
    Damage.BODY_CUT: _with_body(lambda data: data[: len(data) // 2]),
    Damage.BODY_SHORT_BY_1: _with_body(lambda data: data[:-1]),
    Damage.BODY_SHORT_BY_8: _with_body(lambda data: data[:-8]),
    Damage.BODY_OF_8: _with_body(lambda data: data[:8]),
    Damage.BODY_LONGER: _with_body(lambda data: data + bytes(8)),
    Damage.NO_PROTOBUF: _raw(lambda one: part(HEADER, one.header)[:-4]),
}
"""What each damage changes; those that take a foreign message are made by who writes it."""
