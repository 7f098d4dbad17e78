"""The locations of endpoints: that a client can read each URI, and knows how to reach it."""

from __future__ import annotations

import dataclasses
import functools
import urllib.parse
from collections.abc import Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.matching import match_rows
from conformance.contract.sources import Inferred
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.decoding import AT
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import about, columns_differ, without_dictionaries
from conformance.protocols.flight.contract.view import FlightView, GetView
from conformance.records import Level

_clause = functools.partial(
    clause, source=(FLIGHT_PAGE, FLIGHT_PROTO), profiles=FLIGHT, role=Role.APPLICATION, level=Level.SHOULD
)

REUSE: Final = "arrow-flight-reuse-connection://?"
_WITH_PORT: Final = frozenset({"grpc", "grpc+tcp", "grpc+tls"})
_WITH_HOST: Final = frozenset({"http", "https"})


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Located:
    """A location of an endpoint; ``field`` says which. ``parts`` is its URI in parts; None if it cannot be read."""

    call: int
    response: int
    field: str
    uri: str
    parts: urllib.parse.SplitResult | None


@about
def _places(view: FlightView) -> list[_Located]:
    """Return every location but the empty one, which means the connection of the info."""
    return [
        _Located(seen.call, seen.response, f"endpoint[{at}].location[{number}].uri", uri, _parts(uri))
        for seen in view.infos
        for at, endpoint in enumerate(seen.info.endpoints)
        for number, uri in enumerate(endpoint.locations)
        if uri
    ]


def _parts(uri: str) -> urllib.parse.SplitResult | None:
    try:
        parts = urllib.parse.urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts


@_clause("flight-location.is-a-uri", over=_places, breaks="clients in every language: the URI cannot be parsed")
def is_a_uri(place: _Located) -> Iterator[Violation]:
    """A location is a URI with a scheme, or empty.

    Flight.proto, ``location``: "A list of URIs where this ticket can be redeemed via DoGet()." The page: "Clients and
    servers need to know which transport to use for a given URI in a Location".
    """
    if place.parts is None or not place.parts.scheme or place.uri.strip() != place.uri or "://" not in place.uri:
        yield Violation("a URI such as grpc://host:port", repr(place.uri), place.field)


@_clause(
    "flight-location.reuse-has-one-form",
    over=lambda view: [one for one in _places(view) if one.uri.startswith("arrow-flight-reuse-connection:")],
    breaks="clients that compare the URI as text",
)
def reuse_has_one_form(place: _Located) -> Iterator[Violation]:
    """The URI of a connection that is used again is ``arrow-flight-reuse-connection://?``.

    The page: "For compatibility reasons, the URI should always be arrow-flight-reuse-connection://?, with the trailing
    empty query string."
    """
    if place.uri != REUSE:
        yield Violation(REUSE, repr(place.uri), place.field)


@_clause("flight-location.says-where", over=_places, breaks="clients that connect there")
def says_where(place: _Located) -> Iterator[Violation]:
    """A URI of gRPC over TCP has a host and a port, one of a Unix socket a path, and one of HTTP a host.

    The page, on the schemes: "Clients and servers need to know which transport to use for a given URI in a Location".
    """
    parts = place.parts
    if parts is None:
        return
    if parts.scheme in _WITH_PORT and not (parts.hostname and parts.port):
        yield Violation("a host and a port", repr(place.uri), place.field)
    elif parts.scheme in _WITH_HOST and not parts.hostname:
        yield Violation("a host", repr(place.uri), place.field)
    elif parts.scheme == "grpc+unix" and not (parts.path or parts.netloc):
        yield Violation("the path of a socket", repr(place.uri), place.field)


_UNSPECIFIED: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104  # where a server says it is


@_clause(
    "flight-location.host-is-specified",
    over=lambda view: [one for one in _places(view) if one.parts is not None and one.parts.scheme in _WITH_PORT],
    source=(FLIGHT_PAGE, Inferred(FLIGHT_PROTO)),
    breaks="clients on another machine: the address leads to themselves",
)
def host_is_specified(place: _Located) -> Iterator[Violation]:
    """A host is not the unspecified address, which a server listens at and no client can go to.

    The page: a location is where "clients can retrieve" data. What 0.0.0.0 and :: mean as a destination is left to the
    machine of the client.
    """
    if place.parts is not None and place.parts.hostname in _UNSPECIFIED:
        yield Violation("a host that a client can reach", repr(place.uri), place.field)


@about
def _of_several(view: FlightView) -> list[GetView]:
    """Return the reads at places that the driver could try, of endpoints that name more than one."""
    found: list[GetView] = []
    for get in view.gets:
        endpoint = None if get.info is None else get.info.endpoint_of(get)
        if get.elsewhere and get.answered and endpoint is not None and len(endpoint.locations) > 1:
            found.append(get)
    return found


@_clause(
    "flight-location.each-is-reached",
    over=_of_several,
    source=FLIGHT_PROTO,
    breaks="every client that takes this location: the other ones are tried by few",
)
def each_is_reached(get: GetView) -> Iterator[Violation]:
    """A server listens at each location on this machine that an endpoint names.

    Flight.proto, ``location``: "the expectation is that the ticket can be redeemed at any of the locations". It is no
    MUST, because a place may be down for a while. An endpoint with one location is judged by the clauses on tickets.
    """
    if get.raw.status == "UNAVAILABLE":
        where = get.raw.label.partition(AT)[2]
        yield Violation(f"a Flight server at {where}", f"{get.raw.status}: {get.raw.details}")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _TwoPlaces:
    """The reads of one ticket at two places that its endpoint names."""

    one: GetView
    other: GetView
    response: None = None

    @property
    def call(self) -> int:
        """The index of the second read."""
        return self.other.index


@about
def _everywhere(view: FlightView) -> list[_TwoPlaces]:
    """Return the reads that one step makes of one ticket, each with the first of them, if they ended in OK.

    The data of a flight of the server's own may change meanwhile: that it did not shows when the first place gives the
    same once more.
    """
    first: dict[tuple[int, bytes], GetView] = {}
    found: list[_TwoPlaces] = []
    for get in view.gets:
        if get.ok and get.table is not None and get.ticket is not None:
            one = first.setdefault((get.raw.step, get.ticket), get)
            if one is not get and get.elsewhere and (get.info is None or not get.info.found or _stays(view, one, get)):
                found.append(_TwoPlaces(one, get))
    return found


def _stays(view: FlightView, one: GetView, other: GetView) -> bool:
    """True if a read after ``other`` gives the very bytes of ``one``, at the same place."""
    later = (get for get in view.gets if get.index > other.index and get.ok and get.raw.step != one.raw.step)
    return any(
        (get.raw.label, get.raw.request, get.raw.responses) == (one.raw.label, one.raw.request, one.raw.responses)
        for get in later
    )


@clause(
    "flight-location.places-are-equivalent",
    over=_everywhere,
    source=FLIGHT_PROTO,
    breaks="every client that takes the other location: it gets other rows, or fewer, without an error",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def places_are_equivalent(pair: _TwoPlaces) -> Iterator[Violation]:
    """A ticket gives the same rows at each location of its endpoint where it can be redeemed.

    Flight.proto, ``location``: "the expectation is that the ticket can be redeemed at any of the locations, and that
    the data returned will be equivalent." A place that refuses the ticket is not judged: tickets "are meant to be
    single use".
    """
    assert pair.one.table is not None
    assert pair.other.table is not None
    one, other = without_dictionaries(pair.one.table), without_dictionaries(pair.other.table)
    match = match_rows(one, other)
    if said := columns_differ(one.schema, other.schema):
        yield Violation("the columns of the other place", said)
    elif match.missing or match.repeated or match.foreign or match.changed:
        yield Violation(f"the {many(one.num_rows, 'row')} of the other place", f"{many(other.num_rows, 'row')}, others")
