"""Where a Flight server is: the URIs of the specification, and the addresses under which gRPC connects to them.

Source: https://arrow.apache.org/docs/format/Flight.html#location-uris.
"""

from __future__ import annotations

import dataclasses
import urllib.parse
from typing import Final

from conformance.contract.flight.decoding import Endpoint as FlightEndpoint
from conformance.records import RecordError
from conformance.targets.endpoint import Endpoint, Tls

__all__ = ["REUSED", "ServerPlace", "addressed", "place_at", "place_of", "places_of"]

REUSED: Final = frozenset({"", "arrow-flight-reuse-connection://?"})
"""The URIs of the connection on which the info came. The empty one means the same
(https://github.com/apache/arrow/blob/main/format/Flight.proto, ``FlightEndpoint.location``).
"""
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


def place_of(endpoint: FlightEndpoint, at: ServerPlace) -> ServerPlace | None:
    """The place where the driver redeems a ticket of a server at ``at``; None if it can try none.

    The connection that there is comes first. The suite follows no location to another machine. TLS to another address
    is spoken with the certificates of the target file, so that there have to be some.
    """
    if not endpoint.locations or not REUSED.isdisjoint(endpoint.locations):
        return at
    near = places_of(endpoint, at)
    return at if at in near else next(iter(near), None)


def places_of(endpoint: FlightEndpoint, at: ServerPlace) -> list[ServerPlace]:
    """Every place that the driver can try of those that an endpoint names, each once and in their order."""
    found = [place for uri in endpoint.locations if (place := place_at(uri)) is not None]
    near = (one for one in found if one == at or (one.local and at.local and (at.tls or not one.tls)))
    return list(dict.fromkeys(near))
