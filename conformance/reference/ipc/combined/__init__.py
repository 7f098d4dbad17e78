"""Vectors in which legal features meet: a covering array of layouts, forms, sizes, nulls, codecs, versions, byte orders
and containers.
"""

from __future__ import annotations

from conformance.reference.ipc.combined.making import PREFIX, Combined, make, name_of, row_of
from conformance.reference.ipc.combined.space import (
    EXCLUSIONS,
    FACTORS,
    THREES,
    Exclusion,
    excluded,
    is_permitted,
    is_stream,
    rows,
)

__all__ = [
    "EXCLUSIONS",
    "FACTORS",
    "PREFIX",
    "THREES",
    "Combined",
    "Exclusion",
    "excluded",
    "is_permitted",
    "is_stream",
    "make",
    "name_of",
    "row_of",
    "rows",
]
