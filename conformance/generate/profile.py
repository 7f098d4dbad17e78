"""The profile of drawn cases: which types, names, sizes and depths are drawn, and how often."""

from __future__ import annotations

import dataclasses
from typing import Final

from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import BqType

__all__ = ["BLOCKS", "FLEXIBLE_NAMES", "KEYWORD_NAMES", "PLAIN_NAMES", "Profile"]


@dataclasses.dataclass(frozen=True, slots=True)
class Profile:
    """The cases for one kind of target: types and names, weighted by repetition and simplest first, and limits.

    ``depth`` bounds the records inside records, ``leaves`` the columns that have values, ``rows`` are the row
    counts.
    ``requests`` is True if the case has drawn requests, of ``protocol``, and a ``row_id`` that identifies rows. Above
    ``wide`` rows, cells of kilobytes are rare, and in long tables they do not occur: they make a case slow.
    """

    types: tuple[BqType, ...]
    names: tuple[str, ...]
    rows: tuple[int, ...]
    depth: int
    leaves: int
    requests: bool
    wide: int = 129
    protocol: str = DEFAULT_PROTOCOL


PLAIN_NAMES: Final = ("a", "b", "c", "name", "value", "created_at", "x1", "Total", "user_id", "_hidden")
KEYWORD_NAMES: Final = ("select", "from", "order", "group", "null", "item", "start", "end", "range", "interval")
FLEXIBLE_NAMES: Final = ("ä", "列", "имя", "a b", "a-b", "a+b=c", "100%", "élan", "A" * 128)
"""Names beyond ASCII letters and underscores, which BigQuery permits as flexible column names."""

BLOCKS: Final = (63, 64, 65, 127, 129)
"""Row counts around the bytes and words of a validity bitmap, where off-by-one errors are likely."""
