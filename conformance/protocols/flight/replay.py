"""Recorded calls of Arrow Flight, and what each call of a client is answered with: nothing that was not recorded.

A call is found by its method and by what its first message asks for: a descriptor, a ticket, an action or criteria,
whatever the order of fields. The first call that asks for something gets the first recorded answer, the second the
second, and each call after the last recorded one gets the last. It does no I/O.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.records import FlightMethod
from conformance.protocols.flight.wire.messages import METHODS
from conformance.readers.tape import Answer, NotRecordedError, RecordedEnding
from conformance.records import Call, CallEnd, Case, Exchange
from conformance.replay.plugin import ReplayPlugin
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["FlightTapes", "key_of", "wanted"]


_Words: TypeAlias = "dict[str, str | list[str]]"


def _descriptor(asked: ProtoMessage | None) -> _Words:
    if asked is None:
        return {}
    path: _Words = {"path": asked.texts("path")} if asked.has("path") else {}
    return path | ({"command": _text(asked, "cmd")} if asked.has("cmd") else {})


def _text(asked: ProtoMessage, field: str) -> str:
    """The bytes of a field as Python writes them: as text where they are ASCII."""
    return repr(bytes(asked.data(field)))[2:-1]


_IN_WORDS: Final[Mapping[str, Callable[[ProtoMessage], _Words]]] = MappingProxyType(
    {
        "FlightDescriptor": _descriptor,
        "FlightData": lambda asked: _descriptor(asked.message("flight_descriptor")),
        "Ticket": lambda asked: {"ticket": _text(asked, "ticket")},
        "Action": lambda asked: {"action": asked.text("type"), "body": _text(asked, "body")},
        "Criteria": lambda asked: {"criteria": _text(asked, "expression")},
    }
)
"""What the first message of a call asks for, by its type; the others ask for nothing."""


def wanted(method: str, request: bytes) -> _Words:
    """What the first message of a call asks for, in words; bytes that are no such message are given as they are."""
    kind = METHODS[method].request
    asked = message_of(kind, request)
    if asked is None:
        return {"bytes": request.hex()}
    return _IN_WORDS[kind](asked) if kind in _IN_WORDS else {}


def key_of(method: str, request: bytes) -> str:
    """The name by which a call finds its recording."""
    return ", ".join([method, *(f"{name} {value!r}" for name, value in wanted(method, request).items())])


class FlightTapes:
    """The calls of one recording in their order. Threads may share it: it counts the calls that were answered."""

    def __init__(self, calls: Iterable[Call] = ()) -> None:
        self._answers: dict[str, list[Call]] = {}
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()
        for call in calls:
            # What the client, its deadline or a lost connection ended is no answer.
            if call.method in METHODS and call.end is CallEnd.COMPLETE and call.status:
                self._answers.setdefault(key_of(call.method, call.request), []).append(call)

    def names(self) -> set[str]:
        """The names by which calls find this recording."""
        return set(self._answers)

    def answer(self, _method: str, key: str, _request: bytes) -> Answer:
        """The answer to the next call of this name; raises :class:`NotRecordedError`."""
        calls = self._answers.get(key)
        if calls is None:
            raise NotRecordedError(key)
        with self._lock:
            number = self._asked[key]
            self._asked[key] += 1
        call = calls[min(number, len(calls) - 1)]
        order = "".join(turn for turn, _ in call.turns)
        ending = RecordedEnding(call.status, call.details, call.trailers, call.initial_metadata, order, call.requests)
        return call.responses, ending

    def state(self) -> Mapping[str, Any]:
        """What it holds, as JSON."""
        calls = [
            {
                "method": calls[0].method,
                **wanted(calls[0].method, calls[0].request),
                "statuses": [c.status for c in calls],
            }
            for calls in self._answers.values()
        ]
        return {"calls": calls} if calls else {}

    @property
    def table(self) -> str:
        """No table: flights have other names."""
        return ""

    def described(self, project: str, dataset: str, table: str) -> None:  # of the interface
        """No table is described."""

    @property
    def queries(self) -> None:
        """No queries of REST."""

    def renamed(self, table: str, number: str) -> FlightTapes:  # noqa: ARG002  # of the interface
        """The same calls, which name no table."""
        return self


def _recorded(_case: Case, exchange: Exchange) -> FlightTapes:
    return FlightTapes(exchange.calls)


def _described(_method: str, key: str) -> str:
    return key


PLUGIN: Final = ReplayPlugin(
    key=key_of,
    described=_described,
    facts=wanted,
    recorded=_recorded,
    together=FlightTapes,
    streamed=frozenset({FlightMethod.HANDSHAKE, FlightMethod.DO_PUT, FlightMethod.DO_EXCHANGE}),
)
