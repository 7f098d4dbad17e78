"""Servers of the Storage Write API as targets."""

from __future__ import annotations

from typing import Any, Final

from conformance.targets.plugin import Scheme, TargetsPlugin
from conformance.targets.resturl import REST_OPTION, REST_OPTIONS, with_rest


def _driver(*given: Any, **named: Any) -> Any:
    from conformance.protocols.storage_write.targets.driver import WriteTarget  # noqa: PLC0415  # who reads a target file needs no gRPC

    return WriteTarget(*given, **named)


PLUGIN: Final = TargetsPlugin(
    driver=_driver,
    schemes={
        "write": Scheme("Storage Write"),
        "writes": Scheme("Storage Write over TLS", tls=True),
    },
    url_option=REST_OPTION,
    url_options=REST_OPTIONS,
    by_url=with_rest,
)
