"""The methods whose calls a proxy records: those of all protocols."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.protocol import plugin, plugins
from conformance.recording.plugin import RecordingPlugin
from conformance.records import ProtocolName

__all__ = ["NAMES", "RECORDED", "stream_of"]

RECORDED: Final[Mapping[str, tuple[ProtocolName, str]]] = MappingProxyType(
    {
        full: (protocol, name)
        for protocol in ProtocolName
        for full, name in plugin(RecordingPlugin, protocol).methods.items()
    }
)
"""The protocol and the bare name of each method, by its name as gRPC spells it."""

NAMES: Final = tuple(name for _, name in RECORDED.values())
"""The bare names of the methods; no two protocols have one of the same name."""


def stream_of(method: str, request: bytes) -> str:
    """The name of the stream that a request of a method, by its bare name, asks for; empty if it names none or is no
    such message.
    """
    asked = (one for one in plugins(RecordingPlugin).values() if method in one.methods.values())
    return next((one.stream_of(method, request) for one in asked), "")
