"""Mutants of how jobs.getQueryResults and jobs.get answer about a query in Arrow, and of how long its job is known."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.reference.catalogue import MissingError
from conformance.protocols.storage_read.reference.instants import FORMS
from conformance.protocols.storage_read.reference.mutants.queries import IN_ROWS, PYTHON, STREAMS
from conformance.protocols.storage_read.reference.queries import QueryRefusedError, RunOfQuery
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService

FEW: Final = 16
"""The results that a server keeps which keeps too few."""


@behaviour_mutant("query-results.listing-counts-its-page", kills="query-results.listing-total-is-true", source=PYTHON)
class ListingCountsItsPage(ReadService):
    """totalRows of jobs.getQueryResults is the number of rows that it lists."""

    def listing(self, project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
        answer = super().listing(project, asked, start, most)
        return answer | {"totalRows": str(len(answer["rows"]))}


@behaviour_mutant("query-results.listing-zero-is-all", kills="query-results.listing-keeps-the-maximum", source=PYTHON)
class ListingZeroIsAll(ReadService):
    """A listing for 0 rows has all of them: 0 is taken for no maximum."""

    def listing(self, project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
        return super().listing(project, asked, start, most or asked.rows.num_rows)


@behaviour_mutant("query-results.listing-token-begins-anew", kills="query-results.listing-begins-at-the-index")
class ListingTokenBeginsAnew(ReadService):
    """The page token of a listing leads to the first row again."""

    def listing(self, project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
        answer = super().listing(project, asked, start, most)
        return answer | {"pageToken": "0"} if "pageToken" in answer else answer


@behaviour_mutant("query-results.page-token-begins-anew", kills="query-results.listing-begins-at-the-index")
class PageTokenBeginsAnew(ReadService):
    """The page token of a page in Arrow leads jobs.getQueryResults to the first row again."""

    def behind_page(self, asked: RunOfQuery) -> int:  # noqa: ARG002  # the shape of a step
        return 0


@behaviour_mutant("query-results.page-token-skips-a-page", kills="query-results.listing-begins-at-the-index")
class PageTokenSkipsPage(ReadService):
    """The page token of a page in Arrow leads jobs.getQueryResults to the second page behind it."""

    def behind_page(self, asked: RunOfQuery) -> int:
        return 2 * super().behind_page(asked)


@behaviour_mutant("query-results.listing-in-the-form", kills="query-results.listings-agree", source=PYTHON)
class ListingInForm(ReadService):
    """The times of JSON have the form that the query names for Arrow: texts of ISO 8601 for picoseconds."""

    def listing(self, project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
        answer = super().listing(project, asked, start, most)
        times = [place for place, field in enumerate(answer["schema"]["fields"]) if field["type"] == "TIMESTAMP"]
        for row in answer["rows"] if asked.form == FORMS["TIMESTAMP_PRECISION_PICOS"] else ():
            for place in times:
                _name_instant(row["f"][place])
        return answer


def _name_instant(cell: dict[str, Any]) -> None:
    if isinstance(cell["v"], str):
        cell["v"] = f"{dt.datetime(1970, 1, 1) + dt.timedelta(seconds=float(cell['v']))}Z"  # noqa: DTZ001  # it says Z


@behaviour_mutant("query-results.job-is-not-kept", kills="query-results.job-is-found", source=PYTHON)
class JobNotKept(ReadService):
    """jobs.get does not know the jobs that jobs.query made."""

    def described(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        raise MissingError(f"Not found: Job {project}:{asked.job}")


@behaviour_mutant(
    "query-results.few-results-are-kept", kills="query-results.result-outlives-other-queries", source=STREAMS
)
class FewResultsKept(ReadService):
    """The results of the last few queries are kept, and no others."""

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = super().run_query(project, body)
        for old in list(self.results)[:-FEW]:
            del self.results[old]
        return answer


@behaviour_mutant(
    "query-results.late-error-is-lost",
    kills="query-results.failing-row-is-an-error",
    also={"query-results.failed-job-has-the-error": "the query has not failed, and so its job has no error"},
)
class LateErrorLost(ReadService):
    """A query that fails when its client no longer waits has ended without rows."""

    def select(self, text: str, body: dict[str, Any], job: str) -> RunOfQuery:
        try:
            return super().select(text, body, job)
        except QueryRefusedError:
            if str(body.get("timeoutMs", "")) != "0" or " WHERE IF" not in text:
                raise
            return super().select(text.partition(" WHERE IF")[0] + " LIMIT 0", body, job)


@behaviour_mutant("query-results.dry-run-is-the-first-time", kills="query-results.arrow-or-an-error", also=IN_ROWS)
class DryRunIsFirstTime(ReadService):
    """A query with the id of a dry run is that one again: it is not run."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.dry: dict[str, dict[str, Any]] = {}

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:
        name = str(body.get("requestId", ""))
        if name and body.get("dryRun"):
            return self.dry.setdefault(name, super().run_query(project, body))
        return self.dry.get(name) or super().run_query(project, body)


@behaviour_mutant("query-results.repetition-runs-again", kills="query-results.repetition-runs-once", source=PYTHON)
class RepetitionRunsAgain(ReadService):
    """A statement that a client sends again runs again."""

    def repeated_by(self, text: str, body: dict[str, Any]) -> None:  # noqa: ARG002  # the shape of a step
        return None


@behaviour_mutant(
    "query-results.changes-are-not-counted",
    kills="query-results.statement-counts-its-rows",
    also={"query-results.repetition-runs-once": "it is judged by the number that DELETE says"},
    source=PYTHON,
)
class ChangesNotCounted(ReadService):
    """The answer to INSERT and DELETE does not say how many rows they changed."""

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = super().run_query(project, body)
        answer.pop("numDmlAffectedRows", None)
        return answer


@behaviour_mutant("query-results.local-times-in-the-form", kills="query-results.page-has-the-columns", also=IN_ROWS)
class LocalTimesInForm(ReadService):
    """A DATETIME has the form of times that the query names, as if it were a TIMESTAMP."""

    def schema_in_form(self, asked: RunOfQuery, form: int) -> pa.Schema:
        return _with_local(super().schema_in_form(asked, form), form)

    def in_form(self, batch: pa.RecordBatch, form: int) -> pa.RecordBatch:
        made = super().in_form(batch, form)
        return made.cast(_with_local(made.schema, form))


def _with_local(schema: pa.Schema, form: int) -> pa.Schema:
    own = pa.timestamp("ns") if form == FORMS["TIMESTAMP_PRECISION_NANOS"] else pa.timestamp("us")
    return pa.schema([field.with_type(own) if field.type == pa.timestamp("us") else field for field in schema])
