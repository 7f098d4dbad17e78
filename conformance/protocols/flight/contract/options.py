"""The options of sessions: what each client has set, cleared and closed, and what it reads then."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance.protocols.flight.contract.actions import Option, action_body, result_body
from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.subjects import about
from conformance.protocols.flight.contract.view import FlightCall, FlightView
from conformance.protocols.flight.records import DoAction
from conformance.protocols.flight.wire import messages as flight
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["OptionsRead", "errors_of", "option_reads", "options_of", "outlived"]

_CLOSED: Final = 1
_KINDS: Final = ("string_value", "bool_value", "int64_value", "double_value", "string_list_value")


def _option(value: ProtoMessage | None) -> Option | None:
    """The kind and the value of a SessionOptionValue; None if it has none."""
    if value is None:
        return None
    for kind in _KINDS:
        field = value.last(kind)
        if field is not None:
            held = field.value
            return Option(kind, tuple(held.texts("values")) if isinstance(held, ProtoMessage) else held)
    return None


def options_of(message: ProtoMessage | None) -> dict[str, Option | None] | None:
    """The options of a request or a result by name; None if there is no message."""
    if message is None:
        return None
    return {one.text("key"): _option(one.message("value")) for one in message.messages("session_options")}


def errors_of(call: FlightCall) -> dict[str, int] | None:
    """The errors of a SetSessionOptionsResult by name; None if the answer is none."""
    body = result_body(call)
    result = None if body is None else message_of("SetSessionOptionsResult", body)
    if result is None:
        return None
    found = ((one.text("key"), one.message("value")) for one in result.messages("errors"))
    return {name: 0 if error is None else error.number("value") for name, error in found}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class OptionsRead:
    """The options that a client reads, and what it has done to them before.

    ``theirs`` are those that it never set and that another client has set, in a session with a cookie of its own.
    """

    call: int
    options: Mapping[str, Option | None]
    set: Mapping[str, Option]
    cleared: frozenset[str]
    refused: Mapping[str, Option]
    closed: bool
    theirs: Mapping[str, Option]
    response: int = 0


class _Client:
    """The changes that a client has made to the options of its session so far."""

    def __init__(self) -> None:
        self.set: dict[str, Option] = {}
        self.cleared: set[str] = set()
        self.refused: dict[str, Option] = {}
        self.closed = False
        self.asked: set[tuple[str, Option | None]] = set()
        self.cookies: set[bytes] = set()

    def hears(self, call: FlightCall) -> None:
        """Take note of the cookies of an answer."""
        entries = (*call.raw.initial_metadata, *call.raw.trailers)
        self.cookies.update(entry.value for entry in entries if entry.key == "set-cookie")

    def is_apart_from(self, other: _Client) -> bool:
        """True if both clients got cookies, and none of them is that of the other: their sessions are two."""
        return other is not self and bool(self.cookies and other.cookies) and self.cookies.isdisjoint(other.cookies)

    def loses(self, names: Iterable[str]) -> None:
        """Take note that another client, perhaps of the same session, has changed these options."""
        for name in names:
            self.set.pop(name, None)
            self.cleared.discard(name)
            self.refused.pop(name, None)

    def sets(self, call: FlightCall) -> None:
        """Take note of SetSessionOptions; nothing is known of an option after a call that failed."""
        errors = errors_of(call) if call.ok else None
        for name, value in (options_of(message_of("SetSessionOptionsRequest", action_body(call))) or {}).items():
            self.asked.add((name, value))
            before = self.set.pop(name, None)
            self.cleared.discard(name)
            self.refused.pop(name, None)
            if errors is not None and name in errors:
                self.is_refused(name, before, value)
            elif errors is not None and value is None:
                self.cleared.add(name)
            elif errors is not None and value is not None:
                self.set[name] = value

    def is_refused(self, name: str, before: Option | None, value: Option | None) -> None:
        """Take note of an error: the option is as it was."""
        if before is not None:
            self.set[name] = before
        if value is not None and value != before:
            self.refused[name] = value

    def closes(self, call: FlightCall) -> None:
        """Take note of CloseSession."""
        body = result_body(call) if call.ok else None
        result = None if body is None else message_of("CloseSessionResult", body)
        self.closed = self.closed or (result is not None and result.number("status") == _CLOSED)

    def reads(self, call: FlightCall, others: Iterable[_Client]) -> OptionsRead | None:
        """The options that GetSessionOptions gave; None if nothing that can be read."""
        body = result_body(call) if call.ok else None
        options = None if body is None else options_of(message_of("GetSessionOptionsResult", body))
        if options is None:
            return None
        asked = {entry for other in others if other.is_apart_from(self) for entry in other.asked} - self.asked
        theirs = {name: value for name, value in options.items() if value is not None and (name, value) in asked}
        cleared, refused = frozenset(self.cleared), dict(self.refused)
        return OptionsRead(call.index, options, dict(self.set), cleared, refused, self.closed, theirs)


def _clients(view: FlightView) -> Iterator[tuple[FlightCall, _Client, Sequence[_Client]]]:
    """Yield each GetSessionOptions with its client, and all clients, as they are then.

    Where time passed, every session may have ended.
    """
    clients = defaultdict[str, _Client](_Client)
    ahead = 0
    for call in view.flight_calls:
        if call.ahead != ahead:
            clients.clear()
            ahead = call.ahead
        client = clients[call.client]
        client.hears(call)
        match call.step:
            case DoAction(type=flight.SET_OPTIONS):
                client.sets(call)
                changed = {name for name, _ in client.asked}
                for other in clients.values():
                    if other is not client and not other.is_apart_from(client):
                        other.loses(changed)
            case DoAction(type=flight.CLOSE_SESSION):
                client.closes(call)
                for other in clients.values():
                    if other is not client and not other.is_apart_from(client):
                        other.loses(list(other.set))
            case DoAction(type=flight.GET_OPTIONS):
                yield call, client, tuple(clients.values())


@about
def option_reads(view: FlightView) -> list[OptionsRead]:
    """Return what each GetSessionOptions gave that ended in OK and can be read."""
    found = (client.reads(call, every) for call, client, every in _clients(view))
    return [one for one in found if one is not None]


@about
def outlived(view: FlightView) -> list[FlightCall]:
    """Return each GetSessionOptions of a client with an open session, after another client closed one of its own."""
    return [
        call
        for call, client, every in _clients(view)
        if call.answered and client.set and not client.closed
        if any(other.closed and other.is_apart_from(client) for other in every)
    ]
