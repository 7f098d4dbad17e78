"""Mutants of the Flight reference as situations: the answers of a server with one defect, to clients that read from it.

Which mutants are put before clients is a rule, and no list. A mutant takes part if what it answers to a client that
lists, asks, gets, puts and exchanges one table differs from what the reference answers; :data:`PROBES` are the tables,
and the first that shows a difference counts. For each clause the first mutant that was made for it takes part, and is
put to the paths that call a method whose answer differs. A mutant whose process ends takes no part.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from conformance.contract.clientjudging import Situation
from conformance.protocols.flight.clients.answers import METHODS
from conformance.protocols.flight.clients.script import EndOfCall, Reply, Script
from conformance.protocols.flight.clients.situations import FlightSet
from conformance.protocols.flight.clients.streams import NAME, encoded, table
from conformance.protocols.flight.contract.decoding import message_of, read_info, read_poll
from conformance.protocols.flight.contract.encoding import data, descriptor, part
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.deviations import flight_service, speaks_sql
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.store import Batch, Flight, Store
from conformance.reference.register import Mutant
from conformance.reference.statuses import Refusal

__all__ = ["PROBES", "FlightMutated", "flight_mutated"]

MOST: Final = 1000
"""The most messages of a call: some mutants never end."""
POLLS: Final = 5
"""The most polls of a query."""
_DESCRIPTOR: Final = descriptor(Descriptor(path=(NAME,)))
_EPOCH: Final = 1_700_000_000.0
"""The time at each server, so that times are the same in every run."""


def _with_dictionary() -> pa.Table:
    plain = table()
    return plain.set_column(1, "word", plain["word"].dictionary_encode().unify_dictionaries())


PROBES: Final = (table(), _with_dictionary(), table().slice(0, 0))
"""The tables that a server has."""


@dataclasses.dataclass(frozen=True, slots=True)
class FlightMutated:
    """A mutant's situation: ``clause`` is the first that it kills, ``fault`` says what it does wrong."""

    mutant: str
    clause: str
    fault: str
    asked: FlightSet


def flight_mutated(mutants: Iterable[Mutant]) -> Iterator[FlightMutated]:
    """The situation of each mutant that a client sees."""
    clauses: set[str] = set()
    for mutant in mutants:
        if mutant.kills[0] in clauses or mutant.process:
            continue
        asked = _seen(mutant)
        if asked is not None:
            clauses.add(mutant.kills[0])
            yield FlightMutated(mutant.name, mutant.kills[0], mutant.fault, asked)


def _seen(mutant: Mutant) -> FlightSet | None:
    """The situation of a mutant; None if no client sees it."""
    for number, _ in enumerate(PROBES):
        reference, rows = _reference(number, sql=speaks_sql(mutant.name))
        script = _recorded(flight_service(mutant.name), PROBES[number])
        methods = tuple(name for name in reference.replies if reference.replies[name] != script.replies.get(name))
        if reference.tickets != script.tickets and "DoGet" not in methods:
            methods += ("DoGet",)
        if methods:
            what = f"the server has one defect: {mutant.fault}"
            infos = [read_info(one) for one in script.replies["GetFlightInfo"].messages]
            if any(info is not None and len(info.endpoints) > 1 for info in infos):
                # The data of one ticket is a part of the table.
                rows = {asks: expected for asks, expected in rows.items() if METHODS[asks] != ("DoGet",)}
            return FlightSet(f"mutant.{mutant.name}", Situation.MUTATED, what, script, methods, rows)
    return None


@functools.cache
def _reference(number: int, *, sql: bool) -> tuple[Script, Mapping[str, pa.Table]]:
    """What the reference answers, and the rows that a client gives for it, by what its path asks for."""
    script = _recorded(flight_service() if sql else FlightService, PROBES[number])
    batches = PROBES[number].to_batches()
    plain = _as_read(PROBES[number])
    metadata = pa.table({"app_metadata": pa.array([b"batch %d" % at for at, _ in enumerate(batches)], pa.binary())})
    infos = [read_info(one) for one in script.replies["ListFlights"].messages]
    paths = ["/".join(one.descriptor[2]) for one in infos if one is not None and one.descriptor is not None]
    types = [_field("ActionType", "type", one).decode() for one in script.replies["ListActions"].messages]
    results = [_field("PutResult", "app_metadata", one) for one in script.replies["DoPut"].messages]
    rows = {
        **dict.fromkeys(("rows", "flight", "poll"), plain),
        "metadata": metadata,
        "exchange": pa.table({"number": [1, 2, 3]}),
        "put": pa.table({"app_metadata": pa.array(results, pa.binary())}),
        "flights": pa.table({"path": pa.array(paths, pa.string())}),
        "actions": pa.table({"type": pa.array(types, pa.string())}),
        "schema": pa.table({"name": plain.column_names}),
    }
    assert rows.keys() <= METHODS.keys()
    return script, MappingProxyType(rows)


def _as_read(held: pa.Table) -> pa.Table:
    """The table with the values of dictionaries in place."""
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in held.schema.types]
    return held.cast(pa.schema(list(zip(held.column_names, kinds, strict=True))))


def _field(kind: str, name: str, message: bytes) -> bytes:
    found = message_of(kind, message)
    assert found is not None, "the reference writes protobuf"
    return found.text(name).encode() if name == "type" else bytes(found.data(name))


def _recorded(service: type[FlightService], held: pa.Table) -> Script:
    """What a service answers that has this table."""
    store = Store(lambda: _EPOCH)
    batches = tuple(Batch(rows, b"batch %d" % at) for at, rows in enumerate(held.to_batches()))
    store.put(Flight(_DESCRIPTOR, held.schema, batches))
    server = service(store)
    sent = _upload()
    replies = {
        "GetFlightInfo": _reply(server, "GetFlightInfo", _DESCRIPTOR),
        "PollFlightInfo": _polled(server),
        "GetSchema": _reply(server, "GetSchema", _DESCRIPTOR),
        "ListFlights": _reply(server, "ListFlights", b""),
        "ListActions": _reply(server, "ListActions", b""),
    }
    tickets = {one: _reply(server, "DoGet", part(1, one)) for one in _tickets(replies)}
    replies["DoGet"] = next(
        iter(tickets.values()), Reply(end=EndOfCall(code="NOT_FOUND", details="there is no ticket"))
    )
    replies["DoExchange"] = _reply(server, "DoExchange", *sent)
    replies["DoPut"] = _reply(server, "DoPut", *sent)  # last, because it puts another table in place
    return Script(replies, MappingProxyType(tickets))


def _upload() -> Sequence[bytes]:
    """What clients send: a batch of three numbers."""
    schema, batch = encoded([pa.record_batch([pa.array([1, 2, 3])], names=["number"])])
    return data(schema.header, of=_DESCRIPTOR), data(batch.header, batch.body, metadata=b"upload")


def _polled(server: FlightService) -> Reply:
    """The last answer about a query."""
    asked, reply = _DESCRIPTOR, Reply()
    for _ in range(POLLS):
        reply = _reply(server, "PollFlightInfo", asked)
        found = read_poll(reply.messages[0]) if reply.messages else None
        if found is None or found.descriptor is None:
            break
        asked = found.descriptor
    return reply


def _tickets(replies: Mapping[str, Reply]) -> Iterator[bytes]:
    """Every ticket that the infos give."""
    for one in replies["GetFlightInfo"].messages:
        found = read_info(one)
        yield from (each.ticket for each in (found.endpoints if found is not None else ()) if each.ticket is not None)
    for one in replies["PollFlightInfo"].messages:
        poll = read_poll(one)
        info = poll.info if poll is not None else None
        yield from (each.ticket for each in (info.endpoints if info is not None else ()) if each.ticket is not None)


def _reply(server: FlightService, method: str, *requests: bytes) -> Reply:
    """The messages of a call, and its end."""
    service, found = server.for_call(method, {}), list[bytes]()
    try:
        found.extend(itertools.islice(service.methods[method](iter(requests)), MOST))
    except Refusal as refusal:
        return Reply(
            tuple(found), EndOfCall("status", refusal.code.name, refusal.details, refusal.trailers, len(found))
        )
    except Exception as error:  # noqa: BLE001  # what gRPC makes of an error in a handler
        return Reply(
            tuple(found), EndOfCall("status", "UNKNOWN", f"Exception iterating responses: {error}", (), len(found))
        )
    trailers = (*(service.reply if not found else ()), *service.trailers)
    return Reply(tuple(found), EndOfCall(trailers=trailers, after=len(found)))
