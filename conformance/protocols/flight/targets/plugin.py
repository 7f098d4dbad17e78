"""Servers of Arrow Flight as targets."""

import dataclasses
from typing import Any, Final

from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec, check_flight
from conformance.protocols.flight.targets.locations import addressed
from conformance.records import RecordError
from conformance.targets.plugin import Placeholder, Scheme, TargetsPlugin
from conformance.targets.spec import Limits, Seed, TargetSpec


def _driver(*given: Any, **named: Any) -> Any:
    from conformance.protocols.flight.targets.driver import FlightTarget  # noqa: PLC0415  # who reads a target file needs no gRPC

    return FlightTarget(*given, **named)


def _message_limit(limits: Limits) -> int:
    """The bytes of one message. Nothing limits them, and larger ones would go beyond the limit of their call, unless
    its table has more than a MiB.
    """
    return min(limits.message, limits.of_call(1 << 20))


def _scenario(spec: TargetSpec) -> str:
    return FlightSpec.of(spec).scenario or ""


def _check(spec: TargetSpec) -> None:
    """Refuse what ``[flight]`` cannot mean, and the tables that are about BigQuery."""
    check_flight(FlightSpec.of(spec), spec.here)
    for name, given in (("seed", spec.seed != Seed()), ("service", spec.service is not None)):
        if given:
            raise RecordError(f"target.{name}", "no such table: [flight] says how data comes in", f"[{name}]")
    rest = spec.ready.rest_path or spec.ready.rest_event or (spec.endpoint.rest if spec.endpoint is not None else "")
    if rest and spec.clock is None:
        raise RecordError("target", "no address of REST without [clock]: a flight server has no other use of it", rest)


def _by_url(spec: TargetSpec, seeding: str | None) -> TargetSpec:
    """The server, which is written to only if the URL says so."""
    ways = [one.value for one in FlightSeeding if one is not FlightSeeding.KNOWN]
    if seeding is not None and seeding not in ways:
        raise ValueError(f"?seeding= with {' or '.join(ways)}")
    return dataclasses.replace(spec, own=FlightSpec(FlightSeeding(seeding or FlightSeeding.NONE)))


PLUGIN: Final = TargetsPlugin(
    driver=_driver,
    message_limit=_message_limit,
    check=_check,
    addressed=addressed,
    placeholders={
        "scenario": Placeholder("the scenario of Arrow's integration tests that the server is started for", _scenario)
    },
    # Flight knows "grpc" as well (https://arrow.apache.org/docs/format/Flight.html#location-uris), but to everybody
    # else it is gRPC without TLS: in a URL it means Storage Read.
    schemes={
        "flight": Scheme("Arrow Flight"),
        "grpc+tcp": Scheme("Arrow Flight"),
        "grpc+tls": Scheme("Arrow Flight over TLS", tls=True),
        "grpc+unix": Scheme("Arrow Flight at a socket", socket=True),
    },
    url_option="seeding",
    url_options="?seeding=put or ?seeding=sql",
    by_url=_by_url,
)
