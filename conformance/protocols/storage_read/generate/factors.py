"""What a scenario's main session combines: one value of each of :data:`FACTORS`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

from conformance.generate.factors import Pairs

__all__ = ["FACTORS", "IMPOSSIBLE", "offered"]

FACTORS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "restriction": ("none", "some", "nothing"),
        "offset": ("start", "number", "resume", "end"),
        "streams": ("default", "one", "several"),
        "split": ("none", "once", "twice"),
        "nesting": ("flat", "record", "array", "records"),
        "snapshot": ("none", "append", "time"),
        "compression": ("none", "LZ4_FRAME", "ZSTD", "response"),
        "concurrency": ("none", "stream", "sessions", "handed"),
    }
)
"""The factors of a scenario's main session, and their values.

``restriction``: selects every row, some, or none. ``offset``: where reads begin. ``split``: of a stream, and of a
child. ``nesting``: of the table's columns. ``snapshot``: rows appended after the session was made, or a snapshot time
before an append. ``concurrency``: several reads of a stream at once, of two sessions at once, or by another process.
"""

IMPOSSIBLE: Final[Pairs] = frozenset({("restriction=nothing", "split=twice")})
"""The pairs that no session can have: streams without rows have no children."""


_WITHOUT: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "filters": ("restriction",),
        "snapshots": ("snapshot",),
        "splits": ("split",),
        "buffer-compression": ("LZ4_FRAME", "ZSTD"),
        "response-compression": ("response",),
    }
)
"""The factors, or values of ``compression``, that a target without a profile cannot be asked for."""


def offered(wanted: Mapping[str, str], not_offered: Collection[str]) -> dict[str, str]:
    """Return the values, with ``none`` for those that the target does not offer."""
    lacking = {name for profile, names in _WITHOUT.items() if profile in not_offered for name in names}
    return {
        name: "none" if name in lacking or (name == "compression" and value in lacking) else value
        for name, value in wanted.items()
    }
