"""Mutants of query results in Arrow: the answer, its page, and what says that rows remain."""

from __future__ import annotations

import abc
import base64
import dataclasses
from typing import Any, Final

import pyarrow as pa

from conformance.contract import mapping
from conformance.protocols.storage_read.reference.queries import QueryRefusedError, RunOfQuery, results_page
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream

__all__ = ["IN_ROWS", "PAGES", "PYTHON", "STREAMS"]

PYTHON: Final = "https://github.com/googleapis/google-cloud-python/pull/18027"
STREAMS: Final = "https://github.com/googleapis/google-cloud-java/pull/14458"
PAGES: Final = "https://github.com/googleapis/google-cloud-java/pull/13944"
IN_ROWS: Final = {"query-results.*": "the fault shows in each query, and in each read of its rows"}


@behaviour_mutant(
    "query-results.format-ignored",
    kills="query-results.arrow-or-an-error",
    also={"query-results.page-has-a-schema": "a server that declares query results owes each page its schema"},
    source=PYTHON,
)
class FormatIgnored(ReadService):
    """queryResultsFormat is ignored: every answer has its rows in JSON, all of them."""

    def arrow_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        return results_page(project, asked, 0, asked.rows.num_rows)


@behaviour_mutant(
    "query-results.refused",
    kills="query-results.request-is-served",
    also={"query-results.default-dataset-is-used": "it refuses a query with a default dataset too"},
)
class ArrowRefused(ReadService):
    """A query for results in ARROW is refused."""

    def arrow_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:  # noqa: ARG002  # the shape of a step
        raise QueryRefusedError("Access Denied: results in ARROW are not available")


@behaviour_mutant("query-results.answer-in-a-list", kills="query-results.answer-is-json", also=IN_ROWS)
class AnswerInList(ReadService):
    """The answer is a list with the object that it should be."""

    def arrow_answer(self, project: str, asked: RunOfQuery) -> Any:
        return [super().arrow_answer(project, asked)]


class _ChangedAnswer(ReadService, abc.ABC):
    """A service that changes each answer in Arrow."""

    @abc.abstractmethod
    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:
        """Change the answer in place."""

    def arrow_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        answer = super().arrow_answer(project, asked)
        self.change(answer, asked)
        return answer


@behaviour_mutant("query-results.no-schema", kills="query-results.page-has-a-schema", also=IN_ROWS, source=PYTHON)
class PageWithoutSchema(_ChangedAnswer):
    """The answer has a batch and no schema."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:  # noqa: ARG002  # the shape of a step
        del answer["arrowSchema"]


@behaviour_mutant("query-results.empty-objects", kills="query-results.arrow-or-an-error", also=IN_ROWS, source=PYTHON)
class EmptyObjects(ReadService):
    """The answer has the objects of Arrow without content, and its rows in JSON."""

    def arrow_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        plain = results_page(project, asked, 0, asked.rows.num_rows)
        return plain | {"arrowSchema": {}, "arrowRecordBatch": {}}


@behaviour_mutant("query-results.completion-unsaid", kills="query-results.answer-is-complete", source=PYTHON)
class CompletionUnsaid(_ChangedAnswer):
    """The answer does not say that the query is done."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:  # noqa: ARG002  # as above
        del answer["jobComplete"]


class _OtherColumns(ReadService, abc.ABC):
    """A service whose page and stream have other columns than the result."""

    @abc.abstractmethod
    def other(self, schema: pa.Schema) -> pa.Schema:
        """The columns that it has in their place."""

    def page_schema(self, asked: RunOfQuery) -> bytes:
        return self.stream_schema(asked, asked.form)

    def stream_schema(self, asked: RunOfQuery, form: int) -> bytes:
        return self.encode_schema(self.other(self.schema_in_form(asked, form)))

    def page_batch(self, asked: RunOfQuery, page: pa.RecordBatch) -> bytes:
        return super().page_batch(asked, self._under(page))

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Any:
        return super().cut_responses(stream, self._under(batch) if "/jobs/" in stream.name else batch)

    def _under(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        schema = self.other(batch.schema)
        columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)


@behaviour_mutant(
    "query-results.page-through-doubles",
    kills="query-results.page-has-rows-of-the-result",
    also=IN_ROWS,
    source=PYTHON,
)
class PageThroughDoubles(ReadService):
    """The page is made of the rows in JSON, whose numbers are doubles: integers above 2**53 are rounded."""

    def page_content(self, asked: RunOfQuery, page: pa.Table) -> pa.Table:
        content = super().page_content(asked, page)
        for place, field in enumerate(content.schema):
            if pa.types.is_int64(field.type):
                values = [_rounded(value) for value in content.column(place).to_pylist()]
                content = content.set_column(place, field, pa.array(values, field.type))
        return content


def _rounded(value: int | None) -> int | None:
    return None if value is None else min(int(float(value)), (1 << 63) - 1)


@behaviour_mutant("query-results.columns-renamed", kills="query-results.page-has-the-columns", also=IN_ROWS)
class ColumnsRenamed(_OtherColumns):
    """The columns have names of the server's own, as those of expressions have."""

    def other(self, schema: pa.Schema) -> pa.Schema:
        return pa.schema([field.with_name(f"f{place}_") for place, field in enumerate(schema)])


@behaviour_mutant("query-results.integers-as-text", kills="query-results.page-has-the-columns", also=IN_ROWS)
class IntegersAsText(_OtherColumns):
    """INT64 is in Arrow what it is in JSON, a text."""

    def other(self, schema: pa.Schema) -> pa.Schema:
        return pa.schema([field.with_type(pa.utf8()) if field.type == pa.int64() else field for field in schema])


@behaviour_mutant("query-results.no-batch", kills="query-results.page-has-a-batch", also=IN_ROWS)
class NoBatch(_ChangedAnswer):
    """The answer has a schema, and no batch for the rows that it counts."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:  # noqa: ARG002  # as above
        answer.pop("arrowRecordBatch", None)


@behaviour_mutant("query-results.rows-twice", kills="query-results.no-rows-in-json")
class RowsTwice(_ChangedAnswer):
    """The answer has the rows of its page in JSON too."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:
        plain = self.plain_answer("", asked)
        answer |= {"schema": plain["schema"], "rows": plain["rows"]}


@behaviour_mutant("query-results.page-count-of-the-result", kills="query-results.page-count-is-true", also=IN_ROWS)
class PageCountOfResult(_ChangedAnswer):
    """pageRowCount is the number of rows of the whole result."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:
        answer["pageRowCount"] = str(asked.rows.num_rows)


@behaviour_mutant("query-results.total-of-the-page", kills="query-results.total-is-true", also=IN_ROWS)
class TotalOfPage(_ChangedAnswer):
    """totalRows is the number of rows of the page, plus one."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:  # noqa: ARG002  # as above
        answer["totalRows"] = str(int(answer["pageRowCount"]) + 1)


@behaviour_mutant("query-results.no-token", kills="query-results.token-says-that-rows-remain", source=PYTHON)
class NoToken(_ChangedAnswer):
    """Rows remain behind the page, and no page token says so."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:  # noqa: ARG002  # as above
        answer.pop("pageToken", None)


@behaviour_mutant(
    "query-results.token-always",
    kills="query-results.token-says-that-rows-remain",
    also={"query-results.job-is-named": "a job is to be named where a token says that rows remain"},
)
class TokenAlways(_ChangedAnswer):
    """Every answer has a page token, also one with every row."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:  # noqa: ARG002  # as above
        answer["pageToken"] = "more"  # a page token


@behaviour_mutant("query-results.job-without-location", kills="query-results.job-is-named", source=STREAMS)
class JobWithoutLocation(_ChangedAnswer):
    """Neither the reference to the job nor the answer has a location."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:  # noqa: ARG002  # as above
        answer.pop("location", None)
        answer.get("jobReference", {}).pop("location", None)


@behaviour_mutant("query-results.optional-job-always", kills="query-results.job-is-named", also=IN_ROWS, source=STREAMS)
class OptionalJobAlways(_ChangedAnswer):
    """An answer never names a job that is optional, although rows remain in its stream."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:
        if asked.body.get("jobCreationMode") == "JOB_CREATION_OPTIONAL":
            answer.pop("jobReference", None)


@behaviour_mutant("query-results.maximum-ignored", kills="query-results.page-keeps-the-maximum", source=PAGES)
class MaximumIgnored(ReadService):
    """maxResults does not limit a page."""

    def page_rows(self, asked: RunOfQuery) -> int:
        return super().page_rows(dataclasses.replace(asked, body={}))


@behaviour_mutant("query-results.maximum-is-the-total", kills="query-results.token-says-that-rows-remain", source=PAGES)
class MaximumIsTotal(_ChangedAnswer):
    """maxResults is taken for the number of all rows: no row remains behind a page of that size."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:
        if asked.body.get("maxResults"):
            answer.pop("pageToken", None)


@behaviour_mutant("query-results.page-not-compressed", kills="query-results.page-has-the-codec")
class PageNotCompressed(ReadService):
    """The page is never compressed."""

    def page_batch(self, asked: RunOfQuery, page: pa.RecordBatch) -> bytes:  # noqa: ARG002  # as above
        return self.encode_batch(page, "")


@behaviour_mutant("query-results.page-always-lz4", kills="query-results.page-has-no-other-codec")
class PageAlwaysLz4(ReadService):
    """The page is compressed by LZ4_FRAME whatever the query names."""

    def page_batch(self, asked: RunOfQuery, page: pa.RecordBatch) -> bytes:  # noqa: ARG002  # as above
        return self.encode_batch(page, "LZ4_FRAME")


@behaviour_mutant("query-results.order-lost", kills="query-results.page-begins-the-result", also=IN_ROWS)
class OrderLost(ReadService):
    """The page has the rows in the order of the table."""

    def page_content(self, asked: RunOfQuery, page: pa.Table) -> pa.Table:  # noqa: ARG002  # as above
        return page.take(pa.array(range(page.num_rows - 1, -1, -1)))


@behaviour_mutant("query-results.page-of-other-rows", kills="query-results.page-has-rows-of-the-result", also=IN_ROWS)
class PageOfOtherRows(ReadService):
    """The page has its first row twice."""

    def page_content(self, asked: RunOfQuery, page: pa.Table) -> pa.Table:  # noqa: ARG002  # as above
        return pa.concat_tables([page.slice(0, 1), page.slice(0, page.num_rows - 1)]) if page.num_rows > 1 else page


@behaviour_mutant(
    "query-results.batch-for-a-statement", kills="query-results.statement-without-rows-has-no-arrow", source=PAGES
)
class BatchForStatement(ReadService):
    """A statement without a result is answered with an empty batch."""

    def without_rows(self, project: str, job: str) -> dict[str, Any]:
        schema = pa.schema([])
        batch = self.encode_batch(pa.RecordBatch.from_arrays([], schema=schema), "")
        parts = {"serializedSchema": self.encode_schema(schema)}, {"serializedRecordBatch": batch}
        named = zip(("arrowSchema", "arrowRecordBatch"), parts, strict=True)
        return super().without_rows(project, job) | {
            name: {key: base64.b64encode(data).decode() for key, data in part.items()} for name, part in named
        }


@behaviour_mutant("query-results.arrow-for-all", kills="query-results.plain-query-has-rows")
class ArrowForAll(ReadService):
    """Every answer has Arrow, whatever format the query names."""

    def plain_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        return self.arrow_answer(project, asked)


@behaviour_mutant("query-results.counts-as-numbers", kills="query-results.counts-are-texts")
class CountsAsNumbers(_ChangedAnswer):
    """The counts of rows are numbers in JSON."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:  # noqa: ARG002  # as above
        answer |= {key: int(answer[key]) for key in ("pageRowCount", "totalRows")}


@behaviour_mutant("query-results.base64-of-urls", kills="query-results.page-has-a-schema", also=IN_ROWS)
class Base64OfUrls(_ChangedAnswer):
    """Schema and batch are in the base64 of URLs, without padding."""

    def change(self, answer: dict[str, Any], asked: RunOfQuery) -> None:  # noqa: ARG002  # as above
        for part in (answer["arrowSchema"], answer.get("arrowRecordBatch", {})):
            for key, text in part.items():
                part[key] = base64.urlsafe_b64encode(base64.b64decode(text) + b" ").decode().rstrip("=")


@behaviour_mutant(
    "query-results.wrong-query-is-empty",
    kills="query-results.wrong-query-is-an-error",
    also={
        "query-results.query-elsewhere-is-an-error": "a query for an unknown location is refused as a wrong one is",
    },
)
class WrongQueryIsEmpty(ReadService):
    """A query that is no SQL is answered as a statement without rows."""

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return super().run_query(project, body)
        except QueryRefusedError:
            return self.without_rows(project, self.catalogue.token())


@behaviour_mutant("query-results.query-runs-anywhere", kills="query-results.query-elsewhere-is-an-error")
class QueryRunsAnywhere(ReadService):
    """The location in the request of a query is ignored."""

    def check_query_location(self, location: str) -> None:
        """Every location is that of this server."""


@behaviour_mutant("query-results.dry-run-ignored", kills="query-results.dry-run-has-no-rows")
class DryRunIgnored(ReadService):
    """dryRun is ignored: the query runs."""

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:
        return super().run_query(project, {key: body[key] for key in body if key != "dryRun"})


@behaviour_mutant("query-results.cache-keeps-the-codec", kills="query-results.page-has-the-codec")
class CacheKeepsCodec(ReadService):
    """A query that the server has run before gets the page that it had then, in the codec of that time."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.kept: dict[str, Any] = {}

    def page_batch(self, asked: RunOfQuery, page: pa.RecordBatch) -> bytes:
        kept = self.kept.setdefault(str(asked.body["query"]), asked.body.get("arrowSerializationOptions"))
        return super().page_batch(dataclasses.replace(asked, body={"arrowSerializationOptions": kept}), page)


@behaviour_mutant("query-results.nested-times-in-micros", kills="query-results.times-have-one-form", also=IN_ROWS)
class NestedTimesInMicros(ReadService):
    """TIMESTAMP inside of STRUCT and ARRAY has microseconds, whatever form the query names."""

    def schema_in_form(self, asked: RunOfQuery, form: int) -> pa.Schema:
        pairs = zip(mapping.arrow_schema(asked.columns), super().schema_in_form(asked, form), strict=True)
        return pa.schema([plain if pa.types.is_nested(plain.type) else formed for plain, formed in pairs])

    def in_form(self, batch: pa.RecordBatch, form: int) -> pa.RecordBatch:
        formed = super().in_form(batch, form)
        columns = [
            plain if pa.types.is_nested(plain.type) else new
            for plain, new in zip(batch.columns, formed.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


@behaviour_mutant("query-results.listing-has-arrow", kills="query-results.listing-has-rows", source=PYTHON)
class ListingHasArrow(ReadService):
    """jobs.getQueryResults answers in the format of the query."""

    def listing(self, project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
        in_arrow = asked.body.get("queryResultsFormat") == "ARROW"
        return self.arrow_answer(project, asked) if in_arrow else super().listing(project, asked, start, most)
