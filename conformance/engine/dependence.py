"""Which findings follow from another finding of the same case: the known dependences between clauses.

Each row is known from the format or the contract, and none is derived from a run: two defects that always occur
together stay two. A defect that a refusal causes is :mod:`conformance.engine.refusals`'s.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final

from conformance._globs import matches
from conformance.contract.clause import CLAUSES
from conformance.contract.comparing.declarations import SECOND_FIELD
from conformance.records import Finding, Level

__all__ = ["BYTES", "RESUMED", "ROWS", "Symptom", "causes_within"]


class Place(enum.Enum):
    """What two findings must share, so that one can follow from the other."""

    MESSAGE = "message"
    FIELD = "field"
    RECORD = "record"
    DOUBLED = "doubled"
    UNDESCRIBED = "undescribed"
    MISCOUNTED = "miscounted"
    COUNTER = "counter"
    CALL = "call"
    ENDED = "ended call"
    SESSION = "session"
    CASE = "case"


@dataclasses.dataclass(frozen=True, slots=True)
class Symptom:
    """One finding of a case, or one verdict without a finding; ``deviation`` is the place of its deviation in the
    result, ``session`` the call that created the session of its call.
    """

    case_id: str
    clause: str
    deviation: int
    finding: Finding | None = None
    call: int | None = None
    session: int | None = None


BYTES: Final = ("framing.*", "structure.*", "buffers.*", "body.*", "layouts.*", "dictionary.*", "schema.little-endian")
"""The clauses that say whether a reader can decode a message, from the lowest layer upwards."""

ROWS: Final = ("rows.none-is-missing", "rows.none-is-repeated", "rows.none-is-foreign")
"""The clauses that compare the rows of plain reads with those of the table."""

RESUMED: Final = ("combination.rows-*-place", "combination.streams-*", "combination.readers-*",
                  "combination.none-is-repeated", "history.no-repeated-row", "history.no-reordered-resume")  # fmt: skip
"""The clauses on drawn calls that fail where a read does not resume at its offset."""

# Causes, effects, what they share. Effects of a row may be causes of a later one.
_TABLE: Final[Sequence[tuple[tuple[str, ...], tuple[str, ...], Place]]] = (
    # Several messages, or surplus bytes, where one message belongs: each part of the surplus has a clause.
    (("framing.batch-without-schema", "framing.batch-without-dictionary"),
     ("framing.batch-single-message", "framing.batch-without-end-of-stream"), Place.MESSAGE),
    (("framing.schema-without-batch", "framing.schema-without-dictionary"),
     ("framing.schema-single-message", "framing.schema-without-end-of-stream"), Place.MESSAGE),
    (("responses.stay-within-128-mb",),
     ("framing.batch-without-trailing-bytes", "framing.batch-without-end-of-stream"), Place.MESSAGE),
    (("framing.batch-without-trailing-bytes",),
     ("framing.batch-without-end-of-stream", "body.buffers-inside"), Place.MESSAGE),
    # A message that cannot be walked: what lies behind the fault is a guess.
    (("structure.slots-in-table", "structure.vtable-*", "structure.references-*"),
     ("structure.version-supported",), Place.MESSAGE),
    (("structure.required-slots",), ("framing.schema-header-kind",), Place.MESSAGE),
    (("structure.versions-agree", "framing.schema-without-dictionary"), ("body.buffer-count",), Place.SESSION),
    (("structure.fields-listed",), ("body.*", "layouts.view-buffer-counts", "schema.columns-present"), Place.SESSION),
    (("schema.little-endian",), ("body.*", "layouts.*", "values.*"), Place.SESSION),
    # Nodes and buffers are assigned to columns in order: a wrong count or length shifts those behind it.
    (("body.column-lengths",), ("body.*", "layouts.fixed-size-lists", "values.serialized-rows"), Place.MESSAGE),
    (("body.node-count",), ("body.buffer-count",), Place.MESSAGE),
    (("body.buffer-count",), ("layouts.views-inside",), Place.MESSAGE),
    (("body.null-count-range",), ("body.validity-present", "layouts.union-nulls"), Place.MESSAGE),
    (("body.offsets-not-negative", "body.offsets-within-data"), ("layouts.list-views-inside",), Place.MESSAGE),
    # Values outside of what their type can hold are wrong values, too.
    (("body.text-utf8",), ("values.string", "values.json", "values.geography"), Place.SESSION),
    (("body.times-within-day",), ("values.time",), Place.SESSION),
    (("body.decimals-within-precision",), ("values.numeric", "values.bignumeric"), Place.SESSION),
    (("schema.nullable-nullable", "session.empty-table-yields-nothing"), ("body.required-without-nulls",),
     Place.SESSION),
    (("session.empty-table-yields-nothing",), ("values.*",), Place.SESSION),
    (("body.required-without-nulls",), ("values.nulls", "values.repeated-not-null"), Place.SESSION),
    (("values.date-limits",), ("values.date", "values.range"), Place.SESSION),
    (("values.timestamp-limits",), ("values.timestamp", "values.datetime", "values.range"), Place.SESSION),
    (("types.*",), ("types.known",), Place.FIELD),
    # A column that has another name is missing, and is a field that nobody knows.
    (("schema.columns-present",), ("schema.columns-known",), Place.RECORD),
    # A server that sends another format than it was asked for does so in the schema, in the rows, and in what it says;
    # nobody can count the rows of the format that does not come.
    (("session.schema-is-of-the-format",), ("rows.payload-is-of-the-format", "session.data-format-is-echoed"),
     Place.SESSION),
    (("rows.payload-is-of-the-format",), ("avro.*",), Place.SESSION),
    # A session that lacks a selected column has none of the rows with it, and one without columns has batches of no
    # length.
    (("projection.all-the-selected", "projection.case-does-not-matter", "projection.path-inside-a-selected-record"),
     ("rows.none-is-missing", "rows.every-batch-has-rows"), Place.SESSION),
    # Rows that a read lost or invented are so for every clause that counts them, and wrong values next to them have
    # no row to be compared with.
    (ROWS, ("rows.row-count-is-true", "values.*", "abandon.later-read-is-whole", "responses.*-arrive", "snapshot.*",
            "rows.held-open-*"), Place.SESSION),
    # A table whose columns change, and a read that is held open, have the faults of every table and every read.
    (("schema.columns-*", "values.*"), ("columns.new-session-*", "columns.rows-*", "columns.session-keeps-*"),
     Place.SESSION),
    (("snapshot.*", "columns.*", "values.*"), ("rows.held-open-*",), Place.SESSION),
    (("restriction.*", "projection.filter-may-use-other-columns", "compression.*rows-are-the-same", "snapshot.*",
      "session.*-is-not-ignored"), ("values.*",), Place.SESSION),
    (("session.timestamp-precision-*",), ("schema.*", "types.*", "values.*"), Place.SESSION),
    (("rows.none-is-foreign",), ("rows.none-is-repeated",), Place.SESSION),
    (("values.follow-names", "projection.values-follow-their-names"), ("values.[!f]*",), Place.SESSION),
    (("projection.values-follow-their-names",), ("values.follow-names",), Place.SESSION),
    # One answer with one fault, which several clauses look at.
    (("errors.permanent-one-is-not-unknown",),
     ("errors.*-has-its-code", "errors.unrecorded-refusal-has-a-fitting-code", "offsets.*-has-its-code",
      "split.*-has-its-code"), Place.CALL),
    # A server that fails on the way names nothing.
    (("errors.message-says-something", "errors.permanent-one-is-not-*"), ("errors.*-is-named",), Place.CALL),
    # A read that begins elsewhere says so of its progress.
    (("offsets.*", "split.child-resumes"), ("rows.progress-is-a-fraction",), Place.CALL),
    # An answer without an end is what the clauses say that the call did not end.
    (("calls.stay-within-reason",), ("*",), Place.ENDED),
    (("abandon.later-calls-end-in-time",), ("calls.end-in-time",), Place.CALL),
    (("restriction.*-is-refused",), ("restriction.bad-one-yields-no-rows",), Place.CASE),
    (("projection.only-the-selected", "projection.all-the-selected"), ("projection.case-does-not-matter",),
     Place.CALL),
    (("session.stream-names-differ",), ("session.streams-stay-below-the-maximum",), Place.CALL),
    (("session.streams-stay-below-a-thousand",), ("calls.stay-within-reason",), Place.CASE),
    (("split.children-have-names-of-their-own",), ("split.splitting-ends",), Place.CASE),
    # A drawn history of calls judges again what other clauses judge, and one wrong row in many ways.
    ((*ROWS, "rows.*-repeats", "values.*", "restriction.[!m]*", "projection.values-*"), ("combination.*", "history.*"),
     Place.CASE),
    (("offsets.*",), RESUMED, Place.CASE),
    (("split.*",), ("combination.children-*", "history.no-lost-row"), Place.CASE),
    (("rows.none-is-missing",), ("split.children-are-*", "split.parent-is-unchanged"), Place.CASE),
    (("snapshot.*",), ("combination.rows-are-*", "history.no-early-row", "history.no-torn-session"), Place.CASE),
    (("rows.none-is-repeated",), ("rows.streams-are-disjoint",), Place.CASE),
    # Readers cannot do better than the bytes.
    *(((layer,), ("readers.*",), Place.SESSION) for layer in BYTES),
    # Some keep one column of each name, and others refuse a name that comes twice.
    (("schema.columns-known", "projection.order-is-the-tables", "projection.case-does-not-matter"), ("readers.*",),
     Place.DOUBLED),
    (("rows.first-response-has-the-schema",), ("readers.read-*",), Place.UNDESCRIBED),
    (("rows.row-count-is-true",), ("readers.read-*",), Place.MISCOUNTED),
    # One number, which a server writes into both fields that have a place for it.
    (("rows.row-count-is-true",), ("rows.deprecated-count-is-zero-or-true",), Place.COUNTER),
    (("readers.[!a]*",), ("readers.agree",), Place.SESSION),
)  # fmt: skip


def _record(one: Symptom) -> Hashable:
    """The call, and the path of the record that the field of a finding is in."""
    if one.finding is None or not one.finding.field:
        return None
    return one.call, one.finding.field.rpartition(".")[0]


def _sees_a_name_twice(one: Symptom) -> bool:
    """True of a finding that a name comes twice, and of each finding on a reader."""
    return one.clause.startswith("readers.") or (one.finding is not None and SECOND_FIELD in one.finding.observed)


def _naming(pattern: str) -> Callable[[Symptom], Hashable]:
    """The session of a finding; of one on a reader only if its error names the thing."""
    told = re.compile(pattern, re.IGNORECASE)

    def key(one: Symptom) -> Hashable:
        silent = one.clause.startswith("readers.") and not (one.finding and told.search(one.finding.observed))
        return None if silent else one.session

    return key


_KEYS: Final[Mapping[Place, Callable[[Symptom], Hashable]]] = {
    Place.MESSAGE: lambda one: None if one.finding is None else (one.call, one.finding.response),
    Place.FIELD: lambda one: (one.call, one.finding.field) if one.finding is not None and one.finding.field else None,
    Place.RECORD: _record,
    Place.DOUBLED: lambda one: one.session if _sees_a_name_twice(one) else None,
    Place.UNDESCRIBED: _naming("schema"),
    Place.MISCOUNTED: _naming("row.?count|num_items"),
    Place.COUNTER: lambda one: None if one.finding is None else (one.call, one.finding.response, one.finding.observed),
    Place.CALL: lambda one: one.call,
    Place.ENDED: lambda one: one.call if one.finding is None or one.clause.startswith("calls.") else None,
    Place.SESSION: lambda one: "" if one.session is None else one.session,
    Place.CASE: lambda one: one.case_id,
}


@functools.cache
def _causes_of(effect: str, present: frozenset[str]) -> tuple[tuple[str, Place], ...]:
    """The clauses among ``present`` from which a finding of ``effect`` can follow, with what they have to share."""
    found = []
    for causes, effects, place in _TABLE:
        if matches(effect, effects):
            found += [(one, place) for one in CLAUSES if one in present and one != effect and matches(one, causes)]
    if not effect.startswith("readers."):
        return tuple(found)
    # Readers accept most bytes that only SHOULD be otherwise; a clause says if they do not.
    return tuple(
        (one, place)
        for one, place in found
        if CLAUSES[one].level is Level.MUST or CLAUSES[one].breaks or place is Place.DOUBLED
    )


def causes_within(symptoms: Iterable[Symptom]) -> dict[Symptom, Symptom]:
    """For each symptom of one case the one from which it follows in the end; itself if it follows from none."""
    by_clause: dict[str, list[Symptom]] = {}
    for one in symptoms:
        by_clause.setdefault(one.clause, []).append(one)
    present = frozenset(by_clause)
    parents: dict[Symptom, Symptom] = {}
    for clause, members in by_clause.items():
        for cause, place in _causes_of(clause, present):
            key = _KEYS[place]
            there = {key(one): one for one in reversed(by_clause[cause])}
            for one in members:
                if one not in parents and key(one) is not None and key(one) in there:
                    parents[one] = there[key(one)]
    return {one: _first(one, parents) for members in by_clause.values() for one in members}


def _first(symptom: Symptom, parents: Mapping[Symptom, Symptom]) -> Symptom:
    seen = {symptom}
    while (parent := parents.get(symptom)) is not None and parent not in seen:
        seen.add(parent)
        symptom = parent
    return symptom
