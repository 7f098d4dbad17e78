"""What targets know of a protocol: how its servers are driven, and what a target file may say of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from conformance.targets.endpoint import Endpoint
from conformance.targets.spec import Limits, TargetSpec

__all__ = ["Placeholder", "Scheme", "TargetsPlugin"]


@dataclasses.dataclass(frozen=True, slots=True)
class Scheme:
    """The scheme of a URL that leads to a server: its ``title`` in words.

    With ``tls``, the server is spoken to over TLS, with the authorities of the system. Of a ``socket``, the URL has the
    path and no host.
    """

    title: str
    tls: bool = False
    socket: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Placeholder:
    """A name in braces in the command of a server: ``about`` says what it is replaced by, ``value`` gives that."""

    about: str
    value: Callable[[TargetSpec], str]


def _nothing_to_check(_spec: TargetSpec) -> None:
    return


def _message_limit(limits: Limits) -> int:
    return limits.message


def _address(endpoint: Endpoint) -> Endpoint:
    return endpoint


def _as_it_is(spec: TargetSpec, _option: str | None) -> TargetSpec:
    return spec


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TargetsPlugin:
    """A protocol of servers as targets.

    ``driver`` makes the driver of a server from its target file, the environment that was found, and what is named
    ``multiplier`` and ``starter`` by the drivers of servers; ``hosted`` makes that of a server in this process, if
    that is another one, which can do more. Both import what they need when they are called: a command that reads a
    target file and starts nothing loads no gRPC. ``message_limit`` is the largest message that the driver accepts, in
    bytes. ``check`` raises a RecordError if a file says of a server of this protocol what nothing would read.
    ``addressed`` gives an endpoint whose address may be a URI of the protocol as gRPC connects to it, and raises a
    RecordError. ``placeholders`` are those of commands of these servers, beside those of all.

    ``schemes`` are those of the URLs of running servers. Behind the address, such a URL may have the option of the name
    ``url_option``, for example ``?rest=http://HOST:PORT``, as ``url_options`` shows it in errors. ``by_url`` gives the
    target of a URL what the value of the option says, None without it; it raises a ValueError that says in words what
    was expected.
    """

    LAYER: ClassVar[str] = "targets"

    driver: Callable[..., Any]
    hosted: Callable[..., Any] | None = None
    message_limit: Callable[[Limits], int] = _message_limit
    check: Callable[[TargetSpec], None] = _nothing_to_check
    addressed: Callable[[Endpoint], Endpoint] = _address
    placeholders: Mapping[str, Placeholder] = dataclasses.field(default_factory=dict)
    schemes: Mapping[str, Scheme] = dataclasses.field(default_factory=dict)
    url_option: str = ""
    url_options: str = ""
    by_url: Callable[[TargetSpec, str | None], TargetSpec] = _as_it_is
