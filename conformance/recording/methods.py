"""The methods whose calls a proxy records: those of all protocols."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from conformance.protocol import plugin, plugins
from conformance.readers.plugin import ReadersPlugin
from conformance.recording.plugin import RecordingPlugin

__all__ = ["method_names", "protocol_of", "recorded_methods", "stream_of"]


@functools.cache
def recorded_methods() -> Mapping[str, tuple[str, str]]:
    """The protocol and the bare name of each method, by its name as gRPC spells it."""
    return MappingProxyType(
        {
            full: (protocol, name)
            for protocol in plugins(RecordingPlugin)
            for full, name in plugin(ReadersPlugin, protocol).methods.items()
        }
    )


def method_names() -> tuple[str, ...]:
    """The bare names of the methods; no two protocols have one of the same name."""
    return tuple(name for _, name in recorded_methods().values())


@functools.cache
def _protocols() -> Mapping[str, str]:
    return MappingProxyType({name: protocol for protocol, name in recorded_methods().values()})


def protocol_of(method: str) -> str:
    """The protocol of a method by its bare name; raises KeyError if none has such a method."""
    return _protocols()[method]


def stream_of(method: str, request: bytes) -> str:
    """The name of the stream that a request of a method, by its bare name, asks for; empty if it names none or is no
    such message.
    """
    if method not in _protocols():
        return ""
    return plugin(RecordingPlugin, protocol_of(method)).stream_of(method, request)
