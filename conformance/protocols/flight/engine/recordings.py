"""What is said on Arrow Flight: which calls are about one flight, and the steps that they carry out.

A DoGet belongs to the latest info that gave its ticket, and a poll to the one whose descriptor it repeats. Somebody may
write in between: then the flight may be another one, and the two are not compared. :mod:`.conversed` asks this for the
calls that a proxy recorded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.protocols.flight.contract.decoding import (
    Info,
    action_of,
    in_words,
    meaning_of,
    message_of,
    read_endpoint,
    read_info,
    read_poll,
)
from conformance.protocols.flight.contract.subjects import LARGE
from conformance.protocols.flight.engine import logins, sqlfeatures, sqlrecordings
from conformance.protocols.flight.engine.writes import Writes
from conformance.protocols.flight.records import DoAction, FlightMethod, SendMessages
from conformance.protocols.flight.wire.messages import CANCEL, RENEW
from conformance.records import Call, CallEnd, Expect, Step

__all__ = ["CLAUSES", "driven", "groups"]

_ON_CALLS: Final[Mapping[str, tuple[str, ...]]] = {
    "actions": ("cancel-says-what-happened", "renewed-is-an-endpoint", "results-decode"),
    "data": (
        "body-has-a-header",
        "body-is-as-long-as-declared",
        "header-without-prefix",
        "is-an-arrow-stream",
        "is-an-arrow-stream-as-advised",
        "no-descriptor-from-the-server",
        "order-stays",
        "read-again-is-the-same",
        "schema-comes-first",
    ),
    "descriptor": ("fields-are-of-the-kind", "has-a-kind"),
    "errors": ("code-of-the-table", "message-says-something"),
    "exchange": ("is-an-arrow-stream", "no-descriptor-from-the-server", "schema-comes-first"),
    "expiry": ("is-a-time", "is-not-over", "renewed-is-not-earlier"),
    "info": (
        "descriptor-is-the-one-asked-for",
        "endpoints-have-tickets",
        "schema-ends",
        "schema-is-a-message",
        "schema-is-that-of-the-stream",
        "total-records",
        "totals-from-minus-one",
    ),
    "location": ("is-a-uri", "reuse-has-one-form", "says-where"),
    "poll": ("ended-has-an-info", "endpoints-are-appended", "progress-from-0-to-1"),
    "service": ("actions-have-names", "answers-decode", "one-answer"),
    "session": ("close-says-what-happened", "errors-are-of-the-request", "errors-say-why", "options-have-values"),
}

CLAUSES: Final = (
    frozenset(f"flight-{chapter}.{name}" for chapter, names in _ON_CALLS.items() for name in names)
    | logins.CLAUSES
    | sqlrecordings.CLAUSES
    | sqlfeatures.CLAUSES
)
"""The clauses on calls of Flight that requests and answers alone decide."""

_WRITING: Final = frozenset({FlightMethod.DO_PUT, FlightMethod.DO_EXCHANGE, FlightMethod.DO_ACTION})
"""The methods that may change what is served."""
_ASKING: Final = frozenset({FlightMethod.GET_FLIGHT_INFO, FlightMethod.POLL_FLIGHT_INFO})
_LARGE: Final = 4 << 20
"""The size from which on a gRPC library may refuse a message by its defaults, in bytes."""


def groups(calls: Sequence[Call]) -> Iterator[tuple[str, str]]:
    """The name of what each call is about, empty if it is about nothing that another call is about, and its words.

    It is the number of the call that began a flight, or of the one that began a session or gave a handle.
    """
    found = list(_by_flight(calls))
    began = {**sqlrecordings.begun_by(calls), **logins.sessions(calls)}
    began |= {number: number for number in began.values()}
    keys = [key for key, _ in found]
    joined: dict[str, str] = {}
    for number, first in began.items():
        # The reads of a prepared query go along with it.
        joined[keys[number]] = f"begun {first}"
        keys[number] = f"begun {first}"
    for handshake, first in logins.logins(calls).items():
        keys[handshake] = keys[first] = keys[first] or f"login {handshake}"
    for number, said in sqlfeatures.told_by(calls).items():
        keys[said] = _end_of(joined, keys[said])
        before = _end_of(joined, keys[number])
        if before and before != keys[said]:
            joined[before] = keys[said]
        keys[number] = keys[said]
    return ((_end_of(joined, key), words) for key, (_, words) in zip(keys, found, strict=True))


def _end_of(joined: Mapping[str, str], key: str) -> str:
    """The name of the exchange that the calls of ``key`` are in, after groups were joined."""
    while key and key in joined:
        key = joined[key]
    return key


def _by_flight(calls: Sequence[Call]) -> Iterator[tuple[str, str]]:
    """The number of the call that began the flight of each call, empty if it is about none, and its call in words."""
    writes = Writes(call for call in calls if call.method in _WRITING)
    tickets: dict[bytes, tuple[str, float]] = {}
    polled: dict[bytes, str] = {}
    shared: set[bytes] = set()  # descriptors that two queries were given: they say of neither that it goes on
    for number, call in enumerate(calls):
        key, words = "", f"a {call.method} call"
        if call.method in _ASKING:
            asked = message_of("FlightDescriptor", call.request)
            words = f"{call.method} of {in_words(meaning_of(asked))}" if asked is not None else words
            # A descriptor that is asked for twice may have an earlier answer, which is not compared with later ones.
            before = polled.pop(call.request, "") if call.method == FlightMethod.POLL_FLIGHT_INFO else ""
            key = before if before and call.request not in shared else str(number)
            later = _later(call)
            if later is not None and polled.setdefault(later, key) != key:
                shared.add(later)
        elif call.method == FlightMethod.LIST_FLIGHTS:
            key = str(number)
        else:
            held = next((tickets[one] for one in _redeemed(call) if one in tickets), None)
            if held is not None and (call.method != FlightMethod.DO_GET or not writes.between(held[1], call)):
                key = held[0]
        tickets.update(dict.fromkeys(_given(call), (key, call.started)))
        yield key, words


def driven(calls: Sequence[Call]) -> tuple[tuple[Step, ...], tuple[Call, ...]]:
    """The steps that the calls of one flight carry out, and the calls with the index of their step.

    The polls of a query are one step. Any other call but an action, a login and a call of Flight SQL is one that sends
    what was sent: what the clauses here judge depends on no more.
    """
    steps: list[Step] = []
    made: list[Call] = []
    given: set[bytes] = set()
    polls: int | None = None
    for call in calls:
        step = len(steps) if call.method != FlightMethod.POLL_FLIGHT_INFO or polls is None else polls
        if call.method == FlightMethod.POLL_FLIGHT_INFO:
            polls = step
        if step == len(steps):
            steps.append(_step(call, given, calls[: len(made)], calls[len(made) + 1 :]))
        made.append(dataclasses.replace(call, step=step, label=sqlrecordings.action_type(call) or call.label))
        given.update(_given(call))
    return tuple(steps), tuple(made)


def _step(call: Call, given: set[bytes], before: Sequence[Call], later: Sequence[Call]) -> Step:
    """The step that ``call`` carries out; ``given`` are the tickets that earlier answers gave."""
    large = any(len(data) >= _LARGE for data in call.requests)
    expect = Expect((call.status or "OK",), LARGE if large else "")
    known = sqlrecordings.sql_step(call, expect, before) or logins.login_step(call, later, expect)
    if known is not None:
        return known
    action = action_of(call)
    if action is None:
        return SendMessages(FlightMethod(call.method), call.requests, expect=expect)
    gave = any(ticket in given for ticket in _redeemed(call))
    return DoAction(action.text("type"), bytes(action.data("body")), info="i" if gave else "", expect=expect)


def _redeemed(call: Call) -> tuple[bytes, ...]:
    """The tickets in a request: that of a DoGet, and those of what is cancelled or renewed."""
    if call.method == FlightMethod.DO_GET:
        asked = message_of("Ticket", call.request)
        return () if asked is None else (bytes(asked.data("ticket")),)
    action = action_of(call)
    name = "" if action is None else action.text("type")
    if action is None or name not in (CANCEL, RENEW):
        return ()
    body = bytes(action.data("body"))
    request = message_of(f"{name}Request", body)
    held = None if request is None else request.last("info" if name == CANCEL else "endpoint")
    if held is None:
        return ()
    data = body[held.value_start : held.end]
    if name == CANCEL:
        return tuple(_tickets(read_info(data)))
    endpoint = read_endpoint(data)
    return () if endpoint is None or endpoint.ticket is None else (endpoint.ticket,)


def _given(call: Call) -> Iterator[bytes]:
    """The tickets of the infos in an answer that ended in OK."""
    if call.status != "OK" or call.end is not CallEnd.COMPLETE:
        return
    for data in call.responses:
        match call.method:
            case FlightMethod.GET_FLIGHT_INFO | FlightMethod.LIST_FLIGHTS:
                yield from _tickets(read_info(data))
            case FlightMethod.POLL_FLIGHT_INFO:
                poll = read_poll(data)
                yield from _tickets(None if poll is None else poll.info)


def _tickets(info: Info | None) -> Iterator[bytes]:
    return (one.ticket for one in (() if info is None else info.endpoints) if one.ticket is not None)


def _later(call: Call) -> bytes | None:
    """The descriptor of the next poll, as the answer gave it."""
    if call.method != FlightMethod.POLL_FLIGHT_INFO or call.status != "OK" or not call.responses:
        return None
    poll = read_poll(call.responses[0])
    return None if poll is None else poll.descriptor
