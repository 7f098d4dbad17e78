"""The answers of methods other than DoGet and DoExchange: the kinds in which they can differ, and what clients get.

Each list has three entries, each info one or three endpoints, each in the plainest form. The rows that a client has to
give are known for each kind whose meaning the texts fix.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.clientjudging import Situation
from conformance.protocols.flight.clients import streams
from conformance.protocols.flight.clients.streams import NAME, table
from conformance.protocols.flight.contract.encoding import descriptor, number, part, text
from conformance.protocols.flight.records import Descriptor

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
    # statuscodes.md lists the code that a gRPC library "may" give for it; the message that is due has come.
    "twice": AnswerKind(
        "two messages where one is due",
        _OPEN,
        lambda messages: [*messages, *messages],
        only=("GetFlightInfo", "PollFlightInfo", "GetSchema"),
    ),
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


def _schema_bytes(kind: str, header: bytes = b"") -> bytes:
    """The schema of an answer of this kind; ``header`` is that of the data, if it is not the table's."""
    plain_header = header or streams.made(streams.STREAMS["plain"], 0)[0].header
    whole = _encapsulated(plain_header, legacy=kind == "legacy-schema")
    forms = {
        "schema-without-prefix": plain_header,
        "schema-cut": whole[: len(whole) // 2],
        "schema-cut-in-info": whole[: len(whole) // 2],
        "schema-missing-in-info": b"",
    }
    return forms.get(kind, whole)


def _encapsulated(header: bytes, *, legacy: bool = False) -> bytes:
    """A message without a body as it is in a stream, padded to eight bytes."""
    prefix = 4 if legacy else 8
    size = len(header) + -(prefix + len(header)) % 8
    return (b"" if legacy else b"\xff" * 4) + size.to_bytes(4, "little") + header.ljust(size, b"\0")


def info(endpoints: int, location: str, kind: str = "plain", header: bytes = b"") -> bytes:
    """A FlightInfo whose endpoints have the batches of the table."""
    uris = LOCATIONS[location][1]
    made = [
        part(1, part(1, ticket(at))) + b"".join(part(2, text(1, uri) if uri else b"") for uri in uris)
        for at in range(endpoints)
    ]
    schema = _schema_bytes(kind, header)
    return b"".join(
        (
            part(1, schema) if schema else b"",
            part(2, descriptor(Descriptor(path=(NAME,)))),
            *(part(3, one) for one in made),
            number(4, table().num_rows),
            number(5, -1),
        )
    )


def plain(
    method: str, kind: str = "plain", *, endpoints: int = 1, location: str = "none", header: bytes = b""
) -> Messages:
    """The messages of a method's plain answer; ``header`` is that of the data's schema, if it is not the table's."""
    if method == "GetFlightInfo":
        return [info(endpoints, location, kind, header)]
    if method == "PollFlightInfo":
        return [part(1, info(endpoints, location, kind, header))]
    if method == "ListFlights":
        return [_listed(descriptor(Descriptor(path=(NAME, str(at))))) for at in range(ENTRIES)]
    made = {
        "GetSchema": [part(1, _schema_bytes(kind))],
        "Handshake": [part(2, b"token")],
        "ListActions": [text(1, f"action {at}") + text(2, "does it") for at in range(ENTRIES)],
    }
    return made.get(method, [part(1, b"result %d" % at) for at in range(ENTRIES)])


def _listed(named: bytes) -> bytes:
    return part(1, _schema_bytes("plain")) + part(2, named) + number(4, 7) + number(5, -1)


def expected_of(asks: str) -> pa.Table:
    """The rows that a path gives for plain answers, by what it asks for; the data and its metadata are the streams'."""
    results = [b"result %d" % at for at in range(ENTRIES)]
    made = {
        "put": {"app_metadata": results},
        "action": {"body": results},
        "flights": {"path": [f"{NAME}/{at}" for at in range(ENTRIES)]},
        "actions": {"type": [f"action {at}" for at in range(ENTRIES)]},
        "schema": {"name": table().column_names},
        "handshake": {"token": [b"token"]},
    }
    return pa.table(made[asks]) if asks in made else table()
