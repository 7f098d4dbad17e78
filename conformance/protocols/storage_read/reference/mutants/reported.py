"""Mutants from public reports that fit no other module: failing reads and narrow servers."""

from __future__ import annotations

import abc
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import grpc
import numpy as np
import pyarrow as pa
import pyarrow.types as is_

from conformance.contract import mapping, proto
from conformance.protocols.storage_read.reference.catalogue import Snapshot, TableId
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.records import BqType, Column
from conformance.reference.mutants.reasons import IN_RESULTS
from conformance.reference.statuses import Reason, Refusal

_GOCCY_HANDLER: Final = (
    "https://github.com/goccy/bigquery-emulator/blob/cb8555bee739c794343337e8c3242b59d5d7470a/server/storage_handler.go"
)
_BQEMULATOR_SERVICER: Final = (
    "https://github.com/jjviscomi/bqemulator/blob/"
    "a8fcd56f5676b232d18ec611eb8fb7963a18a6b8/src/bqemulator/grpc_api/read_servicer.py"
)


# --- calls ----------------------------------------------------------------------------------------


@behaviour_mutant(
    "errors.unknown-stream-served",
    kills=(
        "errors.unknown-stream-is-refused",
        "errors.unknown-session-is-refused",
        "errors.malformed-stream-is-refused",
        "errors.split-of-unknown-stream-is-refused",
    ),
    also={
        "query-results.other-stream-is-not-found": "another stream of a job is an unknown stream, too",
        "body.buffer-count": "the row that it serves for such a stream is of another column than the job's schema",
    },
    defects=("B-08",),
    source=(
        "https://github.com/vantaboard/bigquery-emulator/blob/"
        "73f58d84a21edc6cf072619befec1b30fc7abb4a/gateway/handlers/bqstorage/read_server.go"
    ),
)
class UnknownStreamServed(ReadService):
    """A read of an unknown stream is answered, with a row of text under a column that no session selected."""

    def find_stream(self, name: str) -> Stream:
        known = self.sessions.find(name)
        if known is not None:
            return super().find_stream(name)
        columns = (Column("col_0", BqType.STRING),)
        rows = pa.table({"col_0": pa.array(["?"], pa.utf8())})
        snapshot = Snapshot(TableId("-", "-", "-"), columns, created=0, rows=rows)
        schema = self.encode_schema(mapping.arrow_schema(columns))
        session = OpenedSession(name, proto.CreateReadSessionRequest(), snapshot, columns, 1 << 62, schema_bytes=schema)
        return Stream(name, session, rows)


@behaviour_mutant(
    "split.not-implemented",
    kills="split.request-is-served",
    also={"errors.permanent-one-is-not-unknown": "a split that has to be refused ends in UNKNOWN too"},
    defects=("B-17",),
    source=_GOCCY_HANDLER,
)
class SplitNotImplemented(ReadService):
    """Splitting a stream ends in the status UNKNOWN."""

    def split_read_stream(self, request: Any) -> Any:
        self.find_stream(request.name)
        raise Refusal(grpc.StatusCode.UNKNOWN, "unimplemented split read stream")


@behaviour_mutant(
    "responses.whole-table", kills="responses.large-table-is-divided", defects=("B-29",), source=_GOCCY_HANDLER
)
class WholeTable(ReadService):
    """All rows of a stream come in one response, however many they are."""

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:  # noqa: ARG002  # the fault
        if batch.num_rows:
            yield batch


class _Failing(ReadService, abc.ABC):
    """A service in which reads of some tables end in an error of its own."""

    @abc.abstractmethod
    def fails_on(self, batch: pa.RecordBatch) -> bool:
        """Whether a read that serves this batch fails."""

    def serve(self, session: OpenedSession, rows: pa.Table) -> pa.RecordBatch:
        batch = super().serve(session, rows)
        if self.fails_on(batch):
            raise Refusal(grpc.StatusCode.INTERNAL, "unexpected builder type")
        return batch


@behaviour_mutant(
    "reads.fail-on-times",
    kills="rows.read-is-served",
    also={**IN_RESULTS, "restriction.temporal-literal": "the tables of its cases have such columns"},
    defects=("B-63", "B-77"),
    source="https://github.com/vantaboard/bigquery-emulator/commit/49f02f72",
)
class FailOnTimes(_Failing):
    """A table with a TIME or a TIMESTAMP cannot be read."""

    def fails_on(self, batch: pa.RecordBatch) -> bool:
        return any(
            is_.is_time64(field.type) or (is_.is_timestamp(field.type) and field.type.tz) for field in batch.schema
        )


@behaviour_mutant(
    "reads.fail-on-empty-lists",
    kills="rows.read-is-served",
    also={
        **IN_RESULTS,
        "compression.request-is-served": "a table with such arrays is read under each codec too",
        "columns.changed-table-is-served": "an array that was added is empty in earlier rows",
    },
    defects=("I-83",),
    source="https://github.com/apache/arrow/pull/14904",
)
class FailOnEmptyLists(_Failing):
    """A table with an empty array in it cannot be read."""

    def fails_on(self, batch: pa.RecordBatch) -> bool:
        lists = [column for column in batch.columns if is_.is_list(column.type)]
        return any((np.diff(column.offsets.to_numpy()) == 0).any() for column in lists if len(column))


# --- projection and restriction -------------------------------------------------------------------


@behaviour_mutant(
    "projection.no-paths",
    kills=("projection.nested-path-keeps-its-record", "projection.paths-into-one-record-merge"),
    also={"projection.filter-may-use-other-columns": "one case asks for everything at once"},
    defects=("B-44",),
    source="https://github.com/vantaboard/bigquery-emulator/commit/87c4eb75",
)
class NoPaths(ReadService):
    """Only top-level columns can be selected: paths into records are refused."""

    def resolve_columns(self, snapshot: Snapshot, selected: Sequence[str]) -> tuple[Column, ...]:
        if nested := [name for name in selected if "." in name]:
            self.refuse(Reason.UNKNOWN_FIELDS, fields=nested[0])
        return super().resolve_columns(snapshot, selected)


_EQUALS: Final = re.compile(r"\s*\w+\s*=\s*('[^']*'|-?\d+)\s*")


@behaviour_mutant(
    "restriction.equality-only",
    kills=(
        "restriction.in-list",
        "restriction.like",
        "restriction.is-null",
        "restriction.between",
        "restriction.and-or",
        "restriction.not",
        "restriction.double-quoted-literal",
        "restriction.temporal-literal",
        "restriction.nested-field",
        "restriction.comparison",
        "restriction.nothing-selected",
    ),
    also={
        "restriction.keyword-as-a-name": "its restriction quotes the name",
        "projection.filter-may-use-other-columns": "its restriction is a comparison",
    },
    defects=("B-50",),
    source="https://github.com/vantaboard/bigquery-emulator/commit/35d2d3b2",
)
class EqualityOnly(ReadService):
    """Every restriction but ``column = literal`` is refused."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        if text and not _EQUALS.fullmatch(text):
            self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)
        return super().restrict(snapshot, text)


_WORDS: Final = re.compile(r"\b(select|insert|update|delete|drop|union|from|where|order|group)\b", re.IGNORECASE)


@behaviour_mutant(
    "restriction.words-refused",
    kills=("restriction.keyword-inside-a-literal", "restriction.keyword-as-a-name"),
    defects=("B-51",),
    source=_BQEMULATOR_SERVICER,
)
class WordsRefused(ReadService):
    """A restriction with a word of SQL anywhere in it is refused, in a literal or a name too."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        if _WORDS.search(text):
            self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)
        return super().restrict(snapshot, text)


# --- types and values -----------------------------------------------------------------------------


@behaviour_mutant(
    "metadata.missing-without-rows",
    kills=(
        "schema.metadata-json",
        "schema.metadata-geography",
        "schema.metadata-interval",
        "schema.metadata-datetime",
        "schema.metadata-range",
    ),
    defects=("B-80",),
    source="https://github.com/googleapis/python-bigquery/issues/894",
)
class MetadataMissingWithoutRows(ReadService):
    """The schema of a table without rows has no field metadata."""

    def put_schema(self, answer: Any, session: OpenedSession) -> None:
        super().put_schema(answer, session)
        if session.avro is None and session.snapshot.rows.num_rows == 0:
            fields = [field.with_metadata(None) for field in self.served_schema(session.columns)]
            answer.arrow_schema.serialized_schema = self.encode_schema(pa.schema(fields))
