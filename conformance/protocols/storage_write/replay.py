"""Recorded calls of the Storage Write API: a call is found by its method and the stream or table that it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.protocols.storage_write.contract.naming import stream_of
from conformance.protocols.storage_write.wire.messages import METHODS
from conformance.replay.inturn import in_turn


def _key(method: str, request: bytes) -> str:
    return f"{method} {stream_of(method, request)}"


def _facts(method: str, request: bytes) -> Mapping[str, Any]:
    return {"names": stream_of(method, request)}


PLUGIN: Final = in_turn(METHODS, _key, _facts, streamed=frozenset({"AppendRows"}))
