"""Whether the first cause of a run names the fault: *right*, *near* or *wrong*, by a table written before any run.

*Right* is a first cause that says what the server does: by its clause, or by a clause close to it together with a
sentence that names the features that have to meet. *Near* is one that leads to the part of the server that is wrong.
Anything else leads elsewhere first.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Final

from conformance._globs import matches

__all__ = ["BLAME", "Blame", "First", "Sense"]


class Sense(enum.StrEnum):
    """What a first cause is to a fault."""

    RIGHT = "right"
    NEAR = "near"
    WRONG = "wrong"


@dataclasses.dataclass(frozen=True, slots=True)
class First:
    """The first cause of a run: its clause, its title, what sets it apart, and how many causes the run has."""

    clause: str
    title: str
    contrast: tuple[str, ...]
    causes: int


@dataclasses.dataclass(frozen=True, slots=True)
class Blame:
    """The clauses that name a fault, and those that are close to it.

    A close one names the fault if a sentence on what sets the cause apart has all of ``features``.
    """

    right: tuple[str, ...]
    near: tuple[str, ...] = ()
    features: tuple[str, ...] = ()

    def of(self, first: First) -> Sense:
        """What the first cause is to the fault."""
        if matches(first.clause, self.right):
            return Sense.RIGHT
        if not matches(first.clause, self.near):
            return Sense.WRONG
        taken = [said.partition("; it fails without ")[0] for said in first.contrast if " fail without " not in said]
        named = self.features and any(all(one in said for one in self.features) for said in taken)
        return Sense.RIGHT if named else Sense.NEAR


_FILTERED: Final = ("restriction.*", "projection.filter-may-use-other-columns", "session.restriction-is-not-ignored")
_DRAWN: Final = ("combination.*", "history.*")
_RESUMED: Final = ("offsets.*", "split.child-resumes", "avro.offset-leaves-the-rest", *_DRAWN)

BLAME: Final[Mapping[str, Blame]] = {
    "dialects.not-in-ignores-null": Blame(("restriction.in-list", "restriction.null-is-not-true"), _FILTERED),
    "dialects.not-over-and": Blame(("restriction.not", "restriction.and-or"), _FILTERED),
    "dialects.between-dates-half-open": Blame(("restriction.between",), _FILTERED),
    "dialects.timestamp-zone-ignored": Blame(("restriction.temporal-literal",), _FILTERED),
    "dialects.integer-division": Blame(("restriction.comparison",), _FILTERED),
    "dialects.nan-is-largest": Blame(("restriction.comparison",), _FILTERED),
    "dialects.is-not-true-drops-null": Blame(("restriction.is-null", "restriction.null-is-not-true"), _FILTERED),
    "dialects.like-underscore-is-a-byte": Blame(("restriction.like",), _FILTERED),
    "dialects.spaces-in-literal-collapse": Blame(
        ("restriction.double-quoted-literal", "restriction.keyword-inside-a-literal"), _FILTERED
    ),
    "dialects.null-record-reads-as-defaults": Blame(("restriction.nested-field",), _FILTERED),
    "reads.offset-in-table-rows": Blame((), _RESUMED, ("row_restriction", "an offset")),
    "reads.page-without-match-ends": Blame(
        _FILTERED, ("rows.none-is-missing", "split.*", *_DRAWN), ("row_restriction",)
    ),
    "reads.resume-at-boundary-ends": Blame(("offsets.between-responses",), _RESUMED, ("an offset",)),
    "reads.lz4-first-response-cached": Blame(
        ("compression.payload-*",), _RESUMED, ("response_compression", "an offset")
    ),
    "reads.row-count-before-restriction": Blame(("rows.row-count-is-true",)),
    "reads.resume-sorts-rows": Blame(
        ("offsets.*", "combination.rows-keep-their-place", "history.no-reordered-resume"), _RESUMED, ("an offset",)
    ),
    "reads.avro-ignores-offset": Blame(("avro.*",)),
    "reads.list-values-from-front": Blame(("values.repeated*",), ("values.*", *_DRAWN), ("REPEATED columns",)),
    "reads.validity-from-byte-boundary": Blame(("values.nulls", "body.*"), ("values.*", *_DRAWN)),
    "reads.progress-of-remaining-rows": Blame(("rows.progress-*",)),
    "reads.shared-cursor": Blame(
        ("rows.reading-together-repeats", "combination.readers-together-agree"), ("rows.*", *_DRAWN)
    ),
    "reads.abandoned-read-continues": Blame(
        ("abandon.*",), ("rows.rereading-repeats", *_DRAWN), ("an abandoned read before it",)
    ),
    "reads.null-record-lost-in-pruning": Blame(("projection.*",), ("values.*", *_DRAWN), ("selected_fields",)),
    "sessions.snapshot-nanos-dropped": Blame(("snapshot.*",), _DRAWN, ("snapshot_time",)),
    "sessions.open-ended-last-stream": Blame(
        ("snapshot.later-rows-stay-out", "snapshot.streams-share-one", "snapshot.rereading-repeats",
         "history.no-torn-session"),
        ("snapshot.*", *_DRAWN), ("rows appended while it is read",),
    ),
    "sessions.one-stream-per-append": Blame(("session.streams-stay-below-the-maximum",), ("session.*", *_DRAWN)),
    "sessions.time-travel-lost-under-restriction": Blame(
        (), ("snapshot.*", "session.snapshot-time-is-not-ignored", *_FILTERED, *_DRAWN),
        ("row_restriction", "snapshot_time"),
    ),
    "sessions.mask-cache-folds-case": Blame((), _FILTERED),
    "sessions.mask-cache-survives-recreate": Blame(("snapshot.table-made-again-is-new",), (*_FILTERED, *_DRAWN)),
    "sessions.identical-request-from-cache": Blame(
        ("session.names-differ", "history.no-receding-snapshot"), ("session.*", "snapshot.*", *_DRAWN)
    ),
    "sessions.newest-session-codec": Blame(("compression.*",)),
    "sessions.only-newest-64": Blame(("rows.read-is-served",), ("session.*", "errors.*", "rows.*", *_DRAWN)),
    "splits.remainder-split-from-root": Blame(
        ("split.children-are-the-parent", "combination.children-are-the-parent"), ("split.*", *_DRAWN)
    ),
    "splits.original-shortened": Blame(("split.parent-*",), ("split.*", *_DRAWN), ("a split",)),
    "splits.children-lose-restriction": Blame((), ("split.*", *_FILTERED, *_DRAWN), ("row_restriction", "a split")),
    "splits.remainder-offset-in-parent": Blame(("split.child-resumes",), ("split.*", *_RESUMED), ("an offset",)),
}  # fmt: skip
"""What names each fault. Faults that a run did not find when the table was written, or that no client can observe, are
not in it.
"""
