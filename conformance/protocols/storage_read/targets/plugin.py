"""Servers of the Storage Read API as targets."""

from typing import Any, Final

from conformance.targets.plugin import Scheme, TargetsPlugin
from conformance.targets.resturl import REST_OPTION, REST_OPTIONS, with_rest


def _driver(*given: Any, **named: Any) -> Any:
    from conformance.protocols.storage_read.targets.driver import ServerTarget  # noqa: PLC0415  # who reads a target file needs no gRPC

    return ServerTarget(*given, **named)


def _hosted(*given: Any, **named: Any) -> Any:
    from conformance.protocols.storage_read.targets.hosted import HostedTarget  # noqa: PLC0415  # as above

    return HostedTarget(*given, **named)


PLUGIN: Final = TargetsPlugin(
    driver=_driver,
    hosted=_hosted,
    schemes={"grpc": Scheme("Storage Read"), "grpcs": Scheme("Storage Read over TLS", tls=True)},
    url_option=REST_OPTION,
    url_options=REST_OPTIONS,
    by_url=with_rest,
)
