"""Drift as text for people, JSON for programs, and one HTML page.

Similar differences (same step, same change, same words except for numbers) are reported once, with their number and the
command that shows the first of them again. The module is a little long because all three forms share what they count.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import conformance
from conformance.contain.parse import parse_object
from conformance.contain.text import many
from conformance.disk.files import LARGEST_TEXT, read_whole, write_whole
from conformance.drift.comparing import VersionChange, VersionDifference
from conformance.drift.run import WRITTEN, Drift, Step
from conformance.drift.userfiles import OWN_KIND
from conformance.drift.versions import DriftError
from conformance.report.pages import Fill, page

__all__ = [
    "DifferenceGroup",
    "Known",
    "as_json",
    "as_text",
    "decision",
    "groups",
    "html",
    "read_known",
    "unknown",
    "write_html",
]

FORMAT: Final = 1
"""The version of the JSON form; it is raised when a reader of the old form would misread the new one."""

SIGNS: Final = {
    VersionChange.CRASH: "C",
    VersionChange.HANG: "H",
    VersionChange.VALUES: "V",
    VersionChange.SPILL: "M",
    VersionChange.NONCONFORMING: "N",
    VersionChange.ACCEPTED: "A",
    VersionChange.REFUSED: "R",
    VersionChange.TYPE: "T",
    VersionChange.ERROR: "E",
    VersionChange.CURED: "c",
    VersionChange.LAYOUT: "L",
    VersionChange.RECOMPRESSED: "Z",
    VersionChange.EQUAL: "=",
    VersionChange.ABSENT: "-",
}
"""The sign of each change in a cell of the matrix."""

Document = Mapping[str, Any]
"""The JSON form of a comparison (:func:`as_json`)."""

_STOP: Final = "STOP"
_LOOK: Final = "LOOK HERE"
_SAFE: Final = "SAFE"

SHOWN: Final = 3
"""Ids and places shown for a group; the JSON has all of them."""


@dataclasses.dataclass(frozen=True, slots=True)
class DifferenceGroup:
    """Similar differences; ``first`` represents them."""

    first: VersionDifference
    cases: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def title(self) -> str:
        """The step, the change, and the number of cases with their classes."""
        kinds = ", ".join(self.kinds[:SHOWN]) + (
            f" and {len(self.kinds) - SHOWN} more" if len(self.kinds) > SHOWN else ""
        )
        count = many(len(self.cases), "case")
        return f"{_step(self.first)}  {self.first.change}: {count} ({kinds})"


def groups(drift: Drift) -> list[DifferenceGroup]:
    """The differences in groups: those that matter first, then by step, gravest change and size."""
    found: dict[tuple[object, ...], list[VersionDifference]] = {}
    for difference in drift.differences:
        found.setdefault(_likeness(difference), []).append(difference)
    order, gravity = {step: number for number, step in enumerate(drift.steps)}, list(VersionChange)
    made = [
        DifferenceGroup(alike[0], tuple(one.case for one in alike), tuple(dict.fromkeys(one.kind for one in alike)))
        for alike in found.values()
    ]

    def rank(group: DifferenceGroup) -> tuple[bool, int, int, int]:
        first = group.first
        return not first.matters, order[first.old, first.new], gravity.index(first.change), -len(group.cases)

    return sorted(made, key=rank)


_NUMBERS: Final = re.compile(r"\d+")


def _likeness(difference: VersionDifference) -> tuple[object, ...]:
    texts = [difference.places[0].label] if difference.places else [difference.before, difference.after]
    words = (_NUMBERS.sub("#", text) for text in texts)
    return difference.old, difference.new, difference.change, difference.matters, *words


def _step(difference: VersionDifference) -> str:
    return f"{difference.old} → {difference.new}"


# --- the matrix -------------------------------------------------------------------------------------


def _kinds(document: Document) -> list[str]:
    return list(dict.fromkeys(row["class"] for row in document["matrix"]))


def _cells(document: Document) -> Mapping[tuple[str, str, str], list[str]]:
    """By step and class: ``=``, or each other change with its count, with ``!`` in front if it matters."""
    bad = {
        (group["from"], group["to"], kind, group["change"])
        for group in document["groups"]
        if group["matters"]
        for kind in group["classes"]
    }
    found = {}
    for row in document["matrix"]:
        at, counts = (row["from"], row["to"], row["class"]), row["counts"]
        found[at] = [
            f"{'!' if (*at, change) in bad else ''}{sign}{counts[change]}"
            for change, sign in SIGNS.items()
            if counts.get(change) and change is not VersionChange.EQUAL
        ] or ["="]
    return found


# --- text -------------------------------------------------------------------------------------------


def as_text(drift: Drift, *, every: bool = False, known: Known = frozenset()) -> str:
    """The complete comparison, the decision first and last; with ``every``, each difference instead of one for each
    group.
    """
    decided, document = decision(drift, known), as_json(drift)
    lists = _listed(drift, every=every)
    facts = [f"  {line}" for line in _standing(document)]
    standing = [f"\n{_FACTS}", *facts] if facts else []
    return "\n".join([decided, "", *_head(drift), "", *_matrix(document), *standing, *lists, "", decided])


def decision(drift: Drift, known: Known = frozenset()) -> str:
    """One line: STOP if a difference matters that is not known already, LOOK HERE if a program may notice one, else
    SAFE; with the changes that decide it, and how far the comparison went.
    """
    new = unknown(drift, known)
    noticed = [one for one in drift.differences if not one.matters and _is_noticed(one)]
    excused = f", {matters - len(new)} more are known" if known and (matters := _mattering_count(drift)) else ""
    far = "" if drift.complete else f", as far as {drift.plan.seconds:g} s reached"
    own, read = len(drift.plan.files.files), drift.inputs.get(OWN_KIND, 0)
    if own and not drift.plan.case:
        far = f", with {read} of {own} of your files{far}"
    if new:
        return f"{_STOP}: {_by_change(new)}{excused}{far}"
    if noticed:
        return f"{_LOOK}: nothing that matters changed, but {_by_change(noticed)}{excused}{far}"
    compared = f"{many(drift.writings, 'writing')} and {many(sum(drift.inputs.values()), 'reading')}"
    return f"{_SAFE}: nothing changed that a program or a reader of its bytes notices, in {compared}{excused}{far}"


def _mattering_count(drift: Drift) -> int:
    return sum(difference.matters for difference in drift.differences)


def _is_noticed(one: VersionDifference) -> bool:
    """True for a change of what is written, of what becomes of the user's own data, or of a type in valid bytes.

    A program may depend on it, or another library that reads the bytes.
    """
    return _noticed(one.change, one.kind, one.rules)


def _noticed(change: VersionChange, kind: str, rules: Sequence[object]) -> bool:
    if change is VersionChange.CURED:
        return False
    return kind.startswith(WRITTEN) or kind == OWN_KIND or (change is VersionChange.TYPE and not rules)


def _by_change(differences: Sequence[VersionDifference]) -> str:
    counts = Counter(one.change for one in differences)
    return ", ".join(f"{counts[change]} {change}" for change in VersionChange if counts[change])


def _head(drift: Drift) -> Iterator[str]:
    yield f"pyarrow {' → '.join(drift.versions)}"
    inputs = ", ".join(f"{count} {kind}" for kind, count in drift.inputs.items())
    yield f"seed {drift.plan.seed}: {many(drift.writings, 'writing')} of {many(drift.recipes, 'case')}; read: {inputs}"
    if not drift.complete:
        left = f"{many(drift.left_out, 'writing')} and the last readings" if drift.left_out else "the last readings"
        yield f"{left} were left out after {drift.plan.seconds:g} s"
    for reason in drift.plan.files.left_out:
        yield f"not compared: {reason}"


def _matrix(document: Document) -> Iterator[str]:
    cells, steps = _cells(document), list(pairwise(document["versions"]))
    rows = [["", *(f"{old} → {new}" for old, new in steps)]]
    rows += [["each step", *(_decided(document, step) for step in steps)]]
    rows += [[kind, *(" ".join(cells.get((*step, kind), ())) for step in steps)] for kind in _kinds(document)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(steps) + 1)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
    yield ""
    yield "; ".join(f"{sign} {change}" for change, sign in SIGNS.items()) + "; ! the change matters"


def _decided(document: Document, step: Step) -> str:
    """The decision on one step alone, as :func:`decision` makes it for all: STOP, LOOK HERE or SAFE."""
    found = [group for group in document["groups"] if (group["from"], group["to"]) == step]
    if any(group["matters"] for group in found):
        return _STOP
    noticed = (_noticed(VersionChange(one["change"]), kind, one["rules"]) for one in found for kind in one["classes"])
    return _LOOK if any(noticed) else _SAFE


_FACTS: Final = "Facts about single versions, without drift"


def _standing(document: Document) -> Iterator[str]:
    """Facts about single versions that are not drift: features that they lack, and rules that their output breaks."""
    said: dict[str, list[str]] = {}
    for version in document["versions"]:
        for line in _alone(document, version):
            said.setdefault(line, []).append(version)
    for line, versions in said.items():
        where = "every version" if versions == list(document["versions"]) else ", ".join(versions)
        yield f"{where}: {line}"


def _alone(document: Document, version: str) -> Iterator[str]:
    lacking = ", ".join(text.rpartition(" has no ")[2] for text in document["lacking"][version])
    if lacking:
        yield f"lacks {lacking}: not applicable"
    for rule, cases in document["broken"][version].items():
        yield f"breaks {rule}: {cases[0]}{_more(cases)}"
    if spills := document["spills"][version]:
        yield f"writes memory from outside its buffers: {spills[0]}{_more(spills)}"
    if misread := document["misread"][version]:
        yield f"does not read back what it wrote: {misread[0]}{_more(misread)}"


def _more(cases: Sequence[str]) -> str:
    return f" and {len(cases) - 1} more" if len(cases) > 1 else ""


def _listed(drift: Drift, *, every: bool) -> Iterator[str]:
    found = [DifferenceGroup(one, (one.case,), (one.kind,)) for one in drift.differences] if every else groups(drift)
    for title, matters in (("Differences that matter", True), ("Other differences", False)):
        chosen = [group for group in found if group.first.matters is matters]
        if chosen:
            yield f"\n{title} ({sum(len(group.cases) for group in chosen)})"
        for group in chosen:
            yield from _group(drift, group)


def _group(drift: Drift, group: DifferenceGroup) -> Iterator[str]:
    first = group.first
    yield f"\n  {group.title}"
    yield f"    before  {_short(first.before)}"
    yield f"    after   {_short(first.after)}"
    if first.rules:
        yield f"    breaks  {', '.join(first.rules[:SHOWN])}"
    for place in first.places[:SHOWN]:
        yield f"    bytes   {place.start}..{place.end}{' of the older' if place.gone else ''}  {place.label}"
        if place.old or place.new:
            yield f"            {_short(place.old)} → {_short(place.new)}"
        if place.permitted:
            yield f"            permitted: {place.permitted}"
    if len(first.places) > SHOWN:
        yield f"            and {many(len(first.places) - SHOWN, 'more place')}"
    yield f"    replay  {drift.replay(first)}"


_WIDTH: Final = 160


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


# --- what is known ----------------------------------------------------------------------------------

Known = frozenset[tuple[str, str, str, str]]
"""Differences by older and newer version, change, and case."""


def read_known(path: Path) -> Known:
    """The differences that matter in an earlier report; raises :class:`DriftError` if the file is not a report."""
    try:
        document = parse_object(read_whole(path, LARGEST_TEXT))
        if document["format"] != FORMAT:
            raise DriftError(f"{path}: expected format {FORMAT}, got {document['format']}")
        return frozenset(
            (group["from"], group["to"], group["change"], case)
            for group in document["groups"]
            if group["matters"]
            for case in group["cases"]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DriftError(f"{path}: expected a report of conformance drift --json: {error!r}") from None


def unknown(drift: Drift, known: Known) -> list[VersionDifference]:
    """The differences that matter and are not in the earlier report."""
    return [
        one for one in drift.differences if one.matters and (one.old, one.new, str(one.change), one.case) not in known
    ]


# --- files ------------------------------------------------------------------------------------------


def as_json(drift: Drift) -> dict[str, Any]:
    """The complete comparison without the bytes, in a stable order."""
    return {
        "format": FORMAT,
        "suite": conformance.__version__,
        "decision": decision(drift),
        "head": list(_head(drift)),
        "versions": list(drift.versions),
        "seed": drift.plan.seed,
        "cases": drift.recipes,
        "writings": drift.writings,
        "inputs": dict(drift.inputs),
        "matters": drift.matters,
        "complete": drift.complete,
        "matrix": [
            {
                "from": old,
                "to": new,
                "class": kind,
                "counts": {str(change): counts[change] for change in sorted(counts)},
            }
            for (old, new), kinds in drift.counts.items()
            for kind, counts in kinds.items()
        ],
        "lacking": {version: dict(found) for version, found in drift.lacking.items()},
        "broken": {
            version: {rule: list(cases) for rule, cases in found.items()} for version, found in drift.broken.items()
        },
        "misread": {version: list(found) for version, found in drift.misread.items()},
        "spills": {version: list(found) for version, found in drift.spills.items()},
        "groups": [_grouped(drift, group) for group in groups(drift)],
    }


def _grouped(drift: Drift, group: DifferenceGroup) -> dict[str, Any]:
    first = group.first
    return {
        "from": first.old,
        "to": first.new,
        "change": str(first.change),
        "matters": first.matters,
        "before": first.before,
        "after": first.after,
        "rules": list(map(str, first.rules)),
        "places": [dataclasses.asdict(place) for place in first.places],
        "replay": drift.replay(first),
        "classes": list(group.kinds),
        "cases": list(group.cases),
    }


def write_html(drift: Drift, path: Path) -> None:
    """Write the comparison as one self-contained page."""
    write_whole(path, html(as_json(drift)) + "\n")


def html(document: Document, *, fill: Fill = page) -> str:
    """The page of a comparison, from its JSON form; ``fill`` fills the template."""
    cells, absent = _cells(document), SIGNS[VersionChange.ABSENT]

    def cell(step: Step, kind: str) -> tuple[str, str]:
        shown = [part for part in cells.get((*step, kind), ()) if not part.startswith(absent)]
        text = " ".join(shown)
        return text, "bad" if "!" in text else "same" if text in ("", "=") else "changed"

    return fill(
        "drift",
        document=document,
        head=document["head"],
        verdict=document["decision"],
        steps=[(*step, _decided(document, step)) for step in pairwise(document["versions"])],
        kinds=_kinds(document),
        cell=cell,
        signs={change: sign for change, sign in SIGNS.items() if change is not VersionChange.ABSENT},
        facts=_FACTS,
        standing=list(_standing(document)),
        lists=[
            (title, [group for group in document["groups"] if group["matters"] is matters])
            for title, matters in (("Differences that matter", True), ("Other differences", False))
        ],
        shown=SHOWN,
    )
