"""A target without a file: the URL of a server that runs already, such as ``grpc://localhost:9060``.

The scheme gives both the protocol and TLS; each protocol brings its schemes
(:class:`conformance.targets.plugin.TargetsPlugin`). Everything else that a target file says has its default, so
credentials, certificates and known failures need a file.
"""

from __future__ import annotations

import functools
import re
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from conformance.contain.secrets import masked_in_addresses
from conformance.contain.text import safe
from conformance.protocol import DEFAULT_PROTOCOL, merged, plugin, plugins
from conformance.targets.endpoint import Endpoint, Tls
from conformance.targets.plugin import Scheme, TargetsPlugin
from conformance.targets.spec import TargetSpec, kind_of
from conformance.targets.targeterrors import TargetError

__all__ = ["is_url", "meant", "schemes", "target_at"]

_HOST: Final = re.compile(r"[A-Za-z0-9._-]+|[0-9a-fA-F:.]+")
"""A name, or an address of IPv4 or IPv6."""
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PLAIN: Final = re.compile(r"[\x21-\x7e]+")
_ADDRESS: Final = re.compile(r"[A-Za-z0-9._-]+:[0-9]{1,5}")
LONGEST: Final = 1000
"""The longest URL in characters."""


def is_url(given: str | Path) -> bool:
    """True if a user means a URL, and no file and no name; a path is none, because it has lost a slash."""
    return isinstance(given, str) and _URL.match(given) is not None


def meant(given: str) -> str:
    """What a user means who gives an address without a scheme; empty for any other name."""
    if not _ADDRESS.fullmatch(given):
        return ""
    others = {name: next(iter(held.schemes.items())) for name, held in plugins(TargetsPlugin).items() if held.schemes}
    del others[DEFAULT_PROTOCOL]
    also = "".join(f", or {scheme}://{given} if it speaks {one.title}" for scheme, one in others.values())
    return f"a running server is grpc://{given}{also}"


@functools.cache
def schemes() -> Mapping[str, tuple[str, Scheme]]:
    """The protocol of each scheme, and the scheme itself.

    Raises:
        ValueError: two protocols have one scheme.
    """
    held = plugins(TargetsPlugin).items()
    return merged("scheme", {name: [(word, (name, one)) for word, one in each.schemes.items()] for name, each in held})


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
    if parts.scheme not in schemes():
        known = ", ".join(f"{scheme}:// ({one.title})" for scheme, (_, one) in schemes().items())
        also = "; the address of REST goes behind that of gRPC, as ?rest=" if parts.scheme in ("http", "https") else ""
        raise _refused(url, f"one of {known}{also}")
    protocol, scheme = schemes()[parts.scheme]
    held = plugin(TargetsPlugin, protocol)
    address = _address(url, parts, scheme)
    given = dict(pairs)
    if len(pairs) > 1 or set(given) - {held.url_option}:
        wanted = f"{held.url_options}, once, and nothing else" if held.url_options else "nothing"
        raise _refused(url, f"{wanted} behind the address")
    endpoint = Endpoint(address, tls=Tls() if scheme.tls else None)
    spec = TargetSpec(_name(address), kind_of(protocol), endpoint=endpoint, file=url)
    try:
        return held.by_url(spec, given.get(held.url_option))
    except ValueError as error:
        raise _refused(url, str(error)) from None


def _refused(url: str, wanted: str) -> TargetError:
    return TargetError(f"{safe(masked_in_addresses(url), 200)}: expected {wanted}")


def _address(url: str, parts: urllib.parse.SplitResult, scheme: Scheme) -> str:
    """The address in the URL as gRPC writes it: of a host and a port, or of a socket, and nobody's password."""
    if "@" in parts.netloc:
        raise _refused(url, "no user and no password in a URL, which is printed and stored: write a target file")
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    path = urllib.parse.unquote(parts.path)
    if scheme.socket:
        if parts.netloc or not path or parts.fragment:
            raise _refused(url, f"{parts.scheme}:///PATH")
        return f"unix:{path}"
    if not port or parts.fragment or not _HOST.fullmatch(host):
        raise _refused(url, f"{parts.scheme}://HOST:PORT")
    if parts.path not in ("", "/"):
        raise _refused(url, f"no path behind {parts.scheme}://{parts.netloc}")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _name(address: str) -> str:
    """The name of the target in reports and of its log: host and port, or the socket's file name.

    An address of IPv6 keeps its groups, and a zero for those left out at an end: ``[::1]:9060`` is
    ``ipv6-0--1-9060``, so that no other address has its name.
    """
    host, _, port = address.rpartition(":")
    if host.startswith("["):
        groups = re.sub(r"^(?=:)|(?<=:)$", "0", host.strip("[]"))
        return f"ipv6-{groups.replace(':', '-')}-{port}"
    word = address.rpartition("/")[2] if address.startswith("unix:") else f"{host}-{port}"
    plain = re.sub(r"[^a-z0-9.]+", "-", word.lower())
    return plain.strip("-.")[-100:] or "socket"
