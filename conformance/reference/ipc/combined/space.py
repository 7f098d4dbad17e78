"""The space of combined vectors: its factors, what is excluded from it and why, and the covering array of it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Final, TypeAlias

from conformance.generate.covering import Combination, Factors, Row, covering
from conformance.reference.ipc.combined.layouts import LAYOUTS
from conformance.reference.ipc.combined.writerchoices import FORMS
from conformance.reference.ipc.variations.sources import COL, COMPRESSION, FBS, FILE

__all__ = ["EXCLUSIONS", "FACTORS", "THREES", "Exclusion", "excluded", "is_permitted", "is_stream", "rows"]

FACTORS: Final[Factors] = {
    "layout": tuple(LAYOUTS),
    "form": tuple(FORMS),
    "size": ("several", "zero", "one", "one-valued", "hollow"),
    "nulls": ("some", "none", "all"),
    "codec": ("", "lz4", "zstd"),
    "container": ("stream", "file"),
    "version": ("V5", "V4"),
    "order": ("little", "big"),
}
"""The factors and their values. Sizes: three batches, one of which has no rows; a batch without rows; one row; rows of
one value; values with nothing inside, such as lists without items."""
THREES: Final = frozenset({"version", "codec", "layout", "nulls", "container"})
"""The factors that are covered in triples."""

_Forbids: TypeAlias = Callable[[Mapping[str, Hashable]], bool]


@dataclasses.dataclass(frozen=True, slots=True)
class Exclusion:
    """Values that do not occur together, the reason, and the text that gives it (empty: it follows from the words).

    ``forbids`` gets the values of some factors, and is true if they contain the excluded ones.
    """

    name: str
    why: str
    source: str
    forbids: _Forbids


def _both(**values: Hashable) -> _Forbids:
    """Forbid these values together."""
    return lambda row: all(row.get(name, _ABSENT) == value for name, value in values.items())


_ABSENT: Final = object()


def _layout(row: Mapping[str, Hashable], **asked: object) -> bool:
    layout = LAYOUTS.get(str(row.get("layout")))
    return layout is not None and all(getattr(layout, name) == value for name, value in asked.items())


_RUNS: Final = tuple(name for name in LAYOUTS if "run" in name)

EXCLUSIONS: Final = (
    Exclusion(
        "all slots of the null layout are null",
        "every slot of this type is null",
        f"{COL}#null-layout",
        lambda row: row.get("layout") == "null" and row.get("nulls", "all") != "all",
    ),
    Exclusion("nulls are no value", "no slot of the null layout has one", "", _both(layout="null", size="one-valued")),
    Exclusion(
        "no rows have no nulls",
        "a batch without rows has neither values nor nulls; it counts as without nulls, or as all null",
        "",
        lambda row: row.get("size") == "zero" and row.get("nulls") == "some",
    ),
    Exclusion("one row is null or not", "some of one row would be all of it", "", _both(size="one", nulls="some")),
    Exclusion("one value is none if all are null", "no slot has a value", "", _both(size="one-valued", nulls="all")),
    Exclusion(
        "values without an inside",
        "values of fixed width, unions and runs always have something inside",
        f"{COL}#physical-memory-layout",
        lambda row: row.get("size") == "hollow" and _layout(row, hollow=False),
    ),
    Exclusion(
        "a dictionary without values",
        "an index that is not null points to a value",
        f"{COL}#dictionary-encoded-layout",
        lambda row: row.get("size") == "hollow" and _layout(row, encoded=True) and row.get("nulls", "all") != "all",
    ),
    Exclusion(
        "files replace no dictionary",
        "a file has at most one dictionary batch per id that is not a delta",
        FILE,
        lambda row: row.get("container") == "file" and _layout(row, changes="replaced"),
    ),
    Exclusion(
        "the end of a file's stream",
        "the format draws the end marker in a file",
        FILE,
        _both(container="file", form="no-end"),
    ),
    Exclusion(
        "saving space without a codec",
        "without compression there is nothing to save",
        COMPRESSION,
        lambda row: row.get("form") in ("stored", "smaller") and row.get("codec") == "",
    ),
    Exclusion(
        "slots under nulls where nothing is null",
        "there are no such slots",
        f"{COL}#validity-bitmaps",
        _both(form="under-nulls", nulls="none"),
    ),
    Exclusion(
        "runs under V4",
        "run-end encoding is newer than V4, and no text says whether V4 gives it the bitmap that it gives to unions",
        f"{FBS}/Schema.fbs (MetadataVersion)",
        lambda row: row.get("version") == "V4" and row.get("layout") in _RUNS,
    ),
)
"""Everything that is excluded."""


def excluded(row: Mapping[str, Hashable]) -> Exclusion | None:
    """Return the first exclusion that forbids these values of some factors."""
    return next((each for each in EXCLUSIONS if each.forbids(row)), None)


def is_stream(row: Mapping[str, Hashable]) -> bool:
    """Return whether these values of some factors occur in streams alone."""
    return row.get("container") == "stream" or excluded({**row, "container": "file"}) is not None


def is_permitted(combination: Combination) -> bool:
    """Return whether values may occur together in a vector."""
    return excluded(dict(combination)) is None


@functools.cache
def rows() -> tuple[Row, ...]:
    """Return the covering array of the space: every pair of values, and every triple of :data:`THREES`."""
    return tuple(covering(FACTORS, is_permitted, threes=THREES))
