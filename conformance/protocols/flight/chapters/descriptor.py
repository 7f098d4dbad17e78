"""The descriptors that a server sends: of which kind they are, and that their fields belong to it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.matching import match_rows
from conformance.contract.sources import Inferred
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.decoding import Meaning, in_words, meaning_of, message_of
from conformance.protocols.flight.contract.sources import FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import PutTable, about, look_alike, without_dictionaries
from conformance.protocols.flight.contract.view import FlightView, InfoSeen
from conformance.protocols.flight.records import FlightMethod
from conformance.records import Level

_clause = functools.partial(clause, source=FLIGHT_PROTO, profiles=FLIGHT, role=Role.APPLICATION, level=Level.SHOULD)

_PATH, _CMD = 1, 2
_KINDS: Final = {_PATH: "PATH", _CMD: "CMD"}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Named:
    """A descriptor in an answer."""

    call: int
    response: int
    field: str
    meaning: Meaning


def _is_echo(seen: InfoSeen) -> bool:
    """True if the descriptor is the one of the request: what it says was the client's choice."""
    asked = None
    if seen.of.raw.method in (FlightMethod.GET_FLIGHT_INFO, FlightMethod.POLL_FLIGHT_INFO):
        asked = message_of("FlightDescriptor", seen.of.raw.request)
    return asked is not None and meaning_of(asked) == seen.info.descriptor


@about
def _named(view: FlightView) -> list[_Named]:
    found = [
        _Named(seen.call, seen.response, "flight_descriptor", seen.info.descriptor)
        for seen in view.infos
        if seen.info.descriptor is not None and not _is_echo(seen)
    ]
    for call in view.flight_calls:
        for at, poll in enumerate(call.polls if call.ok else ()):
            later = None if poll is None or poll.descriptor is None else message_of("FlightDescriptor", poll.descriptor)
            if later is not None:
                found.append(_Named(call.index, at, "PollInfo.flight_descriptor", meaning_of(later)))
    return found


@_clause("flight-descriptor.has-a-kind", over=_named, breaks="clients that send the descriptor back")
def has_a_kind(named: _Named) -> Iterator[Violation]:
    """A descriptor is a PATH or a CMD.

    Flight.proto, on UNKNOWN: "Protobuf pattern, not used."
    """
    if named.meaning[0] not in _KINDS:
        yield Violation("PATH or CMD", f"the type {named.meaning[0]}", named.field)


@_clause("flight-descriptor.fields-are-of-the-kind", over=_named, breaks="clients that look at one of both fields")
def fields_are_of_the_kind(named: _Named) -> Iterator[Violation]:
    """A PATH has no command, and a CMD has no path.

    Flight.proto: "Should only be defined when type = CMD", and "Should only be defined when type = PATH".
    """
    kind, command, path = named.meaning
    if (kind == _PATH and command) or (kind == _CMD and path):
        yield Violation(f"the fields of a {_KINDS[kind]}", in_words(named.meaning), named.field)


@clause(
    "flight-descriptor.paths-are-apart",
    over=look_alike,
    source=Inferred(FLIGHT_PROTO),
    level=Level.SHOULD,
    breaks="every client of two flights with such names: it gets the rows of the other one",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def paths_are_apart(one: PutTable) -> Iterator[Violation]:
    """Two paths are two flights: ``["a", "b"]`` is not ``["a/b"]``, and ``["a", ""]`` is not ``["a"]``.

    Flight.proto, ``path``: "List of strings identifying a particular dataset." It is no MUST, because the text calls
    a path "conceptually similar to a path inside a filesystem", where the elements may be joined.
    """
    assert one.rows is not None, "the selector leaves out what cannot be read"
    every = without_dictionaries(one.put.view.table)  # the rows of both paths
    others = len(match_rows(one.table, one.rows).foreign) - len(match_rows(every, one.rows).foreign)
    if others > 0:
        wanted = f"the {many(one.table.num_rows, 'row')} that were put under this path"
        yield Violation(wanted, f"{many(others, 'row')} that were put under the other path", call=one.seen.call)
