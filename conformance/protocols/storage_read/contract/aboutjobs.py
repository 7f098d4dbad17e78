"""What is said over REST about the jobs of queries: listings of one result, jobs, and statements that change rows."""

from __future__ import annotations

import dataclasses

import pyarrow as pa

from conformance.protocols.storage_read.contract.queryview import JobView, ListingView, QueriesView, QueryView
from conformance.protocols.storage_read.contract.results import (
    CHANGES,
    expected_of,
    has_result,
    listings,
    queries,
    rows_then,
)
from conformance.records import QueryStatement

__all__ = ["Change", "ListingPair", "alike", "changes", "failed_jobs", "jobs"]


@dataclasses.dataclass(frozen=True, slots=True)
class ListingPair:
    """Two listings of results with the same rows in the same order, from the same row on."""

    before: ListingView
    after: ListingView
    response: None = None

    @property
    def call(self) -> int:
        """The index of the later call."""
        return self.after.index


def alike(view: QueriesView) -> list[ListingPair]:
    """Return each listing of an ordered result with the first one of a result with the same rows, from the same row."""
    first: list[tuple[ListingView, pa.Table]] = []
    found = []
    for call in listings(view):
        if call.query is None or call.rows is None or call.start is None:
            continue
        if call.query.step.statement is not QueryStatement.ORDERED:
            continue
        expected = expected_of(call.query)
        other = next((one for one, rows in first if one.start == call.start and rows.equals(expected)), None)
        if other is None:
            first.append((call, expected))
        else:
            found.append(ListingPair(other, call))
    return found


def jobs(view: QueriesView) -> list[JobView]:
    """Return the calls of jobs.get about queries that were answered in Arrow, or still ran."""
    calls = view.jobs if isinstance(view, QueriesView) else ()
    return [call for call in calls if call.query is not None and has_result(call.query)]


def failed_jobs(view: QueriesView) -> list[JobView]:
    """Return the answers of jobs.get that call a query DONE that fails at a row, and whose job says how it ended."""
    calls = view.jobs if isinstance(view, QueriesView) else ()
    failing = [call for call in calls if call.query and call.query.step.statement is QueryStatement.FAILING]
    return [call for call in failing if call.ok and call.state == "DONE"]


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """An answered statement that changes ``rows`` rows, in a table of which copies were sent ``again`` or not."""

    query: QueryView
    rows: int
    again: bool
    response: None = None

    @property
    def call(self) -> int:
        """The index of the call."""
        return self.query.index


def changes(view: QueriesView) -> list[Change]:
    """Return the statements that change rows, of cases whose statements were all answered.

    Copies with one ``requestId`` are one, which was sent again.
    """
    called = [call for call in queries(view) if call.step.statement in CHANGES]
    if not all(call.answer is not None and call.complete and not call.has("errors") for call in called):
        return []
    found, sent, rows, again = [], set(), 0, False
    for call in called:
        count = rows_then(view, call.raw.step).num_rows
        match call.step.statement:
            case QueryStatement.INSERT:
                found.append(Change(call, 0, again=False))
            case QueryStatement.COPY:
                found.append(Change(call, count, again=False))
                known = bool(call.step.request_id) and call.step.request_id in sent
                rows, again = rows + count * (not known), again or known
                sent.add(call.step.request_id)
            case QueryStatement.CLEAR:
                found.append(Change(call, rows, again=again))
                rows, again = 0, False
    return found
