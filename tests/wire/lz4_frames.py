"""Frames that the library lz4 wrote, under each of its options: ``python -m tests.wire.lz4_frames`` records them again.

The record spares the tests the library. Its content repeats itself, so that the frames stay small, and is longer than
the smallest block.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["CONTENT", "SHORT", "LibraryFrame", "library_frames"]

FILE: Final = Path(__file__).with_suffix(".json")
CONTENT: Final = b"".join(struct.pack("<i", number * 7 % 50) for number in range(20_000))
SHORT: Final = CONTENT[:2_000]
"""Fits into one block."""

_CHECKS: Final = ("content_checksum", "block_checksum", "store_size")
_OPTIONS: Final[tuple[dict[str, Any], ...]] = (
    {},
    *({name: True} for name in _CHECKS),
    dict.fromkeys(_CHECKS, True),
    {"block_linked": True},
    {"block_linked": True, **dict.fromkeys(_CHECKS, True)},
    {"block_size": 5},
    {"block_size": 6},
    {"block_size": 7},
    {"compression_level": 9},
    {"compression_level": -3, "content_checksum": True},
)
_DEFAULTS: Final = {"block_size": 4, "block_linked": False, **dict.fromkeys(_CHECKS, False)}

LibraryFrame = tuple[Mapping[str, Any], bytes, bytes]
"""The options that a frame was written with, its content, and the frame."""


def library_frames() -> list[LibraryFrame]:
    """The recorded frames: first those of :data:`CONTENT`, then those of :data:`SHORT`."""
    record = json.loads(FILE.read_text(encoding="utf-8"))
    return [
        ({**_DEFAULTS, **each["options"]}, CONTENT[: each["size"]], bytes.fromhex(each["frame"]))
        for each in record["frames"]
    ]


def _record() -> None:
    import lz4.frame  # noqa: PLC0415  # nothing else needs the library

    frames = [
        {
            "options": options,
            "size": len(content),
            "frame": lz4.frame.compress(content, **{**_DEFAULTS, **options}).hex(),
        }
        for content in (CONTENT, SHORT)
        for options in _OPTIONS
    ]
    document = {"lz4": lz4.version.version, "liblz4": lz4.library_version_string(), "frames": frames}
    FILE.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _record()
