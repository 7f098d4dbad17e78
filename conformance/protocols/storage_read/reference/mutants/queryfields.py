"""Mutants of what a query says beside its text: the form of times in JSON, its id, and how long its client waits."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pyarrow as pa

from conformance.protocols.storage_read.reference.mutants.queries import IN_ROWS, PYTHON
from conformance.protocols.storage_read.reference.queries import PAGE_ROWS, RunOfQuery
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream


@behaviour_mutant(
    "query-results.times-as-in-json", kills="query-results.page-has-the-columns", also=IN_ROWS, source=PYTHON
)
class TimesAsInJson(ReadService):
    """A query that wants the times of JSON as numbers has them as numbers in its page in Arrow too."""

    def page_schema(self, asked: RunOfQuery) -> bytes:
        schema = self.schema_in_form(asked, asked.form)
        return self.encode_schema(_with_numbers(schema) if self._is_asked(asked) else schema)

    def page_batch(self, asked: RunOfQuery, page: pa.RecordBatch) -> bytes:
        return super().page_batch(asked, page.cast(_with_numbers(page.schema)) if self._is_asked(asked) else page)

    def _is_asked(self, asked: RunOfQuery) -> bool:
        return bool(asked.body.get("formatOptions", {}).get("useInt64Timestamp"))


def _with_numbers(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(pa.int64()) if _is_time(field.type) else field for field in schema])


def _is_time(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) and kind.tz is not None


@behaviour_mutant(
    "query-results.unspecified-is-picos",
    kills="query-results.page-has-the-columns",
    also={**IN_ROWS, "body.buffer-count": "the batches of the stream do not fit the schema of the page"},
    source=PYTHON,
)
class UnspecifiedIsPicos(ReadService):
    """A form of times whose name has PICOS in it is the one of 12 digits, PICOS_TIMESTAMP_PRECISION_UNSPECIFIED too."""

    def select(self, text: str, body: dict[str, Any], job: str) -> RunOfQuery:
        options = body.get("arrowSerializationOptions") or {}
        if "PICOS" in str(options.get("picosTimestampPrecision", "")):
            form = {"picosTimestampPrecision": "TIMESTAMP_PRECISION_PICOS"}
            body = {**body, "arrowSerializationOptions": {**options, **form}}
        return super().select(text, body, job)


class _Repeating(ReadService):
    """A service that knows the queries whose ``requestId`` it has seen before."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.known: dict[str, RunOfQuery] = {}

    def key(self, body: dict[str, Any]) -> str:
        """What two requests have in common if one is the other again."""
        parts = [body.get("query"), body.get("queryParameters")]
        return json.dumps([body["requestId"], *parts]) if body.get("requestId") else ""


@behaviour_mutant("query-results.again-in-json", kills="query-results.arrow-or-an-error", also=IN_ROWS, source=PYTHON)
class AgainInJson(_Repeating):
    """A query that a client sends again is answered as by jobs.getQueryResults, in JSON."""

    def arrow_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        first = self.known.setdefault(self.key(asked.body) or asked.job, asked)
        return super().arrow_answer(project, asked) if first is asked else self.plain_answer(project, first)


@behaviour_mutant(
    "query-results.again-whatever-it-asks", kills="query-results.page-has-rows-of-the-result", also=IN_ROWS
)
class AgainWhateverItAsks(_Repeating):
    """A query with the id of an earlier one gets the rows of that, although its parameters differ."""

    def key(self, body: dict[str, Any]) -> str:
        return str(body.get("requestId", ""))

    def select(self, text: str, body: dict[str, Any], job: str) -> RunOfQuery:
        asked = super().select(text, body, job)
        first = self.known.setdefault(self.key(body) or job, asked)
        return dataclasses.replace(asked, result=first.result)


@behaviour_mutant("query-results.running-job-is-unnamed", kills="query-results.running-job-is-named", source=PYTHON)
class RunningJobUnnamed(ReadService):
    """The answer of a query that still runs names no job if one is optional: no row remains behind a page."""

    def running_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        answer = super().running_answer(project, asked)
        if asked.body.get("jobCreationMode") == "JOB_CREATION_OPTIONAL":
            del answer["jobReference"]
        return answer


@behaviour_mutant("query-results.waited-job-lacks-a-page", kills="query-results.waited-job-has-a-stream", source=PYTHON)
class WaitedJobLacksPage(ReadService):
    """The stream of a query that was answered before it ended begins behind the rows that a page would have had."""

    def stream_rows(self, asked: RunOfQuery) -> pa.Table:
        rows = super().stream_rows(asked)
        return rows.slice(min(PAGE_ROWS, rows.num_rows)) if self._ran(asked) else rows

    def check_offset(self, stream: Stream, offset: int) -> None:
        asked = self.results.get(stream.name.split("/")[5])
        if asked is None or not self._ran(asked):
            super().check_offset(stream, offset)

    def _ran(self, asked: RunOfQuery) -> bool:
        return str(asked.body.get("timeoutMs", "")) == "0"
