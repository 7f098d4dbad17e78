"""Which groups of findings follow from a fault that shows nearly wherever a run could show it.

:mod:`conformance.engine.dependence` decides within a case. Across cases, a fault in part of what a server does is
explained by a fault in all of it: if every resumed read begins at the first row, then so do those of Avro, of the
children of a split and of each drawn history. Each row of the table is known from the contract; what a run shows is
only whether the fault is so general that nothing else can be said of its effects.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from conformance._globs import matches
from conformance.contract.clause import CLAUSES
from conformance.engine.dependence import RESUMED, ROWS, Symptom
from conformance.engine.events import CaseJudged
from conformance.engine.result import NOT_JUDGED, Result
from conformance.engine.sharing import MOSTLY, led
from conformance.records import BqType

__all__ = ["DRAWN", "explained"]

MEETING: Final = 0.5
"""As ``MOSTLY``, of the cases in which features meet, if the causes fail in no other case."""

DRAWN: Final = ("combination.*", "history.*")
"""The clauses on drawn histories of calls, which judge again what other chapters judge alone."""

COMPARING: Final = (
    "rows.row-count-is-true", "rows.query-result-is-the-table", "rows.*-repeats", "rows.streams-are-disjoint",
    "projection.values-*", "offsets.*", "snapshot.*-rows-*", "snapshot.rereading-repeats", "snapshot.time-is-honoured",
    "split.child*", "split.parent-*", "split.beyond-*", "sample.*", "compression.*rows-are-the-same", "avro.*",
    "avro-*", "columns.rows-*", "columns.session-keeps-*", "rows.held-open-*", *DRAWN,
)  # fmt: skip
"""The clauses that compare rows with others, and fail where the rows themselves are wrong."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Row:
    """``causes`` explain ``effects``; the first of them leads. With ``each``, one that fails everywhere is enough.

    They explain a drawn case only if its requests or its table have one of the features ``on``, if there are any, and
    a finding only if the expression ``said`` is found in its text.
    They explain no finding in a case whose requests and table have none of the features ``of``, if there are any.
    They lead from so large a ``part`` of the cases on that could show them; with 0, one failure is enough.
    With ``alike``, the findings of what leads have to match ``said``, too.
    With ``meet``, the causes that fail only in cases with a request that has all of these features are enough, if some
    of the other cases could show them. They explain what is found in such cases alone.
    """

    causes: tuple[str, ...]
    effects: tuple[str, ...]
    on: tuple[str, ...] = ()
    each: bool = False
    said: str = ""
    meet: tuple[str, ...] = ()
    part: float | None = None
    alike: bool = False
    of: tuple[str, ...] = ()


_OFFSETS: Final = ("offsets.inside-a-response", "offsets.between-responses", "offsets.last-row",
                   "offsets.end-yields-nothing", "avro.offset-leaves-the-rest", "split.child-resumes")  # fmt: skip
_FILTERS: Final = (
    *(f"restriction.{name}" for name in ("comparison", "and-or", "not", "in-list", "between", "is-null", "like")),
    "restriction.double-quoted-literal", "restriction.temporal-literal", "restriction.nested-field",
    "restriction.nothing-selected", "restriction.null-is-not-true", "projection.filter-may-use-other-columns",
    "restriction.function",
)  # fmt: skip
_UNKNOWN: Final = tuple(
    f"errors.{name}-is-refused" for name in ("unknown-stream", "unknown-session", "malformed-stream")
)

_MISPLACED: Final = (
    "offsets.*", "avro.offset-*", "split.child-resumes", "split.beyond-*", "combination.children-*",
    "combination.permitted-request-is-served", *RESUMED,
)  # fmt: skip
"""The clauses that fail where an offset is not the place that it names. The end of a stream, too, is elsewhere then, so
that a read from there ends in a status that is right beyond the end; any other refusal is a cause of its own."""
_ITEM: Final = r" item \d"
"""What the text of a finding says of a place inside a list."""
_CHILD: Final = "the child of a split stream"

_TABLE: Final[Sequence[_Row]] = (
    # A restricted session without streams lacks its rows for the reason for which a plain one does.
    _Row(("session.rows-have-a-stream",), (*_FILTERS, "restriction.keyword-*", *DRAWN), said="^no streams", part=0),
    # Bytes that cannot be decoded, and rows that are not those of the table, are wrong for whoever compares rows.
    _Row(("body.node-count", "body.column-lengths"), ("body.*", "layouts.*", "values.*", *COMPARING), each=True),
    _Row(("framing.batch-without-trailing-bytes",), ("body.buffers-inside", "framing.batch-without-end-*"), part=0.5),
    _Row(("body.null-count-range",), ("body.validity-present", "body.null-count-matches"), part=0.5),
    _Row(("schema.little-endian",), ("body.*", "values.*", *COMPARING)),
    *(_Row((clause,), (*ROWS[place + 1:], "values.*", *COMPARING)) for place, clause in enumerate(ROWS)),
    _Row(("values.follow-names", "projection.values-follow-their-names"),
         ("values.*", "projection.values-follow-their-names", *DRAWN)),
    _Row(ROWS[:1], _FILTERS, said="missing"),
    # Rows that are in none of a session's streams are missing from each session with several, whatever it asks for.
    _Row(ROWS[:1],
         (*_FILTERS, "restriction.keyword-*", "compression.*rows-are-the-same", "snapshot.earlier-rows-are-there",
          "combination.none-is-missing", "history.no-lost-row"),
         said="missing|in no stream|does not come", meet=("max_stream_count above 1",), part=0),
    # Lists with other items: their rows are not found again, neither by their number nor by what is in them.
    _Row(("values.repeated",), (*ROWS, *COMPARING, *_FILTERS), said="missing|others|more|not in", part=0.5,
         of=("REPEATED columns",)),
    _Row(("values.[!r]*",), ("values.[!r]*",), said=_ITEM, part=0, alike=True),
    _Row(ROWS[1:2], _FILTERS, said="once more"),
    *(_Row((f"values.{one.lower()}",), DRAWN, (f"columns of type {one}",)) for one in BqType),
    _Row(("values.nulls",), DRAWN),
    # Restrictions that are ignored are so where they compare NULL, too, whatever is wrong with NULLs.
    _Row(("session.restriction-is-not-ignored", *_FILTERS), (*_FILTERS, "restriction.*", *DRAWN), ("row_restriction",)),
    # A column whose NULLs are other values is compared as these; columns of other types may be right.
    _Row(("values.nulls",), _FILTERS, said="compares NULL", part=0.2),
    _Row(("values.nulls",), ("combination.rows-are-the-sessions",), said="other row", part=0.2),
    _Row(("values.repeated*",), DRAWN, each=True, of=("REPEATED columns",)),
    # Columns that the schema renames, adds or loses are so for a projection, too.
    _Row(("structure.strings-*", "structure.fields-listed", "schema.columns-*", "schema.names"),
         ("projection.only-the-selected", "projection.all-the-selected", "projection.order-is-the-tables",
          "projection.case-does-not-matter"), each=True),
    _Row(("schema.order",), ("projection.order-is-the-tables",)),
    _Row(("schema.metadata-*",), ("schema.metadata-*",)),
    # A server that knows no time zone has none in a RANGE.
    _Row(("types.timestamp-utc",), ("types.range",), said=r"timestamp\[us\]"),
    # Columns in the order in which they are selected are so inside of a record, too.
    _Row(("projection.order-is-the-tables",), ("projection.*-record*",), said="in another order", part=0),
    # A record that comes whole whatever is selected of it does so for several paths, too.
    _Row(("projection.nested-path-keeps-its-record",), ("projection.paths-into-one-record-merge",)),
    # An option that is ignored is ignored in all of its forms.
    _Row(_OFFSETS, _MISPLACED, ("an offset", _CHILD)),
    # Offsets that count the rows before a restriction, or are lost on the way to it, are so at every place.
    _Row(_OFFSETS, _MISPLACED, meet=("row_restriction", "an offset")),
    # Offsets that count from the first row of the session are right in its first stream alone.
    _Row(_OFFSETS, (*_MISPLACED, "rows.progress-*", "history.no-lost-row"),
         meet=("an offset", "a stream after the first")),
    _Row(("split.child-resumes",), ("combination.children-*", *RESUMED), (_CHILD,)),
    _Row(("offsets.beyond-the-end-has-its-code",), ("split.beyond-the-child-has-its-code",)),
    _Row(("offsets.beyond-the-end-is-refused",), ("combination.beyond-the-end-*", "split.beyond-the-child-is-refused")),
    _Row(_FILTERS, ("session.restriction-is-not-ignored",)),
    _Row(("restriction.null-is-not-true",), (*_FILTERS, "restriction.[!m]*"), said="compares NULL", part=0),
    _Row(("session.projection-is-not-ignored",), ("projection.*",)),
    _Row(("projection.only-the-selected",), ("session.projection-is-not-ignored",)),
    _Row(("split.request-is-not-ignored",), ("split.children-are-the-parent", "split.splitting-ends", *DRAWN),
         ("a split", _CHILD)),
    _Row(("restriction.*-is-refused",), ("restriction.*-is-refused", "restriction.bad-one-yields-no-rows")),
    _Row(("snapshot.time-is-honoured",), ("snapshot.*", "session.snapshot-time-is-not-ignored", *DRAWN),
         ("snapshot_time",)),
    _Row(("snapshot.later-rows-stay-out", "snapshot.earlier-rows-are-there"), ("snapshot.*", *DRAWN), each=True),
    # A stream that grows has another end, and other rows when it is read again.
    _Row(("snapshot.later-rows-stay-out",), ("split.parent-*", "split.beyond-*", "offsets.*"), each=True,
         of=("rows appended while it is read",)),
    _Row(("split.children-are-the-parent",), ("split.*", *DRAWN), ("a split", _CHILD)),
    _Row(_UNKNOWN, (*_UNKNOWN, "errors.split-of-unknown-stream-is-refused")),
    _Row(("avro-schema.decimals-are-declared",), ("avro-schema.types-are-the-columns",), said="^bytes,", part=0),
    # A codec that is always there is there where another one was asked for.
    _Row(("compression.none-without-asking",), ("compression.codec-is-the-one-asked-for",)),
    # Rows that a codec loses are lost wherever a session asks for it, and its streams end earlier.
    _Row(("compression.*rows-are-the-same",), ("offsets.*", "combination.none-is-missing", "history.no-lost-row"),
         ("buffer_compression", "response_compression")),
    _Row(("avro.counts-are-the-rows",), ("avro.offset-leaves-the-rest",)),
)  # fmt: skip


def explained(result: Result, groups: Mapping[str, Sequence[Symptom]]) -> dict[str, str]:
    """For the key of each group that follows from a widespread fault the key of the group that leads there.

    A group follows as a whole or not at all: each of its findings follows from a group, and that of most leads. Of
    several from which a finding could follow the first row decides.
    """
    failing = _failing(groups.values())
    has = {case.case_id: _features(case) for case in result.cases} if failing else {}
    clauses = tuple(CLAUSES)
    parents = led(result, groups)
    leads: dict[str, dict[int, str]] = {key: {} for key in groups}
    for row in _TABLE:
        # Which clauses the globs match is asked last: it takes all clauses, and most rows have none that fails.
        if not any(matches(clause, row.causes) for clause in failing):
            continue
        order = _matching(row.causes, clauses)
        if failing.keys().isdisjoint(order):
            continue
        met = _meeting(row, result)
        leading = _leading(row, order, failing, result, groups)
        for place, lead in enumerate(leading):
            above = {lead, *leading[:place]}
            for key, symptoms in groups.items():
                if key in above or key in parents or _last(lead, parents) == key:
                    continue
                found = leads[key] = {at: one for at, one in leads[key].items() if _last(one, parents) != key}
                for at, one in enumerate(symptoms):
                    if at not in found and one.case_id in met and _follows(row, one, has):
                        found[at] = lead
                if len(found) == len(symptoms):
                    parents[key] = Counter(found.values()).most_common(1)[0][0]
    return {key: _last(lead, parents) for key, lead in parents.items()}


def _failing(groups: Iterable[Sequence[Symptom]]) -> Mapping[str, Collection[str]]:
    """The cases in which each clause fails."""
    found: dict[str, set[str]] = {}
    for one in itertools.chain.from_iterable(groups):
        found.setdefault(one.clause, set()).add(one.case_id)
    return found


@functools.lru_cache(maxsize=256)
def _matching(globs: tuple[str, ...], clauses: tuple[str, ...]) -> tuple[str, ...]:
    """The clauses that globs match, in the order of the globs. Every report asks this of each row."""
    return tuple(dict.fromkeys(clause for glob in globs for clause in clauses if matches(clause, (glob,))))


def _leading(
    row: _Row,
    order: Sequence[str],
    failing: Mapping[str, Collection[str]],
    result: Result,
    groups: Mapping[str, Sequence[Symptom]],
) -> list[str]:
    """The keys of the groups with findings of a row's causes, the plainest first; none unless they are widespread.

    ``order`` are the clauses of the causes, and ``failing`` the cases in which a clause fails.
    """
    wide = _only_there(row, order, failing, result) if row.meet else _everywhere(row, order, failing, result)
    led = (
        key
        for clause in order
        if clause in wide
        for key in groups
        if _has(groups[key], clause) and not (row.alike and _others(groups[key], row.said))
    )
    return list(dict.fromkeys(led))


def _everywhere(
    row: _Row, order: Sequence[str], failing: Mapping[str, Collection[str]], result: Result
) -> Collection[str]:
    """The causes of a row that fail nearly wherever they could."""
    judged = {
        clause: sum(n for outcome, n in result.by_clause.get(clause, {}).items() if outcome not in NOT_JUDGED)
        for clause in order
    }
    found: set[str] = set()
    for part in [{clause} for clause in order] if row.each else [set(order)]:
        could, do = (sum(of) for of in ((judged[one] for one in part), (len(failing.get(one, ())) for one in part)))
        if could and do >= max(could * (MOSTLY if row.part is None else row.part), 1):
            found |= part
    return found


def _only_there(
    row: _Row, order: Sequence[str], failing: Mapping[str, Collection[str]], result: Result
) -> Collection[str]:
    """The causes of a row that fail only where features meet; none unless they do so often, and pass elsewhere."""
    met = _meeting(row, result)
    found = {clause for clause in order if failing.get(clause) and met.issuperset(failing[clause])}
    judged = {
        case.case_id
        for case in result.cases
        if any(one.clause in found and one.outcome not in NOT_JUDGED for one in case.verdicts)
    }
    bad = {case_id for clause in found for case_id in failing[clause]}
    part = MEETING if row.part is None else row.part
    return found if judged - met and len(judged & met) * part <= len(bad) else ()


def _meeting(row: _Row, result: Result) -> frozenset[str]:
    """The cases with a request that has all features of a row that have to meet; every case if there are none."""
    return frozenset(
        case.case_id
        for case in result.cases
        if not row.meet or any(set(row.meet).issubset(one.asked) for one in case.requests)
    )


def _has(symptoms: Sequence[Symptom], clause: str) -> bool:
    return any(one.clause == clause for one in symptoms)


def _others(symptoms: Sequence[Symptom], said: str) -> bool:
    return any(one.finding is None or not re.search(said, one.finding.observed) for one in symptoms)


def _features(case: CaseJudged) -> frozenset[str]:
    """What the requests of a case ask for, and what its table has."""
    return frozenset(
        (*(one for call in case.requests for one in call.asked), *(case.shape.has if case.shape is not None else ()))
    )


def _follows(row: _Row, one: Symptom, has: Mapping[str, frozenset[str]]) -> bool:
    return (
        one.finding is not None
        and matches(one.clause, row.effects)
        and re.search(row.said, one.finding.observed) is not None
        and not (row.on and matches(one.clause, DRAWN) and has[one.case_id].isdisjoint(row.on))
        and not (row.of and has[one.case_id].isdisjoint(row.of))
    )


def _last(key: str, parents: Mapping[str, str]) -> str:
    seen = {key}
    while (parent := parents.get(key)) is not None and parent not in seen:
        seen.add(parent)
        key = parent
    return key
