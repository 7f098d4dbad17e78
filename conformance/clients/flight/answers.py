"""The answers of methods other than DoGet and DoExchange: the kinds in which they can differ, and what clients get.

Each list has three entries, each info one or three endpoints, each in the plainest form. The rows that a client has to
give are known for each kind whose meaning the texts fix.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.clients.flight.streams import NAME, encoded, table
from conformance.contract.clients import Situation
from conformance.contract.flight.encoding import descriptor, number, part, text
from conformance.records import Descriptor
from conformance.reference.ipc.options import WriterOptions
from conformance.reference.ipc.writer import stream_model

__all__ = ["ENTRIES", "LISTS", "LOCATIONS", "METHODS", "UNARY", "AnswerKind", "expected_of", "info", "ticket"]

ENTRIES: Final = 3
"""Entries of each list."""
Messages = Sequence[bytes]
_LEGAL, _OPEN, _BROKEN = Situation.HEALTHY, Situation.OPEN, Situation.BROKEN
_UNKNOWN: Final = number(77, 5) + part(78, b"x")


@dataclasses.dataclass(frozen=True, slots=True)
class AnswerKind:
    """A kind of answer: ``situation`` says what a client has to make of it, ``title`` continues *the answer has …*.

    ``rows`` says which rows remain of those of the plain answer: their places, or all. ``only`` are the methods that it
    is for.
    """

    title: str
    situation: Situation
    change: Callable[[Messages], Messages] = lambda messages: messages
    rows: Callable[[pa.Table], pa.Table] = lambda rows: rows
    only: tuple[str, ...] = ()


def _each(of: Callable[[bytes], bytes]) -> Callable[[Messages], Messages]:
    return lambda messages: [of(one) for one in messages]


def _none(rows: pa.Table) -> pa.Table:
    return rows.slice(0, 0)


def _with_empty(rows: pa.Table) -> pa.Table:
    return pa.concat_tables([rows, pa.table({name: [b""] for name in rows.column_names}, schema=rows.schema)])


LISTS: Final[Mapping[str, AnswerKind]] = {
    "plain": AnswerKind("three entries", _LEGAL),
    "unknown-field": AnswerKind("entries with a field of a later version", _LEGAL, _each(lambda one: one + _UNKNOWN)),
    "field-twice": AnswerKind(
        "a field twice in each entry, the right one last",
        _LEGAL,
        _each(lambda one: part(1, b"first") + one),
        only=("DoAction", "DoPut", "ListActions"),
    ),
    "nothing": AnswerKind("no entry", _LEGAL, lambda _messages: [], _none),
    "many": AnswerKind(
        "three hundred entries",
        _LEGAL,
        lambda messages: [one for one in messages for _ in range(100)],
        lambda rows: rows.take([row for row in range(rows.num_rows) for _ in range(100)]),
    ),
    "empty-entry": AnswerKind(
        "an entry whose bytes are empty, the last one",
        _LEGAL,
        lambda messages: [*messages, part(1, b"")],
        _with_empty,
        only=("DoAction", "DoPut"),
    ),
    "empty-message": AnswerKind("an entry without a field", _OPEN, lambda messages: [*messages, b""], _with_empty),
    "undecodable": AnswerKind(
        "an entry that is no protobuf", _BROKEN, lambda messages: [*messages[:-1], messages[-1][:-2]]
    ),
}
"""Every kind of a list, which ListFlights, ListActions, DoAction and DoPut answer."""

UNARY: Final[Mapping[str, AnswerKind]] = {
    "plain": AnswerKind("one message", _LEGAL),
    "unknown-field": AnswerKind("a field of a later version", _LEGAL, _each(lambda one: one + _UNKNOWN)),
    "legacy-schema": AnswerKind("a schema with the prefix of format 0.14", _LEGAL, only=("GetSchema", "GetFlightInfo")),
    "schema-without-prefix": AnswerKind("a schema without its prefix", _OPEN, only=("GetSchema", "GetFlightInfo")),
    "schema-cut-in-info": AnswerKind("half of a schema", _OPEN, only=("GetFlightInfo", "PollFlightInfo")),
    "schema-cut": AnswerKind("half of a schema", _BROKEN, only=("GetSchema",)),
    "schema-missing": AnswerKind("no schema", _BROKEN, _each(lambda _one: b""), only=("GetSchema",)),
    "schema-missing-in-info": AnswerKind("no schema", _OPEN, only=("GetFlightInfo", "PollFlightInfo")),
    "nothing": AnswerKind("no message, and ends in OK", _BROKEN, lambda _messages: []),
    "twice": AnswerKind("two messages where one is due", _BROKEN, lambda messages: [*messages, *messages]),
    "undecodable": AnswerKind("a message that is no protobuf", _BROKEN, _each(lambda one: one[:-2])),
}
"""Every kind of a single answer, which GetFlightInfo, PollFlightInfo, GetSchema and Handshake give."""

LOCATIONS: Final[Mapping[str, tuple[Situation, tuple[str, ...]]]] = {
    "none": (_LEGAL, ()),
    "reuse": (_LEGAL, ("arrow-flight-reuse-connection://?",)),
    "empty": (_LEGAL, ("",)),
    "dead-and-reuse": (_OPEN, ("grpc+tcp://127.0.0.1:1", "arrow-flight-reuse-connection://?")),
    "unknown-and-reuse": (_OPEN, ("later-scheme://x", "arrow-flight-reuse-connection://?")),
    "dead": (_BROKEN, ("grpc+tcp://127.0.0.1:1",)),
}
"""The locations of each endpoint, by what they are; Flight names both forms of the connection in use."""

METHODS: Final = {
    "rows": ("DoGet",),
    "metadata": ("DoGet",),
    "flight": ("GetFlightInfo", "DoGet"),
    "poll": ("PollFlightInfo", "DoGet"),
    "exchange": ("DoExchange",),
    "exchange-metadata": ("DoExchange",),
    "put": ("DoPut",),
    "action": ("DoAction",),
    "flights": ("ListFlights",),
    "actions": ("ListActions",),
    "schema": ("GetSchema",),
    "handshake": ("Handshake",),
}
"""The methods that a path calls, by what it asks for."""


def ticket(at: int) -> bytes:
    """The ticket of an endpoint: opaque bytes that are no text."""
    return b"\xff\x00ticket %d" % at


def _schema_bytes(kind: str) -> bytes:
    options = WriterOptions(end="close", legacy=kind == "legacy-schema")
    whole = stream_model([], options, schema=table().schema).messages[0].encode()
    match kind:
        case "schema-without-prefix":
            return encoded(table().to_batches())[0].header
        case "schema-cut" | "schema-cut-in-info":
            return whole[: len(whole) // 2]
        case "schema-missing-in-info":
            return b""
    return whole


def info(endpoints: int, location: str, kind: str = "plain") -> bytes:
    """A FlightInfo whose endpoints have the batches of the table."""
    uris = LOCATIONS[location][1]
    made = [
        part(1, part(1, ticket(at))) + b"".join(part(2, text(1, uri) if uri else b"") for uri in uris)
        for at in range(endpoints)
    ]
    schema = _schema_bytes(kind)
    return b"".join(
        (
            part(1, schema) if schema else b"",
            part(2, descriptor(Descriptor(path=(NAME,)))),
            *(part(3, one) for one in made),
            number(4, table().num_rows),
            number(5, -1),
        )
    )


def plain(method: str, kind: str = "plain", *, endpoints: int = 1, location: str = "none") -> Messages:
    """The messages of a method's plain answer."""
    match method:
        case "GetFlightInfo":
            return [info(endpoints, location, kind)]
        case "PollFlightInfo":
            return [part(1, info(endpoints, location, kind))]
        case "GetSchema":
            return [part(1, _schema_bytes(kind))]
        case "Handshake":
            return [part(2, b"token")]
        case "ListFlights":
            paths = ((NAME, str(at)) for at in range(ENTRIES))
            return [
                part(1, _schema_bytes("plain")) + part(2, descriptor(Descriptor(path=path))) + number(4, 7) + number(5, -1)
                for path in paths
            ]
        case "ListActions":
            return [text(1, f"action {at}") + text(2, "does it") for at in range(ENTRIES)]
    return [part(1, b"result %d" % at) for at in range(ENTRIES)]


def expected_of(asks: str) -> pa.Table:
    """The rows that a path gives for plain answers, by what it asks for; the data and its metadata are the streams'."""
    places = range(ENTRIES)
    match asks:
        case "put":
            return pa.table({"app_metadata": [b"result %d" % at for at in places]})
        case "action":
            return pa.table({"body": [b"result %d" % at for at in places]})
        case "flights":
            return pa.table({"path": [f"{NAME}/{at}" for at in places]})
        case "actions":
            return pa.table({"type": [f"action {at}" for at in places]})
        case "schema":
            return pa.table({"name": table().column_names})
        case "handshake":
            return pa.table({"token": [b"token"]})
    return table()
