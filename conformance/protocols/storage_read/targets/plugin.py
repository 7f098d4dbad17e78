"""Servers of the Storage Read API as targets."""

import dataclasses
import urllib.parse
from typing import Any, Final

from conformance.targets.plugin import Scheme, TargetsPlugin
from conformance.targets.spec import TargetSpec


def _driver(*given: Any, **named: Any) -> Any:
    from conformance.protocols.storage_read.targets.driver import ServerTarget  # noqa: PLC0415  # who reads a target file needs no gRPC

    return ServerTarget(*given, **named)


def _hosted(*given: Any, **named: Any) -> Any:
    from conformance.protocols.storage_read.targets.hosted import HostedTarget  # noqa: PLC0415  # as above

    return HostedTarget(*given, **named)


def _by_url(spec: TargetSpec, rest: str | None) -> TargetSpec:
    """The server with the address of REST, over which tables are made."""
    if rest is None or spec.endpoint is None:
        return spec
    try:
        parts = urllib.parse.urlsplit(rest)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("?rest=http://HOST:PORT or ?rest=https://HOST:PORT")
    return dataclasses.replace(spec, endpoint=dataclasses.replace(spec.endpoint, rest=rest.rstrip("/")))


PLUGIN: Final = TargetsPlugin(
    driver=_driver,
    hosted=_hosted,
    schemes={"grpc": Scheme("Storage Read"), "grpcs": Scheme("Storage Read over TLS", tls=True)},
    url_option="rest",
    url_options="?rest=http://HOST:PORT",
    by_url=_by_url,
)
