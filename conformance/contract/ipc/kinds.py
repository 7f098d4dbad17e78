"""What kind of bytes is judged, and by which profile."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final

__all__ = ["PROFILE_OF", "Kind", "sniff"]


class Kind(enum.StrEnum):
    """What bytes hold."""

    MESSAGE = "message"
    STREAM = "stream"
    FILE = "file"
    TENSOR = "tensor"


PROFILE_OF: Final[Mapping[str, str]] = {kind: f"ipc-{kind}" for kind in Kind}
"""The profile by which each kind is judged."""


def sniff(data: bytes) -> Kind:
    """The best guess."""
    return Kind.FILE if data[:6] == b"ARROW1" or data[-6:] == b"ARROW1" else Kind.STREAM
