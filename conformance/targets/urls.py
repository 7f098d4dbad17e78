"""A target without a file: the URL of a server that runs already, such as ``grpc://localhost:9060``.

The scheme gives both the protocol and TLS. ``grpc+tcp``, ``grpc+tls`` and ``grpc+unix`` are the location schemes of
Arrow Flight, and nothing else uses them; ``flight`` is another name of the first. Flight knows ``grpc`` too, as another
name of ``grpc+tcp``, but to everybody else it is gRPC without TLS, and ``grpcs`` gRPC over TLS: here both are Storage
Read. Everything else that a target file says has its default, so credentials, certificates and known failures need a
file.

Source of Flight's schemes: https://arrow.apache.org/docs/format/Flight.html#location-uris.
"""

from __future__ import annotations

import re
import urllib.parse
from pathlib import Path
from typing import Final

from conformance.contain.text import safe
from conformance.targets.endpoint import Endpoint, Tls
from conformance.targets.errors import TargetError
from conformance.targets.flightplaces import ServerPlace, place_at
from conformance.targets.flightspec import FlightSeeding, FlightSpec
from conformance.targets.spec import TargetKind, TargetSpec

__all__ = ["SCHEMES", "is_url", "meant", "target_at"]

SCHEMES: Final = {
    "grpc": "Storage Read",
    "grpcs": "Storage Read over TLS",
    "flight": "Arrow Flight",
    "grpc+tcp": "Arrow Flight",
    "grpc+tls": "Arrow Flight over TLS",
    "grpc+unix": "Arrow Flight at a socket",
}
"""What each scheme means."""

_GRPC: Final = {"grpc": "grpc+tcp", "grpcs": "grpc+tls", "flight": "grpc+tcp"}
"""The schemes that are not Flight's own, each with the one of Flight that leads to the same address."""
_STORAGE_READ: Final = ("grpc", "grpcs")
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+|[0-9a-fA-F:.]+")
"""A name, or an address of IPv4 or IPv6."""
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PLAIN: Final = re.compile(r"[\x21-\x7e]+")
_USER: Final = re.compile(r"//[^/]*@")
_ADDRESS: Final = re.compile(r"[A-Za-z0-9._-]+:[0-9]{1,5}")
_SEEDINGS: Final = tuple(seeding.value for seeding in FlightSeeding if seeding is not FlightSeeding.KNOWN)
LONGEST: Final = 1000
"""The longest URL in characters."""


def is_url(given: str | Path) -> bool:
    """True if a user means a URL, and no file and no name; a path is none, because it has lost a slash."""
    return isinstance(given, str) and _URL.match(given) is not None


def meant(given: str) -> str:
    """What a user means who gives an address without a scheme; empty for any other name."""
    if not _ADDRESS.fullmatch(given):
        return ""
    return f"a running server is grpc://{given}, or grpc+tcp://{given} if it speaks Flight"


def target_at(url: str) -> TargetSpec:
    """The server that runs at ``url``, as a target whose ``file`` is the URL.

    Raises:
        TargetError: the URL names no such server; one sentence.
    """
    if len(url) > LONGEST:
        raise _refused(url, f"a URL of at most {LONGEST} characters")
    if not _PLAIN.fullmatch(url):  # the parser leaves out line ends
        raise _refused(url, "ASCII without blanks, other characters as %XX")
    try:
        parts = urllib.parse.urlsplit(url)
        pairs = urllib.parse.parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise _refused(url, "a URL such as grpc://localhost:9060") from None
    if parts.scheme not in SCHEMES:
        known = ", ".join(f"{scheme}:// ({meaning})" for scheme, meaning in SCHEMES.items())
        also = "; the address of REST goes behind that of gRPC, as ?rest=" if parts.scheme in ("http", "https") else ""
        raise _refused(url, f"one of {known}{also}")
    place = _place(url, parts)
    given, reads = dict(pairs), parts.scheme in _STORAGE_READ
    if len(pairs) > 1 or set(given) - {"rest" if reads else "seeding"}:
        wanted = "?rest=http://HOST:PORT" if reads else "?seeding=put or ?seeding=sql"
        raise _refused(url, f"{wanted}, once, and nothing else behind the address")
    endpoint = Endpoint(place.address, rest=_rest(url, given.get("rest")), tls=Tls() if place.tls else None)
    name = _name(place)
    if reads:
        return TargetSpec(name, TargetKind.SERVER, endpoint=endpoint, file=url)
    flight = FlightSpec(_seeding(url, given.get("seeding", FlightSeeding.NONE)))
    return TargetSpec(name, TargetKind.FLIGHT, endpoint=endpoint, flight=flight, file=url)


def _refused(url: str, wanted: str) -> TargetError:
    return TargetError(f"{safe(_USER.sub('//***@', url), 200)}: expected {wanted}")


def _place(url: str, parts: urllib.parse.SplitResult) -> ServerPlace:
    """The address in the URL, which names a host and a port, or a socket, and nobody's password."""
    if "@" in parts.netloc:
        raise _refused(url, "no user and no password in a URL, which is printed and stored: write a target file")
    place = place_at(parts._replace(scheme=_GRPC.get(parts.scheme, parts.scheme), query="", fragment="").geturl())
    socket = place is not None and not place.port
    if place is None or parts.fragment or not (socket or _HOST.fullmatch(place.host)):
        wanted = "grpc+unix:///PATH" if parts.scheme == "grpc+unix" else f"{parts.scheme}://HOST:PORT"
        raise _refused(url, wanted)
    if not socket and parts.path not in ("", "/"):
        raise _refused(url, f"no path behind {parts.scheme}://{parts.netloc}")
    return place


def _rest(url: str, rest: str | None) -> str:
    """The address of REST, empty if none is given."""
    if rest is None:
        return ""
    try:
        parts = urllib.parse.urlsplit(rest)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc or parts.query or parts.fragment:
        raise _refused(url, "?rest=http://HOST:PORT or ?rest=https://HOST:PORT")
    return rest.rstrip("/")


def _seeding(url: str, seeding: str) -> FlightSeeding:
    if seeding not in _SEEDINGS:
        raise _refused(url, f"?seeding= with {' or '.join(_SEEDINGS)}")
    return FlightSeeding(seeding)


def _name(place: ServerPlace) -> str:
    """The name of the target in reports and of its log: host and port, or the socket's file name.

    An address of IPv6 keeps its groups, and a zero for those left out at an end: ``[::1]:9060`` is
    ``ipv6-0--1-9060``, so that no other address has its name.
    """
    if ":" in place.host:
        groups = re.sub(r"^(?=:)|(?<=:)$", "0", place.host)
        return f"ipv6-{groups.replace(':', '-')}-{place.port}"
    words = [place.host, place.port] if place.port else [place.address.rpartition("/")[2]]
    plain = re.sub(r"[^a-z0-9.]+", "-", "-".join(words).lower())
    return plain.strip("-.")[-100:] or "socket"
