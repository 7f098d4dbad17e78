"""Group the calls that a target had to serve and refused: by the feature that it lacks, or else by status and text.

A feature is blamed only if the run isolates it: every refused request of the group asked for it, and no request of the
same method that asked for it was served. Where two features are never apart, both are named and none is blamed alone.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from conformance.contain.text import many
from conformance.engine.events import CaseJudged, Request
from conformance.engine.outcomes import shape

__all__ = ["RefusedCalls", "declaring", "general", "refusals"]

PLAIN: Final = "no option"
"""What a request asks for that has no option at all."""

MOST_FEATURES: Final = 2
"""The most features that a group is described by; more are no description."""

ALIKE: Final = 2
"""The fewest words with which two texts begin that say the same of different names."""

_PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "SplitReadStream": "splits",
        "row_restriction": "filters",
        "selected_fields": "projection",
        "snapshot_time": "snapshots",
        "buffer_compression": "buffer-compression",
        "response_compression": "response-compression",
    }
)
"""The profiles that a server may leave out, by the beginning of the method or feature that asks for them."""
_TYPED: Final = "columns of type "

_FIRST_LINE: Final = re.compile(r"\\[nr]|[\n\r]")
"""A line end, as it is or as :func:`conformance.contain.text.safe` writes it."""
_WRAPPED: Final = re.compile(r"(?<=^UNKNOWN: )Exception (?:calling application|iterating responses): ")
"""What gRPC's Python writes before the text of any exception that a server lets through."""
_NAMES: Final = re.compile(r"\bprojects/[\w./:-]*\w|(?:[\w-]+[:.])*\bt_\w+_[0-9a-f]{8}(?:_[0-9a-f]{16})?_\d+\b")
"""Resources, and tables as :mod:`conformance.targets.seeding` names them; many servers quote them, each in its way."""


@dataclasses.dataclass(frozen=True, slots=True)
class RefusedCalls:
    """Calls that were refused for one reason: ``places`` are their cases and call indices.

    ``features`` are asked for by all of them and by no served request of the ``method``; empty if nothing sets them
    apart. ``text`` is the status and text of the first. ``served`` counts the requests of the method that were served.
    ``filters`` are the different row restrictions of the calls, the shortest first; empty if one of them had none.
    """

    method: str
    features: tuple[str, ...]
    text: str
    places: tuple[tuple[str, int], ...]
    served: int
    filters: tuple[str, ...] = ()

    @property
    def contrast(self) -> str:
        """What sets the refused requests apart from the served ones."""
        refused = f"{many(len(self.places), 'request')} refused"
        if not self.features:
            return f"{refused}; {self.served} of {self.method} served"
        return f"{refused}, every one with it; {self.served} without it served"

    @property
    def facts(self) -> tuple[str, ...]:
        """The contrast, one of the filters if there are any, and the hint if there is one."""
        return tuple(filter(None, (self.contrast, self.example, self.hint)))

    @property
    def example(self) -> str:
        """The shortest filter of the refused requests, and how many there are; empty if they have none."""
        if len(self.filters) <= 1:
            return "".join(f"the refused filter: {one}" for one in self.filters)
        return f"{len(self.filters)} different filters refused; the shortest: {self.filters[0]}"

    @property
    def hint(self) -> str:
        """How to say that the server does not offer what it refuses, if it says that by UNIMPLEMENTED; else empty."""
        if not self.is_absent:
            return ""
        asked = [self.method, *self.features]
        parts = [part for start, part in _PARTS.items() if any(one.startswith(start) for one in asked)]
        parts += [one.removeprefix(_TYPED) for one in self.features if one.startswith(_TYPED)]
        return declaring(parts[0]) if parts else ""

    @property
    def is_absent(self) -> bool:
        """True if the server says that it has not what it refuses."""
        return self.text.startswith("UNIMPLEMENTED")

    @property
    def key(self) -> str:
        """The text that identifies the group in every run of a target."""
        return f"{self.method} with {' and '.join(self.features)}" if self.features else _class_of(self.text)

    @property
    def title(self) -> str:
        """The group in one line of plain English."""
        if self.features == (PLAIN,):
            return f"{self.method} without any option is refused: {self.text}"
        with_ = f" with {' and '.join(self.features)}" if self.features else ""
        return f"{self.method}{with_} is refused: {self.text}"


def declaring(part: str) -> str:
    """How the target file says that the server does not offer a profile or a type of columns."""
    return f"if the server does not offer this, the target file says not_offered = {json.dumps([part])}"


@dataclasses.dataclass(frozen=True, slots=True)
class _Refused:
    """A refused request with all that may explain it, the options of the request first."""

    place: tuple[str, int]
    request: Request
    features: tuple[str, ...]


def refusals(cases: Sequence[CaseJudged]) -> list[RefusedCalls]:
    """The groups of calls that had to be served and were refused, in the order of their first calls."""
    served: dict[str, Counter[str]] = {}
    totals: Counter[str] = Counter()
    classes: dict[tuple[str, str], list[_Refused]] = {}
    for case in cases:
        for request in (one for one in case.requests if one.owed):
            features = _features(case, request)
            if request.refused:
                refused = _Refused((case.case_id, request.call), request, features)
                classes.setdefault((request.method, _class_among(classes, request)), []).append(refused)
            else:
                served.setdefault(request.method, Counter()).update(features)
                totals[request.method] += 1
    _add_likewise_refused(cases, classes)
    groups: dict[tuple[str, str, tuple[str, ...]], list[_Refused]] = {}
    for (method, said), members in classes.items():
        for features, explained in _explained(members, served.get(method, Counter())):
            groups.setdefault((method, "" if features else said, features), []).extend(explained)
    return [
        RefusedCalls(
            method,
            features,
            members[0].request.refused,
            tuple(member.place for member in members),
            totals[method],
            _filters([member.request.restriction for member in members]),
        )
        for (method, _, features), members in groups.items()
    ]


def _filters(restrictions: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(set(restrictions), key=lambda one: (len(one), one))) if all(restrictions) else ()


def _add_likewise_refused(cases: Sequence[CaseJudged], classes: Mapping[tuple[str, str], list[_Refused]]) -> None:
    """Add the requests that had to be refused, if they were refused as those that had to be served: in the wrong status
    and for the wrong reason.
    """
    for case in cases:
        for request in (one for one in case.requests if one.refused and not one.owed):
            if (alike := classes.get((request.method, _class_among(classes, request)))) is not None:
                alike.append(_Refused((case.case_id, request.call), request, _features(case, request)))


def _class_of(refused: str) -> str:
    """The status and text without data and without the names of one case's table, session and stream.

    Only the first line counts: databases repeat the query in those behind it.
    """
    return shape(_NAMES.sub("'…'", _WRAPPED.sub("", _FIRST_LINE.split(refused, maxsplit=1)[0])))


def _class_among(classes: Iterable[tuple[str, str]], request: Request) -> str:
    """The class of a refused request: one of ``classes`` if its text is the same or alike, else its own."""
    own = _class_of(request.refused)
    known = [said for method, said in classes if method == request.method]
    return own if own in known else next((said for said in known if _alike(said, own)), own)


def _alike(one: str, other: str) -> bool:
    """True if two classes have one status, and differ in one run of words that is no longer than what they share.

    A server that quotes a name or a value without quotation marks says the same of each.
    """
    (status, *words), (other_status, *others) = one.split(), other.split()
    if status != other_status:
        return False
    shared, longest = sorted((len(words), len(others)))
    before = next((place for place in range(shared) if words[place] != others[place]), shared)
    after = next((place for place in range(shared - before) if words[~place] != others[~place]), shared - before)
    return before >= ALIKE and before + after >= max(ALIKE, longest - before - after)


def _features(case: CaseJudged, request: Request) -> tuple[str, ...]:
    return (*(request.asked or (PLAIN,)), *(case.shape.has if case.shape is not None else ()))


def _explained(
    members: Sequence[_Refused], served: Collection[str]
) -> Iterator[tuple[tuple[str, ...], list[_Refused]]]:
    """The members of one status and text, apart by the features that explain all of them; together if none do."""
    left = list(members)
    groups: list[tuple[tuple[str, ...], list[_Refused]]] = []
    while left and (found := _widest(left, served)):
        groups.append((found, [member for member in left if found[0] in member.features]))
        left = [member for member in left if found[0] not in member.features]
    if sum(len(explained) for _, explained in groups) < len(members):
        yield (), list(members)
    else:
        yield from groups


def _widest(members: Sequence[_Refused], served: Collection[str]) -> tuple[str, ...]:
    """The feature of no served request that the most members ask for, with those that are never apart from it."""
    counts: dict[str, int] = {}
    for member in members:
        for feature in member.features:
            if feature not in served:
                counts[feature] = counts.get(feature, 0) + 1
    if not counts:
        return ()
    most = max(counts.values())
    widest = general(feature for feature, count in counts.items() if count == most)
    first = {member.place for member in members if widest[0] in member.features}
    together = [
        feature for feature in widest if {member.place for member in members if feature in member.features} == first
    ]
    return tuple(together) if len(together) <= MOST_FEATURES else ()


def general(features: Iterable[str]) -> list[str]:
    """The features without those that only say more about another one of them."""
    found = list(features)
    return [one for one in found if not any(one != other and one.startswith(f"{other} ") for other in found)]
