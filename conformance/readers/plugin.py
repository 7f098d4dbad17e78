"""What readers know of a protocol: what in an exchange they can read as a whole, and the rows that are in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

import pyarrow as pa

from conformance.contract.view import View
from conformance.protocol import plugin, takes_part
from conformance.readers.fullread import FullRead
from conformance.records import Case, Exchange

__all__ = ["ReadersPlugin", "held_tables", "reads_of"]


class FindsReads(Protocol):
    """Finds everything in an exchange that a reader can read from its beginning to its end."""

    def __call__(self, case: Case, exchange: Exchange, view: View | None = None, /) -> list[FullRead]:
        """The full reads in the order of their calls; ``view`` is the exchange as clauses see it, if that is made."""


@dataclasses.dataclass(frozen=True, slots=True)
class ReadersPlugin:
    """A protocol for readers: ``reads`` finds what they can read, and ``held`` the rows that the bytes of each hold.

    ``held`` is given the view of the protocol. ``methods`` are the bare names of its methods by the full ones, as gRPC
    spells them.
    """

    LAYER: ClassVar[str] = "readers"

    reads: FindsReads
    held: Callable[[Any], Mapping[str, pa.Table]]
    methods: Mapping[str, str]


def reads_of(case: Case, exchange: Exchange, view: View | None = None) -> list[FullRead]:
    """Everything in an exchange of any protocol that a reader can read from its beginning to its end."""
    if not takes_part(ReadersPlugin, exchange.protocol):
        return []
    return plugin(ReadersPlugin, exchange.protocol).reads(case, exchange, view)


def held_tables(view: View) -> Mapping[str, pa.Table]:
    """The rows in the bytes of each full read, by the label of its readings.

    A full read with a batch that cannot be decoded is left out: the clauses on framing and structure give the
    reason, and the correct result of a reader is unknown.
    """
    if not takes_part(ReadersPlugin, view.exchange.protocol):
        return {}
    return plugin(ReadersPlugin, view.exchange.protocol).held(view)
