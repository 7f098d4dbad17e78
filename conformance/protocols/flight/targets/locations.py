"""Where a Flight server is: the URIs of the specification, and the addresses under which gRPC connects to them.

Source: https://arrow.apache.org/docs/format/Flight.html#location-uris.
"""

from __future__ import annotations

import dataclasses
import urllib.parse
from typing import Final

from conformance._globs import matches
from conformance.protocols.flight.contract.decoding import DecodedEndpoint as FlightEndpoint
from conformance.records import RecordError
from conformance.targets.endpoint import Endpoint, Tls

__all__ = ["MOST_LOCATIONS", "REUSED", "ServerPlace", "Trust", "addressed", "place_at", "place_of", "places_of"]

REUSED: Final = frozenset({"", "arrow-flight-reuse-connection://?"})
"""The URIs of the connection on which the info came. The empty one means the same
(https://github.com/apache/arrow/blob/main/format/Flight.proto, ``FlightEndpoint.location``).
"""
MOST_LOCATIONS: Final = 100
"""The locations of one endpoint that the driver looks at: it connects to each that it may try."""
_PLAIN: Final = frozenset({"grpc", "grpc+tcp"})
_TLS: Final = "grpc+tls"
_SOCKET: Final = "grpc+unix"
_SCHEMES: Final = (*sorted(_PLAIN), _TLS, _SOCKET)
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104  # where a server says it is


@dataclasses.dataclass(frozen=True, slots=True)
class ServerPlace:
    """An address as gRPC writes it, ``host:port`` or ``unix:PATH``, and whether it is spoken to over TLS."""

    address: str
    tls: bool = False

    @property
    def host(self) -> str:
        """The host; empty for a socket in the file system."""
        return "" if self.address.startswith("unix:") else self.address.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> str:
        """The port; empty for a socket in the file system."""
        return "" if self.address.startswith("unix:") else self.address.rpartition(":")[2]

    @property
    def uri(self) -> str:
        """The place as a URI, in one form only: what ``[flight] locations`` is compared with."""
        if self.address.startswith("unix:"):
            return f"{_SOCKET}://{self.address.removeprefix('unix:')}"
        return f"{_TLS if self.tls else 'grpc'}://{self.address}"

    @property
    def local(self) -> bool:
        """True on this machine."""
        return not self.host or self.host in _LOCAL


def place_at(uri: str) -> ServerPlace | None:
    """The place of a Flight URI; None for one that names none, or that gRPC does not speak."""
    try:
        parts = urllib.parse.urlsplit(uri)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme == _SOCKET:
        path = urllib.parse.unquote(parts.path)
        return ServerPlace(f"unix:{path}") if path and not parts.netloc else None
    if parts.scheme not in (*_PLAIN, _TLS) or not parts.hostname or not port:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return ServerPlace(f"{host}:{port}", parts.scheme == _TLS)


def addressed(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose ``grpc`` may be a URI, with the address that gRPC connects to.

    ``grpc+tls`` without ``[endpoint.tls]`` trusts the authorities of the system.

    Raises:
        RecordError: the URI names no such server, or contradicts ``[endpoint.tls]``; one sentence.
    """
    scheme, colon, rest = endpoint.grpc.partition(":")
    if not (colon and ("//" in rest[:2] or scheme in _SCHEMES)):
        return endpoint
    place = place_at(endpoint.grpc)
    if place is None:
        raise RecordError("target.endpoint.grpc", f"host:port, or a URI of {', '.join(_SCHEMES)}", endpoint.grpc)
    if endpoint.tls is not None and not place.tls:
        raise RecordError("target.endpoint.grpc", f"{_TLS} where there is an [endpoint.tls]", endpoint.grpc)
    return dataclasses.replace(endpoint, grpc=place.address, tls=(endpoint.tls or Tls()) if place.tls else None)


@dataclasses.dataclass(frozen=True, slots=True)
class Trust:
    """Which places a server may send a client to: ``named`` are globs of URIs, those of the target file.

    ``bearing`` says that the client has headers, a token or a cookie: these go to no place that is not named.
    """

    named: tuple[str, ...] = ()
    bearing: bool = False

    def permits(self, place: ServerPlace, at: ServerPlace) -> bool:
        """True if a client of the server at ``at`` may speak to ``place``.

        The suite follows no location to another machine. A program at another port, or at a socket, need not be the
        server's. TLS to another address is spoken with the certificates of the target file, and what began over TLS
        does not go on without.
        """
        if not (place.local and at.local) or place.tls != at.tls:
            return False
        return matches(place.uri, self.named) or bool(place.port and not self.bearing)


def place_of(endpoint: FlightEndpoint, at: ServerPlace, trust: Trust) -> ServerPlace | None:
    """The place where the driver redeems a ticket of a server at ``at``; None if it may try none.

    The connection that there is comes first.
    """
    if not endpoint.locations or not REUSED.isdisjoint(endpoint.locations):
        return at
    near = places_of(endpoint, at, trust)
    return at if at in near else next(iter(near), None)


def places_of(endpoint: FlightEndpoint, at: ServerPlace, trust: Trust) -> list[ServerPlace]:
    """Every place that the driver may try of the first that an endpoint names, each once and in their order."""
    named = dict.fromkeys(endpoint.locations[:MOST_LOCATIONS])
    found = [_same(place, at) for uri in named if (place := place_at(uri)) is not None]
    return list(dict.fromkeys(one for one in found if one == at or trust.permits(one, at)))


def _same(place: ServerPlace, at: ServerPlace) -> ServerPlace:
    """``at`` for another name of this machine with the same port: what listens there is the server itself."""
    same = place.local and at.local and (place.port, place.tls) == (at.port, at.tls)
    return at if same and place.port else place
