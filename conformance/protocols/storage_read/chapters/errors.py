"""How a server refuses: with the code of the reason, and never with a code that suggests a retry.

Each bad request is a step with a reason class. A refusal counts only for its reason, and the step lists the codes
that the contract permits for it. The chapters on projection, restriction, snapshots, offsets, splits and compression
judge whether their bad requests are refused; this chapter judges the codes of those refusals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from conformance.contain.text import many, safe
from conformance.contract.clause import Violation, clause
from conformance.contract.sources import (
    BAD_FILTER,
    BAD_PARENT,
    ERROR_GUIDE,
    EXPIRED_SESSION,
    GUIDE,
    LONG_FILTER,
    MEASURED,
    MISSING_TABLE,
    NODE_LIVE_TEST,
    PARTITION_FILTER,
    PERMANENT_AS_UNKNOWN,
    PREFERRED_STREAMS,
    RPC_CODES,
    STORAGE_PROTO,
    STREAM_PROTO,
    UNSPECIFIED_FORMAT,
    VIEW_READ,
    Inferred,
    Sources,
)
from conformance.contract.subjects import answered
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.chapters.restriction import BAD_RESTRICTIONS
from conformance.protocols.storage_read.contract.endings import refuses
from conformance.protocols.storage_read.contract.subjects import refused_as, to_refuse
from conformance.protocols.storage_read.contract.view import ReadView, SessionView, SplitView, StorageCall, StorageView
from conformance.records import CreateSession, Level

RETRYABLE: Final = frozenset(
    {"UNAVAILABLE", "INTERNAL", "ABORTED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "CANCELLED"}
)
"""Codes on which at least one client of the service retries."""


# --- every refusal --------------------------------------------------------------------------------


@once_per_view
def _refusals(view: StorageView) -> list[StorageCall]:
    """Return the refusals of calls that had to be refused, or that the contract permits a server to refuse."""
    open_ones = [call for call in view.calls if answered(call) and "OK" in call.expected_codes[:-1]]
    return [call for call in (*to_refuse(view), *open_ones) if call.raw.status != "OK"]


@clause(
    "errors.permanent-one-is-not-unknown",
    over=_refusals,
    source=PERMANENT_AS_UNKNOWN,
    breaks="python-bigquery-storage treats UNKNOWN as a lost connection and resumes without end (from its source)",
)
def permanent_one_is_not_unknown(call: StorageCall) -> Iterator[Violation]:
    """A request that can never succeed does not end in UNKNOWN, the code of an unclassified error."""
    if call.raw.status == "UNKNOWN":
        yield Violation("a status other than UNKNOWN", f"UNKNOWN: {call.raw.details}")


@clause(
    "errors.permanent-one-is-not-retryable",
    over=_refusals,
    source=RPC_CODES,
    breaks="Go, Node and Java clients retry until their deadline of minutes or hours (from their source)",
)
def permanent_one_is_not_retryable(call: StorageCall) -> Iterator[Violation]:
    """A request that can never succeed does not end in a code on which clients retry."""
    if call.raw.status in RETRYABLE:
        yield Violation(_codes(call), f"{call.raw.status}: {call.raw.details}")


@clause("errors.message-says-something", over=_refusals, source=ERROR_GUIDE, level=Level.MAY)
def message_says_something(call: StorageCall) -> Iterator[Violation]:
    """A refusal has a message for people: a bare code does not show them what was wrong."""
    if not call.raw.details.strip():
        yield Violation("a message", f"no message with the status {call.raw.status!r}")


@clause(
    "errors.refused-read-has-no-rows",
    over=lambda view: [call for call in _refusals(view) if isinstance(call, ReadView)],
    source=(Inferred(STORAGE_PROTO), MEASURED),
    breaks="clients that pass on rows as they arrive",
)
def refused_read_has_no_rows(call: StorageCall) -> Iterator[Violation]:
    """A read that is refused delivers no response before its final status."""
    if call.raw.responses:
        yield Violation("no responses", f"{many(len(call.raw.responses), 'response')} before {call.raw.status}")


def _codes(call: StorageCall) -> str:
    return " or ".join(call.expected_codes)


# --- requests that have to be refused -------------------------------------------------------------


# A table, one row per clause: id, calls, source, the request as findings name it, explanation, affected software.
# fmt: off
refuses("errors.unspecified-format-is-refused", refused_as("data-format-unspecified"), UNSPECIFIED_FORMAT,
  "data_format unspecified",
  "A request without a data format is refused: there is no default format.",
  breaks="programs that do not set the format: they fail on the service only")
refuses("errors.bad-parent-is-refused", refused_as("bad-parent"), BAD_PARENT,
  lambda call: f"parent {call.request.parent!r}",
  """A parent that is not ``projects/{project}`` is refused.

  The parent names the project that pays and whose quota applies. A server that accepts anything hides a bug of a
  client, which would fail at once on the service.
  """)
refuses("errors.malformed-table-is-refused", refused_as("malformed-table"), STREAM_PROTO,
  lambda call: f"table {_table(call)!r}",
  "A table that is not ``projects/*/datasets/*/tables/*`` is refused, even if a server could guess its meaning.",
  level=Level.SHOULD)
refuses("errors.missing-table-is-refused", refused_as("missing-table"), MISSING_TABLE,
  lambda call: f"the table {_table(call)!r}, which does not exist",
  "A table that does not exist is refused: a session without streams would look like an empty table.",
  breaks="every client: a misspelt name gives an empty result")
refuses("errors.view-is-refused", refused_as("view"), (GUIDE, MEASURED, VIEW_READ),
  lambda call: f"the view {_table(call)!r}",
  """A view is refused, logical or materialized: the Storage Read API reads tables only.

  Clients run a query of a view and read its result. A server that serves views hides that a program does not.
  """, level=Level.SHOULD, breaks="programs that read views: they fail on the service only")
refuses("errors.partition-filter-is-required", refused_as("no-partition-filter"), PARTITION_FILTER,
  lambda call: f"a table with requirePartitionFilter, and the restriction {_restriction(call)!r}",
  "A table that requires a filter on its partitions is refused without one, also with a filter on another column.",
  level=Level.SHOULD, breaks="programs without such a filter: they fail on the service only")
refuses("errors.preferred-above-maximum-is-refused", refused_as("preferred-exceeds-max"), PREFERRED_STREAMS,
  lambda call: (
    f"preferred_min_stream_count {call.request.preferred_min_stream_count}, "
    f"max_stream_count {call.request.max_stream_count}"
  ),
  "A ``preferred_min_stream_count`` above ``max_stream_count`` is refused.")
refuses("errors.negative-stream-count-is-refused", refused_as("negative-stream-count"), STORAGE_PROTO,
  lambda call: f"max_stream_count {call.request.max_stream_count}",
  """A negative ``max_stream_count`` is refused: the value has to be non-negative.

  The answer of the service is not recorded, and no client is known that sends one.
  """, level=Level.SHOULD)
refuses("errors.expired-session-is-refused", refused_as("expired-session"), (EXPIRED_SESSION, STREAM_PROTO),
  "a read of a session whose expire_time has passed",
  "A read is refused after its session has expired, even if it resumes one that began before.",
  breaks="clients whose rows then depend on how long they took")
refuses("errors.long-trace-id-is-refused", refused_as("long-trace-id"), STREAM_PROTO,
  lambda call: f"a trace_id of {len(call.request.read_session.trace_id)} characters",
  "A ``trace_id`` of more than 256 bytes is refused: the proto sets that limit.", level=Level.SHOULD)
refuses("errors.unknown-stream-is-refused", refused_as("unknown-stream"), (Inferred(STORAGE_PROTO), EXPIRED_SESSION),
  lambda call: f"the stream {_stream(call)!r}, which its session does not have",
  "A stream that its session does not have is refused: an empty answer would look like the end of the stream.",
  breaks="clients read nothing, or the rows of another stream")
refuses("errors.unknown-session-is-refused", refused_as("unknown-session"), (Inferred(STORAGE_PROTO), EXPIRED_SESSION),
  lambda call: f"the stream {_stream(call)!r} of no session",
  "A stream of a session that never existed is refused; above all, the server does not invent a schema.")
refuses("errors.malformed-stream-is-refused", refused_as("malformed-stream"), STORAGE_PROTO,
  lambda call: f"the stream {_stream(call)!r}",
  "A stream name that is not ``projects/*/locations/*/sessions/*/streams/*`` is refused.", level=Level.SHOULD)
refuses("errors.split-of-unknown-stream-is-refused", refused_as("split-unknown-stream"), Inferred(STORAGE_PROTO),
  lambda call: f"a split of {call.request.name!r}, which does not exist",
  "A split of a stream that does not exist is refused, and gives no children.", level=Level.SHOULD)
# fmt: on


def _table(call: StorageCall) -> str:
    return str(call.request.read_session.table)


def _restriction(call: StorageCall) -> str:
    return str(call.request.read_session.read_options.row_restriction)


def _stream(call: StorageCall) -> str:
    return call.stream if isinstance(call, ReadView) else ""


# --- codes ----------------------------------------------------------------------------------------


def _classified(*reasons: str) -> Callable[[StorageView], list[StorageCall]]:
    """Return a selector of refusals for one of ``reasons`` with a code that blames the request.

    A server that has no splits says so whatever the request is: such a refusal is for another reason.
    """
    select = refused_as(*reasons)
    return lambda view: [
        call
        for call in select(view)
        if call.raw.status not in RETRYABLE
        and call.raw.status not in ("OK", "UNKNOWN")
        and not (isinstance(call, SplitView) and call.lacking)
    ]


def _has_its_code(
    clause_id: str, reasons: Sequence[str], source: Sources, says: str, *, breaks: str = "", level: Level = Level.MUST
) -> None:
    """Register the clause that refusals for one of ``reasons`` have a code that the contract permits."""

    def check(call: StorageCall) -> Iterator[Violation]:
        if call.raw.status not in call.expected_codes:
            yield Violation(_codes(call), f"{call.raw.status}: {call.raw.details}")

    clause(clause_id, over=_classified(*reasons), source=source, level=level, breaks=breaks, says=says)(check)


# A table, one row per clause: id, reasons, source, explanation, affected software.
# fmt: off
_has_its_code("errors.unspecified-format-has-its-code", ["data-format-unspecified"], UNSPECIFIED_FORMAT,
  """A request without a data format is refused with INVALID_ARGUMENT, as by the service.

  A client can distinguish the mistake in its request from a missing table or a server that is down.
  """)
_has_its_code("errors.bad-parent-has-its-code", ["bad-parent"], BAD_PARENT,
  "A parent that is not a project is refused with INVALID_ARGUMENT: the request is wrong, not the project.")
_has_its_code("errors.missing-table-has-its-code", ["missing-table"], MISSING_TABLE,
  "A table that does not exist is refused with NOT_FOUND, or with PERMISSION_DENIED to hide whether it exists.",
  breaks="clients that create a table if it does not exist")
_has_its_code("errors.table-kind-has-its-code", ["view", "no-partition-filter"], (MEASURED, PARTITION_FILTER),
  "A view, and a table without the filter that it requires, are refused with INVALID_ARGUMENT, as by the service.",
  level=Level.SHOULD)
_has_its_code("errors.unknown-column-has-its-code", ["unknown-column"], NODE_LIVE_TEST,
  "A selected field that does not exist is refused with INVALID_ARGUMENT: the request is wrong, not the table.")
_has_its_code("errors.bad-restriction-has-its-code",
  [reason for reason in BAD_RESTRICTIONS if reason != "restriction-too-long"], BAD_FILTER,
  """A restriction that cannot be applied is refused with INVALID_ARGUMENT, whatever its defect.

  NOT_FOUND would mean that the table is missing, and a code for a failure of the server that a retry may help.
  """)
_has_its_code("errors.long-restriction-has-its-code", ["restriction-too-long"], LONG_FILTER,
  "A restriction above the limit is refused with INVALID_ARGUMENT, not with RESOURCE_EXHAUSTED: no retry can succeed.")
_has_its_code("errors.preferred-above-maximum-has-its-code", ["preferred-exceeds-max"], PREFERRED_STREAMS,
  "A preferred minimum of streams above the maximum is refused with INVALID_ARGUMENT: the two contradict each other.")
_has_its_code("errors.snapshot-outside-window-has-its-code", ["snapshot-outside-window"], MEASURED,
  "A snapshot time outside the time travel window is refused with INVALID_ARGUMENT, as measured on the service.",
  level=Level.SHOULD)
_has_its_code("errors.expired-session-has-its-code", ["expired-session"], EXPIRED_SESSION,
  "A read of a session that has expired is refused with FAILED_PRECONDITION, as by the service.",
  breaks="Spark, which looks for this code and a text (from its source)")
_has_its_code("errors.unrecorded-refusal-has-a-fitting-code",
  ["malformed-table", "negative-stream-count", "long-trace-id", "unknown-stream", "unknown-session", "malformed-stream",
   "split-unknown-stream", "split-fraction-outside", "split-fraction-no-number", "both-compressions",
   "negative-offset", "sample-outside"],
  Inferred(STORAGE_PROTO),
  """A bad request whose refusal by the service is not publicly recorded is refused with a fitting code.

  INVALID_ARGUMENT, NOT_FOUND and similar codes fit; UNAUTHENTICATED means something else, and so does UNIMPLEMENTED,
  unless the server has no such method.
  """, level=Level.SHOULD)
# fmt: on


# --- texts ----------------------------------------------------------------------------------------


@clause(
    "errors.unknown-column-is-named",
    over=lambda view: [call for call in _refusals(view) if call in refused_as("unknown-column")(view)],
    source=NODE_LIVE_TEST,
    level=Level.MAY,
    breaks="no program; people lose time",
)
def unknown_column_is_named(call: StorageCall) -> Iterator[Violation]:
    """The refusal of unknown columns names one of them, as the service does."""
    assert isinstance(call, SessionView)
    known = {column.name.casefold() for column in call.columns}
    unknown = [name for name in call.step.selected_fields if name.partition(".")[0].casefold() not in known]
    if unknown and not any(safe(name) in call.raw.details for name in unknown):
        yield Violation(f"a message with {unknown[0]!r}", repr(call.raw.details))


@clause(
    "errors.missing-table-is-named",
    over=lambda view: [call for call in _refusals(view) if call in refused_as("missing-table")(view)],
    source=MISSING_TABLE,
    level=Level.MAY,
    breaks="no program; people lose time",
)
def missing_table_is_named(call: StorageCall) -> Iterator[Violation]:
    """The refusal of a table that does not exist names it, as the service does.

    Where its dataset does not exist either, the name of the dataset is enough.
    """
    _, _, _, dataset, _, table = _table(call).split("/")
    # A case leaves what exists to the target, in braces, and writes out what does not.
    lacks_dataset = isinstance(call.step, CreateSession) and "{dataset}" not in call.step.table
    names = [table, dataset] if lacks_dataset else [table]
    if not any(safe(name) in call.raw.details for name in names):
        yield Violation(f"a message with {' or '.join(map(repr, names))}", repr(call.raw.details))
