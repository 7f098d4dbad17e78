"""Mutants with well-formed messages: sessions, streams, offsets, counts, projection and refusals are wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import grpc
import pyarrow as pa

from conformance.contract import mapping
from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.records import Column, Mode
from conformance.reference.mutants.reasons import IN_EVERY_SESSION, IN_PARTS, IN_READS, IN_RESULTS
from conformance.reference.statuses import REFUSALS, Reason, Refusal

_GOCCY_409 = "https://github.com/goccy/bigquery-emulator/issues/409"
_GOCCY_507 = "https://github.com/goccy/bigquery-emulator/issues/507"
_GOCCY_29 = "https://github.com/goccy/bigquery-emulator/issues/29"
_GOCCY_HANDLER = (
    "https://github.com/goccy/bigquery-emulator/blob/cb8555bee739c794343337e8c3242b59d5d7470a/server/storage_handler.go"
)
_BQEMULATOR_SESSION = (
    "https://github.com/jjviscomi/bqemulator/blob/"
    "a8fcd56f5676b232d18ec611eb8fb7963a18a6b8/src/bqemulator/streaming/read_session.py"
)
_BQEMULATOR_SERVICER = (
    "https://github.com/jjviscomi/bqemulator/blob/"
    "a8fcd56f5676b232d18ec611eb8fb7963a18a6b8/src/bqemulator/grpc_api/read_servicer.py"
)
_JAVA_5658 = "https://github.com/googleapis/google-cloud-java/pull/5658"


@behaviour_mutant(
    "session.no-streams",
    kills="session.rows-have-a-stream",
    also={
        "restriction.*": "a restricted session without streams lacks the rows",
        "projection.filter-*": "a filtered session without streams lacks them",
        "avro.*": "the fault shows in sessions in AVRO too",
    },
    defects=("B-10",),
    source=_GOCCY_409,
)
class NoStreamsByDefault(ReadService):
    """A session without a maximum of streams gets none, although the table has rows."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        return super().plan_streams(snapshot, request) if request.max_stream_count else []


@behaviour_mutant(
    "session.one-stream-only",
    kills="session.several-streams-may-be-asked",
    also={"session.preferred-count-may-be-asked": "a preferred count comes with a maximum above one"},
    defects=("B-16",),
    source=_GOCCY_29,
)
class OneStreamOnly(ReadService):
    """A maximum above one stream is refused instead of being a maximum."""

    def check_stream_counts(self, maximum: int, preferred: int) -> None:
        super().check_stream_counts(maximum, preferred)
        if maximum > 1:
            raise Refusal(grpc.StatusCode.UNKNOWN, "currently supported only one stream")


@behaviour_mutant(
    "offset.ignored",
    kills=("offsets.inside-a-response", "offsets.between-responses", "offsets.last-row", "offsets.end-yields-nothing"),
    also={**IN_PARTS, "split.child-resumes": "the fault shows in the children of a split too"},
    defects=("B-11",),
    source=_GOCCY_507,
)
class OffsetIgnored(ReadService):
    """Every read starts at the first row, whatever the offset."""

    def rows_at_offset(self, stream: Stream, _offset: int) -> pa.Table:
        return stream.rows


@behaviour_mutant(
    "offset.beyond-accepted", kills="offsets.beyond-the-end-is-refused", defects=("B-12",), source=_GOCCY_507
)
class OffsetBeyondAccepted(ReadService):
    """An offset beyond the end is answered with OK and nothing."""

    def check_offset(self, stream: Stream, offset: int) -> None:
        super().check_offset(stream, min(offset, stream.rows.num_rows))


@behaviour_mutant(
    "rows.count-unset", kills="rows.row-count-is-true", also=IN_READS, defects=("B-13",), source=_JAVA_5658
)
class RowCountUnset(ReadService):
    """The row_count of every response is 0."""

    def count_rows(self, _part: pa.RecordBatch) -> int:
        return 0


@behaviour_mutant("rows.schema-never", kills="rows.first-response-has-the-schema", also=IN_RESULTS)
class SchemaNever(ReadService):
    """No response carries the schema; only the session does."""

    def carries_schema(self, *, first: bool) -> bool:  # noqa: ARG002  # the fault is not to look
        return False


@behaviour_mutant(
    "rows.last-response-missing",
    kills="rows.none-is-missing",
    also={
        **IN_EVERY_SESSION,
        "split.child-resumes": "the rows of a child of several responses are cut too",
        "split.children-are-the-parent": "the rows of the parent and of its children are cut at other places",
    },
)
class LastResponseMissing(ReadService):
    """The last response of every read of several is not sent."""

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        parts = list(super().cut_responses(stream, batch))
        yield from parts[:-1] if len(parts) > 1 else parts


@behaviour_mutant(
    "projection.values-swapped",
    kills="projection.values-follow-their-names",
    also={"values.follow-names": "the same requirement, asked of whole rows"},
    defects=("B-40",),
    source=_GOCCY_HANDLER,
)
class ValuesSwapped(ReadService):
    """The schema is in table order and the values are in the order of the request."""

    def serve(self, session: OpenedSession, rows: pa.Table) -> pa.RecordBatch:
        batch = super().serve(session, rows)
        asked = [name.lower() for name in session.request.read_session.read_options.selected_fields]
        if sorted(asked) != sorted(name.lower() for name in batch.schema.names):
            return batch
        arrays = [batch.column(batch.schema.names.index(column.name)) for column in _in_order(session.columns, asked)]
        same_types = [array.type for array in arrays] == batch.schema.types
        return pa.RecordBatch.from_arrays(arrays, schema=batch.schema) if same_types else batch


def _in_order(columns: Sequence[Column], names: Sequence[str]) -> list[Column]:
    return sorted(columns, key=lambda column: names.index(column.name.lower()))


@behaviour_mutant(
    "projection.unknown-ignored",
    kills="projection.unknown-column-is-refused",
    defects=("B-45",),
    source=_BQEMULATOR_SESSION,
)
class UnknownFieldsIgnored(ReadService):
    """Selected fields that do not exist are dropped; if none exists, everything is returned."""

    def resolve_columns(self, snapshot: Snapshot, selected: Sequence[str]) -> tuple[Column, ...]:
        known = {column.name.lower() for column in snapshot.columns}
        return super().resolve_columns(snapshot, [name for name in selected if name.lower().split(".")[0] in known])


@behaviour_mutant("schema.all-nullable", kills="schema.required-not-nullable", defects=("B-53",))
class AllNullable(ReadService):
    """REQUIRED columns are advertised as nullable."""

    def served_schema(self, columns: Sequence[Column]) -> pa.Schema:
        relaxed = (
            dataclasses.replace(column, mode=Mode.NULLABLE) if column.mode is Mode.REQUIRED else column
            for column in columns
        )
        return mapping.arrow_schema(relaxed)


@behaviour_mutant(
    "restriction.refused-ignored",
    kills=("restriction.malformed-is-refused", "restriction.bad-one-yields-no-rows"),
    also={"restriction.*-is-refused": "whatever is wrong with it, it is ignored"},
)
class BadRestrictionIgnored(ReadService):
    """A restriction that cannot be understood is ignored: all rows are returned."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        try:
            return super().restrict(snapshot, text)
        except Refusal:
            return None


@behaviour_mutant(
    "compression.not-applied",
    kills=("compression.lz4-frame-is-applied", "compression.zstd-is-applied"),
    also=IN_RESULTS,
    defects=("B-90",),
    source=_BQEMULATOR_SERVICER,
)
class CompressionNotApplied(ReadService):
    """A requested compression of buffers is echoed and not applied."""

    def encode_batch(self, part: pa.RecordBatch, _codec: str) -> bytes:
        return super().encode_batch(part, "")


@behaviour_mutant(
    "errors.all-unknown",
    kills="errors.permanent-one-is-not-unknown",
    also=dict.fromkeys(
        (
            "errors.unspecified-format-has-its-code",
            "errors.bad-parent-has-its-code",
            "errors.bad-restriction-has-its-code",
            "errors.long-restriction-has-its-code",
            "errors.missing-table-has-its-code",
            "errors.preferred-above-maximum-has-its-code",
            "errors.snapshot-outside-window-has-its-code",
            "errors.unknown-column-has-its-code",
            "errors.unrecorded-refusal-has-a-fitting-code",
            "offsets.beyond-the-end-has-its-code",
            "query-results.written-table-has-no-stream",
            "query-results.other-location-is-not-found",
            "split.beyond-the-child-has-its-code",
        ),
        "UNKNOWN is the code of no refusal",
    ),
    defects=("B-22",),
    source=_GOCCY_HANDLER,
)
class EverythingUnknown(ReadService):
    """Every refusal has the status UNKNOWN."""

    def refuse(self, reason: Reason, **facts: object) -> NoReturn:
        raise Refusal(grpc.StatusCode.UNKNOWN, REFUSALS[reason][1].format(**facts))


@behaviour_mutant(
    "split.overlapping",
    kills="split.children-are-the-parent",
    also={**IN_PARTS, "split.request-is-not-ignored": "a row comes twice whether splits are offered or not"},
)
class SplitOverlaps(ReadService):
    """The remainder of a split begins with the last row of the primary."""

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        primary, _remainder = super().split(stream, fraction)
        return primary, stream.rows.slice(primary.num_rows - 1)
