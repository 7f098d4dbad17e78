"""The options of a writer of IPC streams and files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final, Literal

__all__ = ["WriterOptions"]


VERSIONS: Final = {"V4": 3, "V5": 4}
CODECS: Final = {"": "", "lz4": "LZ4_FRAME", "zstd": "ZSTD"}


@dataclasses.dataclass(frozen=True, slots=True)
class WriterOptions:
    """The choices that the format leaves to a writer; the defaults are those of most libraries.

    ``legacy``: messages start with their length alone, as before Arrow 0.15, and the end marker is four zeros.
    ``alignment``: 8 or 64, of the end of the metadata and of every buffer.
    ``min_space_savings``: the part of its size, 0 to 1, that compression must save; otherwise a buffer is stored raw.
    ``deltas``: a dictionary that extends the one before is sent as a delta. ``end``: whether a stream ends with a
    marker or just ends. ``validity``: whether a field without nulls has a bitmap. ``big_endian``: the byte order of
    bodies. ``message_metadata`` is on every batch; ``opening_metadata`` on the schema's message, and on the Footer,
    which repeats it. ``ids`` are the ids of the dictionaries in pre-order of the schema's fields: 0, 1 … if not given;
    fields with the same id share a dictionary.

    Raises:
        ValueError: an option has a value that the format does not permit.
    """

    legacy: bool = False
    version: Literal["V4", "V5"] = "V5"
    alignment: Literal[8, 64] = 8
    codec: Literal["", "lz4", "zstd"] = ""
    min_space_savings: float | None = None
    deltas: bool = False
    end: Literal["marker", "close"] = "marker"
    validity: Literal["elided", "always"] = "elided"
    big_endian: bool = False
    message_metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    opening_metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    ids: Sequence[int] | None = None

    def __post_init__(self) -> None:
        for name, known in (
            ("version", tuple(VERSIONS)),
            ("alignment", (8, 64)),
            ("codec", tuple(CODECS)),
            ("end", ("marker", "close")),
            ("validity", ("elided", "always")),
        ):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(f"{name}: expected one of {', '.join(map(repr, known))}, got {value!r}")
        if self.min_space_savings is not None and not 0 <= self.min_space_savings <= 1:
            raise ValueError(f"min_space_savings: expected a number from 0 to 1, got {self.min_space_savings!r}")
