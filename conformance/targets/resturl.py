"""The address of REST in the URL of a running server."""

from __future__ import annotations

import dataclasses
import urllib.parse
from typing import Final

from conformance.targets.spec import TargetSpec

__all__ = ["REST_OPTION", "REST_OPTIONS", "with_rest"]

REST_OPTION: Final = "rest"
"""The name of the option."""
REST_OPTIONS: Final = "?rest=http://HOST:PORT"
"""The option as errors show it."""


def with_rest(spec: TargetSpec, rest: str | None) -> TargetSpec:
    """The server with the address of REST, over which tables are made.

    Raises:
        ValueError: it is no such address; the text says in words what was expected.
    """
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
