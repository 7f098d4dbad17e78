"""By which profile each kind of bytes is judged."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.wire import Kind

__all__ = ["PROFILE_OF"]

PROFILE_OF: Final[Mapping[Kind, str]] = MappingProxyType({kind: f"ipc-{kind}" for kind in Kind})
"""The profile of each kind: ``ipc-message``, ``ipc-stream``, ``ipc-file``, ``ipc-tensor``."""
