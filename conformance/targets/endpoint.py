"""The content of ``[endpoint]`` in a target file: where a running server is, and what it asks of its clients.

This module decides which keys exist and which go together; it reads no certificate and asks for no token.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import re
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from conformance.records import RecordError

__all__ = ["Endpoint", "Tls", "Token", "check_endpoint", "is_secret_name"]

_ADDRESS: Final = re.compile(r"unix:[^\0]+|(?:[\w.-]+|\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]):(?P<port>[0-9]{1,5})")
_HEADER: Final = re.compile(r"[a-z0-9_.-]+")
"""A name that is valid both in gRPC metadata and in HTTP."""
_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_OWN: Final = frozenset({"host", "content-length", "content-type", "te", "user-agent", "accept", "accept-encoding"})
"""Headers that the suite sets itself; gRPC reserves ``grpc-`` besides."""
_SECRET: Final = re.compile(r"auth|token|secret|passw|credential|key|cookie|session", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True)
class Tls:
    """TLS on the gRPC address, and on the REST address if that is https.

    ``ca`` is a PEM file of trusted certificate authorities, by default those of the system. ``certificate`` and ``key``
    are the client's. ``server_name`` is the name that the server's certificate must have, by default that in the
    address. Paths are relative to the target file.
    """

    ca: str = ""
    certificate: str = ""
    key: str = ""
    server_name: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """The source of the bearer token of every request; exactly one of the first four is given.

    ``command`` prints it, ``file`` (relative to the target file) or the environment variable ``variable`` holds it, and
    ``google`` takes the application default credentials. After ``lifetime`` seconds the token is asked for again;
    application default credentials know their own expiry.
    """

    command: tuple[str, ...] = ()
    file: str = ""
    variable: str = ""
    google: bool = False
    lifetime: float = 1800.0


@dataclasses.dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that runs already, as ``host:port`` or ``unix:PATH``; ``rest`` is a base URL, empty without a REST API.

    ``headers`` are sent with every gRPC call and REST request. ``header_variables`` are further ones, each with the
    name of the environment variable that holds its value, which is a secret.
    """

    grpc: str
    rest: str = ""
    tls: Tls | None = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    header_variables: Mapping[str, str] = dataclasses.field(default_factory=dict)
    token: Token | None = None

    @property
    def names_credentials(self) -> bool:
        """True if the suite shows the server who asks."""
        shown = self.tls is not None and bool(self.tls.certificate)
        return bool(self.token or self.headers or self.header_variables or shown)


def is_secret_name(name: str) -> bool:
    """True if the value of a header of this name is likely a secret."""
    return _SECRET.search(name) is not None


def check_endpoint(endpoint: Endpoint, here: Path, *, longest: float) -> None:
    """Refuse keys that cannot go together; ``here`` is the directory of the target file.

    Raises:
        RecordError: one sentence on the first such key.
    """
    _check_address(endpoint.grpc)
    tls, token = endpoint.tls, endpoint.token
    secured = urllib.parse.urlsplit(endpoint.rest).scheme == "https"
    if tls is not None:
        _check_tls(tls, here)
    for place, names in (("headers", endpoint.headers), ("header_variables", endpoint.header_variables)):
        for name, value in names.items():
            check_header(f"target.endpoint.{place}", name, value, authorized=token is not None)
    if twice := sorted(set(endpoint.headers) & set(endpoint.header_variables)):
        raise RecordError("target.endpoint.header_variables", "other names than those of headers", twice)
    if token is not None:
        _check_token(token, here, longest)
        host = urllib.parse.urlsplit(endpoint.rest).hostname or ""
        if tls is None and not _is_local(endpoint.grpc.rpartition(":")[0].strip("[]")):
            raise RecordError("target.endpoint.tls", "[endpoint.tls] where a token leaves this machine", None)
        if endpoint.rest and not secured and not _is_local(host):
            raise RecordError("target.endpoint.rest", "https where a token leaves this machine", endpoint.rest)


def _check_address(address: str) -> None:
    found = _ADDRESS.fullmatch(address)
    if found is None or (found["port"] and not 0 < int(found["port"]) < 1 << 16):
        wanted = "host:port, such as localhost:9060 or [::1]:9060, or unix:PATH for a socket in the file system"
        raise RecordError("target.endpoint.grpc", wanted, address)


def _check_tls(tls: Tls, here: Path) -> None:
    if bool(tls.certificate) != bool(tls.key):
        given, missing = ("certificate", "key") if tls.certificate else ("key", "certificate")
        raise RecordError(f"target.endpoint.tls.{missing}", f"a PEM file, because there is a {given}", "")
    for name in ("ca", "certificate", "key"):
        if path := getattr(tls, name):
            _check_file(f"target.endpoint.tls.{name}", path, here)


def _check_token(token: Token, here: Path, longest: float) -> None:
    where = "target.endpoint.token"
    sources = [name for name in ("command", "file", "variable", "google") if getattr(token, name)]
    if len(sources) != 1:
        raise RecordError(where, "one of command, file, variable and google = true", sources)
    if not 1 <= token.lifetime <= longest:
        raise RecordError(f"{where}.lifetime", f"seconds from 1 to {longest:.15g}", token.lifetime)
    if any("\0" in word for word in token.command):
        raise RecordError(f"{where}.command", "words without NUL", token.command)
    if token.file:
        _check_file(f"{where}.file", token.file, here)


def _check_file(where: str, path: str, here: Path) -> None:
    try:
        found = (here / path).is_file()
    except ValueError:  # a NUL in the path
        found = False
    if not found:
        raise RecordError(where, "an existing file, relative to the target file", path)


def check_header(where: str, name: str, value: str, *, authorized: bool) -> None:
    """Refuse a header that HTTP or gRPC would refuse later, with its value in the message."""
    if not _HEADER.fullmatch(name) or name.endswith("-bin") or name.startswith("grpc-") or name in _OWN:
        wanted = "names in lower case of headers that neither gRPC nor the suite sets itself, and none in -bin"
        raise RecordError(where, wanted, name)
    if name == "authorization" and authorized:
        raise RecordError(where, "no authorization where there is an [endpoint.token]", name)
    if not _VALUE.fullmatch(value):
        raise RecordError(f"{where}.{name}", "printable ASCII without blanks around it", "another text")


def _is_local(host: str) -> bool:
    if host in ("localhost", "unix"):  # a socket in the file system is unix:PATH
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
