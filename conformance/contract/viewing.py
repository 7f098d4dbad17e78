"""The view of an exchange, by its protocol."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from conformance.contract.clause import FLIGHT, PROFILES
from conformance.contract.flight.view import FlightView
from conformance.contract.view import View
from conformance.records import Case, Exchange, ProtocolName, Reading

__all__ = ["profile_of", "view_of"]


def view_of(case: Case, exchange: Exchange, table: pa.Table, readings: Iterable[Reading] = ()) -> View:
    """The exchange as the clauses of its protocol see it."""
    kind = FlightView if exchange.protocol is ProtocolName.FLIGHT else View
    return kind(case, exchange, table, readings)


def profile_of(protocol: ProtocolName) -> str:
    """The profile whose clauses judge exchanges of a protocol."""
    return FLIGHT[0] if protocol is ProtocolName.FLIGHT else PROFILES[0]
