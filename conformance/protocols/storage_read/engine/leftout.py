"""The options of a case, and the case without some of them.

A case without an option has to be right for a correct server, or it shows nothing of a faulty one. So the rows that a
session was known to yield go with the options that chose them, and there is no such case where the rest of these
options keeps other rows than are known.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from conformance.records import Case, CreateSession, Expect, ReadRows, SplitStream, Step

__all__ = ["left", "options_of", "places", "without"]


class _Option(NamedTuple):
    """An option: its name in sentences, the kind of step that has it, and the fields that it is made of.

    ``brings`` are the names of other options that its requests have as well.
    """

    name: str
    step: type
    fields: tuple[str, ...]
    brings: tuple[str, ...] = ()


_OFFSET: Final = "an offset"
_ABANDONED: Final = "an abandoned read before it"
_SPLIT: Final = "a split"
_OPTIONS: Final = (
    _Option("row_restriction", CreateSession, ("row_restriction", "restriction_bytes")),
    # After the restriction: which rows a restriction keeps is known at the snapshot time alone.
    _Option("snapshot_time", CreateSession, ("snapshot",)),
    _Option("selected_fields", CreateSession, ("selected_fields",)),
    _Option("buffer_compression", CreateSession, ("buffer_compression",)),
    _Option("response_compression", CreateSession, ("response_compression",)),
    _Option("sample_percentage", CreateSession, ("sample_percentage",)),
    _Option("trace_id", CreateSession, ("trace_id",)),
    _Option("the parent of another project", CreateSession, ("parent",)),
    _Option(_OFFSET, ReadRows, ("offset",)),
    _Option(_ABANDONED, ReadRows, ("take",)),
    # The driver reads on from the row after the last one that came.
    _Option("a fault on the way", ReadRows, ("faults",), brings=(_OFFSET, _ABANDONED)),
    _Option("reads at the same time", ReadRows, ("times", "together", "alongside", "handed")),
    _Option(_SPLIT, SplitStream, ()),
    # Last, because a case without them often shows nothing: its streams are shorter.
    _Option("max_stream_count", CreateSession, ("max_stream_count",)),
    _Option("preferred_min_stream_count", CreateSession, ("preferred_min_stream_count",)),
)


def options_of(case: Case) -> list[str]:
    """The names of the options of a case that can be left out, in the order in which to try that."""
    return [one.name for one in _OPTIONS if any(_has(step, one) and _is_free(step) for step in case.steps)]


def left(case: Case) -> frozenset[str]:
    """The names of all options that the requests of a case have, also those that cannot be left out."""
    found = [one for one in _OPTIONS if any(_has(step, one) for step in case.steps)]
    return frozenset(name for one in found for name in (one.name, *one.brings))


def without(case: Case, names: Collection[str]) -> Case | None:
    """The case with these options as in a plain request; None if it is not known what a session then yields.

    Without splits, it is without the reads of their children too; None if another read is made at the same time as one.
    """
    options = [one for one in _OPTIONS if one.name in names]
    whole = _SPLIT in names
    steps = [_reset(step, options) for step in case.steps if not (whole and _is_of_split(step))]
    known = [step for step in steps if step is not None]
    together = whole and any(
        isinstance(step, ReadRows) and step.alongside and _is_of_split(before) and not _is_of_split(step)
        for before, step in itertools.pairwise(case.steps)
    )
    if together or len(known) < len(steps):
        return None
    return dataclasses.replace(case, steps=tuple(known))


def places(case: Case) -> list[tuple[bool, int]]:
    """What tells each step of a case from the others, and is the same in the case without some options."""
    counts = {True: itertools.count(), False: itertools.count()}
    return [(kind, next(counts[kind])) for kind in map(_is_of_split, case.steps)]


def _is_of_split(step: Step) -> bool:
    """True for a split, and for a read of one of its children: its stream is named after the split, with a dot."""
    return isinstance(step, SplitStream) or (isinstance(step, ReadRows) and "." in step.stream)


def _has(step: Step, option: _Option) -> bool:
    if not isinstance(step, option.step):
        return False
    if isinstance(step, SplitStream):
        return True
    plain = option.step()
    return any(getattr(step, name) != getattr(plain, name) for name in option.fields)


def _is_free(step: Step) -> bool:
    """True if a step is no request that has to be refused, perhaps because of its options."""
    return isinstance(step, CreateSession | ReadRows | SplitStream) and "OK" in step.expect.codes


def _reset(step: Step, options: Iterable[_Option]) -> Step | None:
    changes: dict[str, Any] = {}
    for option in options:
        if _has(step, option) and _is_free(step):
            plain = option.step()
            changes |= {name: getattr(plain, name) for name in option.fields}
    if not changes:
        return step
    if not changes.keys().isdisjoint({"row_restriction", "snapshot"}):
        assert isinstance(step, CreateSession)
        if step.expect.rows is not None and changes.get("row_restriction", step.row_restriction):
            return None
        changes["expect"] = Expect()
    return dataclasses.replace(step, **changes)
