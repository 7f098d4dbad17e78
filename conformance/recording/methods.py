"""The methods whose calls a proxy records: those of Storage Read and those of Arrow Flight RPC."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.contract import proto
from conformance.records import ProtocolName
from conformance.wire import flight

__all__ = ["NAMES", "RECORDED"]

RECORDED: Final[Mapping[str, tuple[ProtocolName, str]]] = MappingProxyType(
    {
        **{proto.SERVICE + name: (ProtocolName.STORAGE_READ, name) for name in proto.REQUESTS},
        **{flight.SERVICE + name: (ProtocolName.FLIGHT, name) for name in flight.METHODS},
    }
)
"""The protocol and the bare name of each method, by its name as gRPC spells it."""

NAMES: Final = tuple(name for _, name in RECORDED.values())
"""The bare names of the methods."""
