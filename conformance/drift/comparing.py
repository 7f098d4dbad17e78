"""Decides how the answers of two versions differ, and whether the difference matters.

The module compares answers; it runs no version itself.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Callable
from typing import Final

from conformance.drift.bytejudging import broken_rules, content_digest, failing_clauses
from conformance.drift.layouts import LabelledDifference, differing_places
from conformance.drift.readinputs import DriftInput
from conformance.drift.versions import VersionAnswer

__all__ = ["VersionChange", "VersionDifference", "compare_readings", "compare_writings"]


class VersionChange(enum.StrEnum):
    """The change of a case from one version to the next, in the order of a reader's interest."""

    CRASH = "crash"
    """The newer version crashes."""
    HANG = "hang"
    """The newer version does not end in time."""
    VALUES = "values changed"
    SPILL = "memory published"
    """The written bytes contain memory from outside the buffers, and those of the older version do not."""
    NONCONFORMING = "no longer conforms"
    """The written bytes break a rule that those of the older version do not break."""
    ACCEPTED = "newly accepted"
    REFUSED = "newly refused"
    TYPE = "read as another type"
    ERROR = "error changed"
    """Both versions refuse, with another text or class of error."""
    CURED = "no longer crashes"
    LAYOUT = "layout changed"
    """Different bytes with the same content, which conform."""
    RECOMPRESSED = "recompressed"
    """Bytes that are equal after decompression."""
    EQUAL = "equal"
    ABSENT = "not applicable"
    """One of the versions lacks the type or option."""


_ALWAYS: Final = frozenset({VersionChange.CRASH, VersionChange.HANG, VersionChange.SPILL, VersionChange.NONCONFORMING})

QUIET: Final = frozenset({VersionChange.EQUAL, VersionChange.ABSENT, VersionChange.RECOMPRESSED})
"""Changes that are counted but not listed."""


@dataclasses.dataclass(frozen=True, slots=True)
class VersionDifference:
    """One case that two versions treat differently.

    ``case`` is the id by which it is replayed, ``kind`` its class in the matrix. ``before`` and ``after`` are the
    results of each version in words. ``matters`` is True if a build should fail. ``rules`` contains, for written bytes,
    the rules that they newly break and the clauses that newly fail, and for read bytes the rules that they break.
    ``places`` are the positions at which the bytes differ.
    """

    case: str
    kind: str
    old: str
    new: str
    change: VersionChange
    matters: bool
    before: str
    after: str
    rules: tuple[str, ...] = ()
    places: tuple[LabelledDifference, ...] = ()


_BROKE: Final = {"died": VersionChange.CRASH, "hung": VersionChange.HANG}


def _ended(old: VersionAnswer, new: VersionAnswer) -> VersionChange | None:
    """The change if one of the processes crashed or hung, else None."""
    if new.status in _BROKE:
        return VersionChange.EQUAL if old.status in _BROKE else _BROKE[new.status]
    return VersionChange.CURED if old.status in _BROKE else None


# --- writing ----------------------------------------------------------------------------------------

SameValues = Callable[[bytes, bytes], bool]
"""True if the versions read the same values from two byte strings of one writing."""


def compare_writings(
    case: str,
    kind: str,
    versions: tuple[str, str],
    answers: tuple[VersionAnswer, VersionAnswer],
    *,
    container: str,
    same: SameValues,
) -> VersionDifference:
    """Compare one writing; ``answers`` are those of the older version and of the newer one."""
    old, new = answers
    change = VersionChange.ABSENT if "lacking" in (old.status, new.status) else _ended(old, new)
    rules: tuple[str, ...] = ()
    places: tuple[LabelledDifference, ...] = ()
    if change is None and "written" in (old.status, new.status):
        change, rules = _written(container, old, new, same)
        if change in (VersionChange.LAYOUT, VersionChange.VALUES, VersionChange.SPILL, VersionChange.NONCONFORMING):
            places = differing_places(container, old.data, new.data)
    elif change is None:
        change = VersionChange.EQUAL if (old.error, old.text) == (new.error, new.text) else VersionChange.ERROR
    matters = change in (*_ALWAYS, VersionChange.VALUES, VersionChange.REFUSED) or bool(rules)
    return VersionDifference(case, kind, *versions, change, matters, old.said, new.said, rules, places)


def _written(
    container: str, old: VersionAnswer, new: VersionAnswer, same: SameValues
) -> tuple[VersionChange, tuple[str, ...]]:
    """The change if at least one version wrote bytes, and the rules and clauses that only the new bytes break."""
    if new.status != "written":
        return VersionChange.REFUSED, ()
    if old.data == new.data:
        return VersionChange.EQUAL, ()
    before = _broken(container, old.data) if old.data else ()
    rules = tuple(rule for rule in _broken(container, new.data) if rule not in before)
    if old.status != "written":
        return VersionChange.ACCEPTED, rules
    if new.spilled and not old.spilled:
        return VersionChange.SPILL, rules
    if rules:
        return VersionChange.NONCONFORMING, rules
    return (_form(container, old, new) if same(old.data, new.data) else VersionChange.VALUES), ()


def _broken(container: str, data: bytes) -> tuple[str, ...]:
    """The rules of the format that the bytes break, and the clauses that fail on them."""
    return (*broken_rules(container, data), *failing_clauses(container, data))


def _form(container: str, old: VersionAnswer, new: VersionAnswer) -> VersionChange:
    """The change between bytes that have the same content and conform."""
    if _CODED.search(new.id) and content_digest(container, old.data) == content_digest(container, new.data):
        return VersionChange.RECOMPRESSED
    return VersionChange.LAYOUT


_CODED: Final = re.compile(r"\+(lz4|zstd)\b")
"""Matches the name of a writing with a codec."""


# --- reading ----------------------------------------------------------------------------------------


def compare_readings(
    read: DriftInput, versions: tuple[str, str], old: VersionAnswer, new: VersionAnswer
) -> VersionDifference:
    """Compare the reading of one input.

    Refusing bytes that break no rule matters, and so does accepting bytes that break one; the opposite changes are
    improvements. Bytes that the format lets a reader refuse may be refused.
    A version that lacks a type has not checked the bytes, so that its refusal is not compared.
    """
    change = _ended(old, new) or _read(old, new)
    if not read.valid and old.lacks is not new.lacks and change not in _ALWAYS:
        change = VersionChange.ABSENT
    wrong = {
        VersionChange.REFUSED: read.valid and not read.refusable,
        VersionChange.ACCEPTED: not read.valid,
        VersionChange.VALUES: read.valid,
    }
    matters = change in _ALWAYS or wrong.get(change, False)
    before, after = old.said, new.said
    if change is VersionChange.TYPE:
        before, after = (f"read as {', '.join(one.types)}" for one in (old, new))
    return VersionDifference(read.id, read.kind, *versions, change, matters, before, after, read.broken)


_REPORTED: Final = {"lacking": 0, "refused": 0, "unsound": 1, "rows": 2}
"""How far an answer accepts the bytes: not at all, reading but not validation, everything."""


def _read(old: VersionAnswer, new: VersionAnswer) -> VersionChange:
    before, after = _REPORTED[old.status], _REPORTED[new.status]
    if after != before:
        return VersionChange.ACCEPTED if after > before else VersionChange.REFUSED
    if new.status != "rows":
        return VersionChange.EQUAL if (old.error, old.text) == (new.error, new.text) else VersionChange.ERROR
    if (old.digest, old.rows) != (new.digest, new.rows):
        return VersionChange.VALUES
    return VersionChange.EQUAL if old.types == new.types else VersionChange.TYPE
