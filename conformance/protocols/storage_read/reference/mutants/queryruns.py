"""Mutants of queries that run again or fail late, and of results that are large, have no values, or are read twice."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.reference.mutants.queries import IN_ROWS, PYTHON, STREAMS
from conformance.protocols.storage_read.reference.mutants.sharedcursor import SharedCursor
from conformance.protocols.storage_read.reference.queries import PAGE_ROWS, UNNAMED, QueryRefusedError, RunOfQuery
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.reference.statuses import Reason

PAGE_BYTES: Final = 10_000_000
"""The bytes of an answer at most, as the service has them."""


@behaviour_mutant("query-results.types-of-the-values", kills="query-results.page-has-the-columns", also=IN_ROWS)
class TypesOfValues(ReadService):
    """The type of a column is found from its values: one that is NULL in every row of the result is text."""

    def schema_in_form(self, asked: RunOfQuery, form: int) -> pa.Schema:
        schema = super().schema_in_form(asked, form)
        return pa.schema([field.with_type(pa.utf8()) if self._is_null(asked, field) else field for field in schema])

    def page_batch(self, asked: RunOfQuery, page: pa.RecordBatch) -> bytes:
        return super().page_batch(asked, self._texts(asked, page))

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Any:
        job = stream.name.split("/")[5]
        asked = self.results.get(job) or self.inserted.get(job)
        return super().cut_responses(stream, batch if asked is None else self._texts(asked, batch))

    def _texts(self, asked: RunOfQuery, batch: pa.RecordBatch) -> pa.RecordBatch:
        for place, field in enumerate(batch.schema):
            if self._is_null(asked, field):
                batch = batch.set_column(place, field.with_type(pa.utf8()), pa.nulls(batch.num_rows, pa.utf8()))
        return batch

    def _is_null(self, asked: RunOfQuery, field: pa.Field) -> bool:
        column = asked.rows.column(field.name)
        return not pa.types.is_nested(field.type) and 0 < column.null_count == len(column)


class _Cached(ReadService):
    """A service that knows the queries whose text it has run before, if they permit an answer from the cache."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.first: dict[str, RunOfQuery] = {}
        self.hits: set[str] = set()

    def select(self, text: str, body: dict[str, Any], job: str) -> RunOfQuery:
        asked = super().select(text, body, job)
        if not body.get("useQueryCache"):
            return asked
        first = self.first.setdefault(text, asked)
        known = first is not asked and first.columns == asked.columns
        return self.cached(asked, first) if known else asked

    def cached(self, asked: RunOfQuery, first: RunOfQuery) -> RunOfQuery:  # noqa: ARG002  # the shape of a step
        """The query as it is answered when the cache has an earlier one of its text."""
        self.hits.add(asked.job)
        return asked


@behaviour_mutant("query-results.cached-job-is-not-named", kills="query-results.job-is-named", source=PYTHON)
class CachedJobNotNamed(_Cached):
    """An answer from the cache names no job if one is optional, although rows remain behind its page."""

    def arrow_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        answer = super().arrow_answer(project, asked)
        if asked.job in self.hits and asked.body.get("jobCreationMode") == "JOB_CREATION_OPTIONAL":
            answer.pop("jobReference", None)
        return answer


@behaviour_mutant(
    "query-results.cached-job-has-no-rows",
    kills="query-results.stream-has-the-rows-from-the-offset",
    also=IN_ROWS,
    source=PYTHON,
)
class CachedJobHasNoRows(_Cached):
    """The stream of a job that was answered from the cache has no rows: they belong to the job that made them."""

    def stream_rows(self, asked: RunOfQuery) -> pa.Table:
        rows = super().stream_rows(asked)
        return rows.slice(rows.num_rows) if asked.job in self.hits else rows

    def check_offset(self, stream: Stream, offset: int) -> None:
        if not self.hits.intersection(stream.name.split("/")):
            super().check_offset(stream, offset)


@behaviour_mutant(
    "query-results.cache-forgets-parameters", kills="query-results.page-has-rows-of-the-result", also=IN_ROWS
)
class CacheForgetsParameters(_Cached):
    """A query that the cache has with other values of its parameters gets the rows of that time."""

    def cached(self, asked: RunOfQuery, first: RunOfQuery) -> RunOfQuery:
        return dataclasses.replace(asked, result=first.result) if "queryParameters" in asked.body else asked


@behaviour_mutant(
    "query-results.cache-keeps-the-rows", kills="query-results.stream-has-the-rows-from-the-offset", also=IN_ROWS
)
class CacheKeepsRows(_Cached):
    """A query that the cache has gets the rows that its table had then."""

    def cached(self, asked: RunOfQuery, first: RunOfQuery) -> RunOfQuery:
        return asked if "queryParameters" in asked.body else dataclasses.replace(asked, result=first.result)


@behaviour_mutant(
    "query-results.failing-row-ends-the-rows",
    kills="query-results.failing-row-is-an-error",
    also={"query-results.failed-job-has-the-error": "the query has not failed, and so its job has no error"},
)
class FailingRowEndsRows(ReadService):
    """A query that fails at a row is answered with the rows before that, and so ends its stream."""

    def before_error(self, rows: pa.Table, place: int) -> pa.Table:
        return rows.slice(0, place)


@behaviour_mutant("query-results.failed-job-looks-done", kills="query-results.failed-job-has-the-error")
class FailedJobLooksDone(ReadService):
    """jobs.get calls a query that failed DONE, and has no error."""

    def status_of_failed(self, job: str) -> dict[str, Any]:  # noqa: ARG002  # the shape of a step
        return {"state": "DONE"}


@behaviour_mutant("query-results.every-location-refused", kills="query-results.request-is-served")
class EveryLocationRefused(ReadService):
    """A query that names a location is refused, also in the location that this server gives its jobs."""

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:
        if body.get("location"):
            raise QueryRefusedError(f"Invalid location: {body['location']:.100}")
        return super().run_query(project, body)


@behaviour_mutant("query-results.dry-run-unchecked", kills="query-results.wrong-query-is-an-error")
class DryRunUnchecked(ReadService):
    """A dry run is answered before its statement is read."""

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:
        return self.dry_answer(project) if body.get("dryRun") else super().run_query(project, body)


@behaviour_mutant("query-results.no-token-behind-many-bytes", kills="query-results.large-result-is-whole")
class NoTokenBehindManyBytes(ReadService):
    """A page ends at its maximum of rows or at a limit of bytes, and only the maximum leaves a page token."""

    def page_rows(self, asked: RunOfQuery) -> int:
        rows: int = min(self._most(asked.body, asked.rows.num_rows), asked.rows.num_rows)
        while rows > 1 and asked.rows.slice(0, rows).nbytes > PAGE_BYTES:
            rows //= 2
        return rows

    def names_token(self, asked: RunOfQuery, page: pa.Table, *, left: bool) -> bool:
        return super().names_token(asked, page, left=left) and page.num_rows == self._most(asked.body, -1)

    def _most(self, body: Mapping[str, Any], default: int) -> int:
        return int(body.get("maxResults", default))


@behaviour_mutant(
    "query-results.unnamed-column-has-two-names",
    kills="query-results.stream-has-the-schema-of-the-page",
    also=IN_ROWS,
    source=PYTHON,
)
class UnnamedColumnHasTwoNames(ReadService):
    """The stream calls a column that has no name by its expression, and the page by its place."""

    def stream_schema(self, asked: RunOfQuery, form: int) -> bytes:
        schema = self.schema_in_form(asked, form)
        names = ["(row_id + 0)" if name == UNNAMED else name for name in schema.names]
        return self.encode_schema(pa.schema(map(pa.Field.with_name, schema, names)))


@behaviour_mutant(
    "query-results.readers-share-a-cursor",
    kills="query-results.stream-has-the-rows-from-the-offset",
    also=IN_ROWS,
    source=STREAMS,
)
class ReadersShareCursor(SharedCursor):
    """Two reads at once of a job's stream share a cursor: the later one lacks its first row."""

    def is_shared(self, request: Any) -> bool:
        return "/jobs/" in request.read_stream


@behaviour_mutant(
    "query-results.inserted-job-lacks-a-page", kills="query-results.inserted-job-has-a-stream", source=STREAMS
)
class InsertedJobLacksPage(ReadService):
    """The stream of a job that jobs.insert ran begins behind the rows that a page would have had."""

    def stream_rows(self, asked: RunOfQuery) -> pa.Table:
        rows = super().stream_rows(asked)
        return rows.slice(min(PAGE_ROWS, rows.num_rows)) if asked.job in self.inserted else rows

    def check_offset(self, stream: Stream, offset: int) -> None:
        if not set(self.inserted).intersection(stream.name.split("/")):
            super().check_offset(stream, offset)


@behaviour_mutant(
    "query-results.inserted-job-has-no-stream", kills="query-results.inserted-job-has-a-stream", source=STREAMS
)
class InsertedJobHasNoStream(ReadService):
    """Only a job that jobs.query ran has a stream."""

    def open_result(self, asked: RunOfQuery, request: Any) -> Stream:
        if asked.job in self.inserted and asked.job not in self.results:
            self.refuse(Reason.UNKNOWN_STREAM, stream=request.read_stream)
        return super().open_result(asked, request)
