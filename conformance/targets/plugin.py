"""What targets know of a protocol: how its servers are driven, and what a target file may say of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

from conformance.targets.spec import Limits, TargetSpec

__all__ = ["TargetsPlugin"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TargetsPlugin:
    """A protocol of servers as targets.

    ``driver`` makes the driver of a server from its target file, the environment that was found, and what is named
    ``multiplier`` and ``starter`` by the drivers of servers; ``hosted`` makes that of a server in this process, and is
    another one if such a server can do more. Both import what they need when they are called: a command that reads a
    target file and starts nothing loads no gRPC. ``message_limit`` is the largest message that the driver accepts, in
    bytes. ``check`` raises a RecordError if a file says of a server of this protocol what nothing would read.
    """

    LAYER: ClassVar[str] = "targets"

    driver: Callable[..., Any]
    hosted: Callable[..., Any]
    message_limit: Callable[[Limits], int]
    check: Callable[[TargetSpec], None]
