"""Mutants of query results where two features meet: options, parameters, counts of rows, later reads and listings."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.reference.mutants.queries import IN_ROWS, PYTHON, STREAMS
from conformance.protocols.storage_read.reference.queries import RunOfQuery
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream

BATCH_ROWS: Final = 8
"""The rows of a batch inside of this server, few so that small tables have several; others have a thousand or more."""


@behaviour_mutant("query-results.options-make-arrow", kills="query-results.plain-query-has-rows")
class OptionsMakeArrow(ReadService):
    """A query with options of Arrow is answered in Arrow, whatever format it names."""

    def plain_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        if asked.body.get("arrowSerializationOptions"):
            return self.arrow_answer(project, asked)
        return super().plain_answer(project, asked)


@behaviour_mutant("query-results.parameters-in-json", kills="query-results.arrow-or-an-error",
                  also=IN_ROWS, source=PYTHON)  # fmt: skip
class ParametersInJson(ReadService):
    """A query with parameters is answered by an older path, which has rows in JSON alone."""

    def arrow_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        in_json = "queryParameters" in asked.body
        return self.plain_answer(project, asked) if in_json else super().arrow_answer(project, asked)


@behaviour_mutant("query-results.no-token-behind-no-rows", kills="query-results.token-says-that-rows-remain")
class NoTokenBehindNoRows(ReadService):
    """A page of no rows that the query asks for has no page token."""

    def names_token(self, asked: RunOfQuery, page: pa.Table, *, left: bool) -> bool:
        return super().names_token(asked, page, left=left) and page.num_rows > 0


@behaviour_mutant(
    "query-results.page-in-several-messages",
    kills="query-results.page-count-is-true",
    also={**IN_ROWS, "framing.batch-single-message": "the batches of the page are several messages"},
    source=PYTHON,
)
class PageInSeveralMessages(ReadService):
    """A page has every row, and each batch of it is a message of its own, one behind the other."""

    def page_rows(self, asked: RunOfQuery) -> int:
        return int(asked.body.get("maxResults", asked.rows.num_rows))

    def page_batch(self, asked: RunOfQuery, page: pa.RecordBatch) -> bytes:
        parts = [page.slice(start, BATCH_ROWS) for start in range(0, max(1, page.num_rows), BATCH_ROWS)]
        return b"".join(self.encode_batch(part, asked.codec) for part in parts)


@behaviour_mutant(
    "query-results.stream-inherits-the-codec", kills="query-results.stream-has-no-other-codec", source=STREAMS
)
class StreamInheritsCodec(ReadService):
    """A read of the stream without options has the codec of the query."""

    def stream_codec(self, asked: RunOfQuery, codec: str) -> str:
        return codec or asked.codec


@behaviour_mutant(
    "query-results.stream-inherits-the-form", kills="query-results.unnamed-form-is-micros", also=IN_ROWS, source=STREAMS
)
class StreamInheritsForm(ReadService):
    """A read of the stream without options has the times of the query."""

    def stream_form(self, asked: RunOfQuery, form: int) -> int:
        return form or asked.form


@behaviour_mutant("query-results.stream-runs-the-query", kills="query-results.stream-has-the-rows-from-the-offset",
                  also=IN_ROWS)  # fmt: skip
class StreamRunsQuery(ReadService):
    """A read of the stream runs the query again, on the rows that the table has by then."""

    def open_result(self, asked: RunOfQuery, request: Any) -> Stream:
        return super().open_result(self.select(str(asked.body["query"]), asked.body, asked.job), request)


@behaviour_mutant("query-results.listing-from-the-start", kills="query-results.listing-begins-at-the-index")
class ListingFromStart(ReadService):
    """jobs.getQueryResults lists the result of a query in Arrow from its first row, whatever index it names."""

    def listing(self, project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
        in_arrow = asked.body.get("queryResultsFormat") == "ARROW"
        return super().listing(project, asked, 0 if in_arrow else start, most)


@behaviour_mutant("query-results.optional-job-is-not-listed", kills="query-results.listing-has-rows")
class OptionalJobNotListed(ReadService):
    """jobs.getQueryResults lists no row of a job that was optional."""

    def listing(self, project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
        optional = asked.body.get("jobCreationMode") == "JOB_CREATION_OPTIONAL"
        return super().listing(project, asked, start, 0 if optional else most)


@behaviour_mutant("query-results.default-dataset-ignored", kills="query-results.default-dataset-is-used")
class DefaultDatasetIgnored(ReadService):
    """A query has to name its table in full."""

    def qualified(self, text: str, body: dict[str, Any]) -> str:  # noqa: ARG002  # the shape of a step
        return text
