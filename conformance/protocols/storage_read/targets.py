"""Servers of the Storage Read API as targets."""

from typing import Any, Final

from conformance.records import RecordError
from conformance.targets.plugin import TargetsPlugin
from conformance.targets.spec import Limits, TargetSpec


def _driver(*given: Any, **named: Any) -> Any:
    from conformance.targets.server import ServerTarget  # noqa: PLC0415  # who reads a target file needs no gRPC

    return ServerTarget(*given, **named)


def _hosted(*given: Any, **named: Any) -> Any:
    from conformance.targets.hosted import HostedTarget  # noqa: PLC0415  # as above

    return HostedTarget(*given, **named)


def _message_limit(limits: Limits) -> int:
    return limits.message


def _check(spec: TargetSpec) -> None:
    """Refuse the table that is about another protocol."""
    if spec.flight is not None:
        raise RecordError("target.flight", f"no such table: a {spec.kind} serves no flights", "[flight]")


PLUGIN: Final = TargetsPlugin(driver=_driver, hosted=_hosted, message_limit=_message_limit, check=_check)
