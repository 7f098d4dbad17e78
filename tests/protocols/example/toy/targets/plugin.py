"""Servers of the toy protocol as targets."""

from __future__ import annotations

from typing import Any, Final

from conformance.targets.plugin import Scheme, TargetsPlugin


def _driver(*given: Any, **named: Any) -> Any:
    from conformance.protocols.toy.targets.driver import ToyTarget  # noqa: PLC0415  # who reads a target file needs no gRPC

    return ToyTarget(*given, **named)


PLUGIN: Final = TargetsPlugin(driver=_driver, schemes={"toy": Scheme("Toy")})
