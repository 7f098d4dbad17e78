"""What a difference between two versions is, and whether it matters.

This module decides on answers; it asks nobody and judges no bytes itself.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Callable
from typing import Final

from conformance.drift.inputs import DriftInput
from conformance.drift.judging import broken_rules, content_digest, failing_clauses
from conformance.drift.layouts import LabelledDifference, differing_places
from conformance.drift.versions import VersionAnswer

__all__ = ["VersionChange", "VersionDifference", "compare_readings", "compare_writings"]


class VersionChange(enum.StrEnum):
    """What became of a case from one version to the next, in the order in which a reader should hear of it."""

    CRASH = "crash"
    """The newer version dies under it."""
    HANG = "hang"
    """The newer version does not end."""
    VALUES = "values changed"
    SPILL = "memory published"
    """The bytes written hold memory from beyond the buffers, and the older version's do not."""
    NONCONFORMING = "no longer conforms"
    """The bytes written break a rule that the older version's did not."""
    ACCEPTED = "newly accepted"
    REFUSED = "newly refused"
    TYPE = "read as another type"
    ERROR = "error changed"
    """Refused by both, in other words or by another class."""
    CURED = "no longer crashes"
    LAYOUT = "layout changed"
    """Other bytes that say the same and conform."""
    RECOMPRESSED = "recompressed"
    """The same bytes once decompressed."""
    EQUAL = "equal"
    ABSENT = "not applicable"
    """One of the versions has no such type or option."""


_ALWAYS: Final = frozenset({VersionChange.CRASH, VersionChange.HANG, VersionChange.SPILL, VersionChange.NONCONFORMING})

QUIET: Final = frozenset({VersionChange.EQUAL, VersionChange.ABSENT, VersionChange.RECOMPRESSED})
"""Changes that are counted and not listed."""


@dataclasses.dataclass(frozen=True, slots=True)
class VersionDifference:
    """One case that two versions treat differently.

    ``case`` is the id to replay it by, ``kind`` its class in the matrix. ``before`` and ``after`` say what each version
    made of it. ``matters`` says whether a build should fail. ``rules`` are rules that the bytes break, and clauses that
    fail on them: of those written what is new, of those read the rules alone. ``places`` are where bytes differ.
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
    """The change where one of the processes ended under the case."""
    if new.status in _BROKE:
        return VersionChange.EQUAL if old.status in _BROKE else _BROKE[new.status]
    return VersionChange.CURED if old.status in _BROKE else None


# --- writing ----------------------------------------------------------------------------------------

SameValues = Callable[[bytes, bytes], bool]
"""Whether the versions read the same from two byte strings that one writing gave."""


def compare_writings(
    case: str,
    kind: str,
    versions: tuple[str, str],
    answers: tuple[VersionAnswer, VersionAnswer],
    *,
    container: str,
    same: SameValues,
) -> VersionDifference:
    """What became of one writing; ``answers`` are the older version's and the newer's."""
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
    """The change where one of the versions wrote bytes at least, and what only the new bytes break."""
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
    """The change of bytes that say the same and conform."""
    if _CODED.search(new.id) and content_digest(container, old.data) == content_digest(container, new.data):
        return VersionChange.RECOMPRESSED
    return VersionChange.LAYOUT


_CODED: Final = re.compile(r"\+(lz4|zstd)\b")
"""The name of a writing with a codec."""


# --- reading ----------------------------------------------------------------------------------------


def compare_readings(
    read: DriftInput, versions: tuple[str, str], old: VersionAnswer, new: VersionAnswer
) -> VersionDifference:
    """What became of reading one input.

    Refusing what breaks no rule matters, and so does accepting what breaks one; the other way round both are repairs.
    What the format lets a reader refuse may be refused.
    A version that lacks a type has not judged what is wrong with its bytes, so nothing is compared with that.
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
"""How far an answer lets the bytes through: not at all, past reading but not past validation, to the end."""


def _read(old: VersionAnswer, new: VersionAnswer) -> VersionChange:
    before, after = _REPORTED[old.status], _REPORTED[new.status]
    if after != before:
        return VersionChange.ACCEPTED if after > before else VersionChange.REFUSED
    if new.status != "rows":
        return VersionChange.EQUAL if (old.error, old.text) == (new.error, new.text) else VersionChange.ERROR
    if (old.digest, old.rows) != (new.digest, new.rows):
        return VersionChange.VALUES
    return VersionChange.EQUAL if old.types == new.types else VersionChange.TYPE
