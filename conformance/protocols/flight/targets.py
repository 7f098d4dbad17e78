"""Servers of Arrow Flight as targets."""

from typing import Any, Final

from conformance.records import RecordError
from conformance.targets.flightspec import FlightSpec, check_flight
from conformance.targets.plugin import TargetsPlugin
from conformance.targets.spec import Limits, Seed, TargetSpec


def _driver(*given: Any, **named: Any) -> Any:
    from conformance.targets.flight import FlightTarget  # noqa: PLC0415  # who reads a target file needs no gRPC

    return FlightTarget(*given, **named)


def _message_limit(limits: Limits) -> int:
    return limits.flight_message


def _check(spec: TargetSpec) -> None:
    """Refuse what ``[flight]`` cannot mean, and the tables that are about BigQuery."""
    check_flight(spec.flight or FlightSpec(), spec.here)
    for name, given in (("seed", spec.seed != Seed()), ("service", spec.service is not None)):
        if given:
            raise RecordError(f"target.{name}", "no such table: [flight] says how data comes in", f"[{name}]")
    rest = spec.ready.rest_path or spec.ready.rest_event or (spec.endpoint.rest if spec.endpoint is not None else "")
    if rest and spec.clock is None:
        raise RecordError("target", "no address of REST without [clock]: a flight server has no other use of it", rest)


PLUGIN: Final = TargetsPlugin(driver=_driver, hosted=_driver, message_limit=_message_limit, check=_check)
