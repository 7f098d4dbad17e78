"""The request messages of a DoExchange, as bytes: the descriptor first, then metadata alone, then the case's table."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import pyarrow as pa

from conformance.protocols.flight.contract import encoding
from conformance.protocols.flight.records import DoExchange
from conformance.protocols.flight.targets.pieces import pieces_of
from conformance.records import Case

__all__ = ["exchange_of"]


def exchange_of(case: Case, table: pa.Table, step: DoExchange, of: bytes) -> Iterator[tuple[bytes, bool]]:
    """The messages of a step under the descriptor ``of``, each with whether it has rows.

    The ``app_metadata`` of each message is another one.
    """
    yield encoding.data(of=of), False
    for number in range(step.alone):
        yield encoding.data(metadata=b"alone %d" % number), False
    numbers = itertools.count()
    for piece in pieces_of(case, table, damage=step.damage, at=step.at) if step.rows else ():
        metadata = b"batch %d" % next(numbers) if step.metadata and piece.rows else None
        yield dataclasses.replace(piece, metadata=metadata).message, piece.rows
