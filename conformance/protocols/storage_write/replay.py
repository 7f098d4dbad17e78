"""Recorded calls of the Storage Write API: a call is found by its method and the stream or table that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.protocols.storage_write.contract.messages import METHODS
from conformance.protocols.storage_write.contract.naming import stream_of
from conformance.records import Call, Case, Exchange
from conformance.replay.inturn import CallsInTurn
from conformance.replay.plugin import ReplayPlugin

__all__ = ["key_of", "write_calls"]


def key_of(method: str, request: bytes) -> str:
    """The name by which a call finds its recording."""
    return f"{method} {stream_of(method, request)}"


def write_calls(calls: Iterable[Call]) -> CallsInTurn:
    """The calls of one recording that are calls of BigQueryWrite; a case also reads."""
    return CallsInTurn((call for call in calls if call.method in METHODS), key_of, _facts)


def _facts(method: str, request: bytes) -> Mapping[str, Any]:
    return {"names": stream_of(method, request)}


def _recorded(_case: Case, exchange: Exchange) -> CallsInTurn:
    return write_calls(exchange.calls)


def _described(_method: str, key: str) -> str:
    return key


PLUGIN: Final = ReplayPlugin(
    key=key_of,
    described=_described,
    facts=_facts,
    recorded=_recorded,
    together=write_calls,
    streamed=frozenset({"AppendRows"}),
)
