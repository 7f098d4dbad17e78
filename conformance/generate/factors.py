"""What a scenario's main session combines: one value of each of :data:`FACTORS`.

Consecutive scenarios follow a covering array: each run of :func:`block` scenarios has every pair. Every block has other
neighbours, so that many blocks have every triple.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

from conformance.generate.choices import Seeded
from conformance.generate.covering import covering

__all__ = ["FACTORS", "IMPOSSIBLE", "block", "offered", "wanted_of"]

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

IMPOSSIBLE: Final = frozenset({("restriction=nothing", "split=twice")})
"""The pairs that no session can have: streams without rows have no children."""


_Factors = tuple[tuple[str, tuple[str, ...]], ...]


@functools.cache
def _rows_of_array(factors: _Factors) -> tuple[Mapping[str, str], ...]:
    return tuple({name: str(value) for name, value in row.items()} for row in covering(dict(factors)))


def block(factors: Mapping[str, tuple[str, ...]] = FACTORS) -> int:
    """Return the number of consecutive scenarios that have every pair of values."""
    return len(_rows_of_array(tuple(factors.items())))


def wanted_of(
    seed: int, index: int, factors: Mapping[str, tuple[str, ...]] = FACTORS, kind: str = "scenario"
) -> Mapping[str, str]:
    """Return the value of each factor in a scenario: a row of the array, with the values of each factor turned by as
    many places as the seed and the number of the block decide; a turned array covers as many pairs.
    """
    rows = _rows_of_array(tuple(factors.items()))
    number, place = divmod(index, len(rows))
    turns = Seeded(seed, number, f"{kind}/block")
    wanted = {}
    for name, values in factors.items():
        wanted[name] = values[(values.index(rows[place][name]) + turns.integer(0, len(values) - 1)) % len(values)]
    return wanted


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
