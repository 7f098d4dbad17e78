"""Mutants of sessions on the tables that queries make."""

from __future__ import annotations

import dataclasses
from typing import Any

import pyarrow as pa

from conformance.contract.comparing.cellbits import take
from conformance.protocols.storage_read.reference.catalogue import Snapshot, TableId
from conformance.protocols.storage_read.reference.jobs import HIDDEN
from conformance.protocols.storage_read.reference.queries import RunOfQuery
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import FIRST_RESPONSE_ROWS, ReadService
from conformance.reference.statuses import Reason


@behaviour_mutant("session.anonymous-table-is-missing", kills="session.query-result-is-served")
class AnonymousTableIsMissing(ReadService):
    """A session on the anonymous table of a query's result is refused: nobody made its dataset."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        snapshot = super().take_snapshot(asked)
        if snapshot.table.dataset == HIDDEN:
            self.refuse(Reason.MISSING_TABLE, table=snapshot.table)
        return snapshot


@behaviour_mutant("rows.query-result-is-a-page", kills="rows.query-result-is-the-table")
class QueryResultIsAPage(ReadService):
    """A session on the anonymous table of a query's result has the rows of its first page alone."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        whole = super().take_snapshot(asked)
        if whole.table.dataset != HIDDEN:
            return whole
        return Snapshot(whole.table, whole.columns, whole.created, whole.rows.slice(0, FIRST_RESPONSE_ROWS))


@behaviour_mutant(
    "rows.query-result-is-a-view",
    kills="rows.query-result-is-the-table",
    also={"rows.ordered-result-keeps-its-order": "the source has another order"},
)
class QueryResultIsAView(ReadService):
    """A session on the table that a query has written shows the rows that its source has now."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        result = super().take_snapshot(asked)
        source = self.catalogue.sources.get(result.table)
        if source is None:
            return result
        now = self.catalogue.snapshot(source).rows
        return Snapshot(result.table, result.columns, result.created, now.cast(result.rows.schema))


@behaviour_mutant("rows.query-result-has-no-order", kills="rows.ordered-result-keeps-its-order")
class QueryResultHasNoOrder(ReadService):
    """A session on the anonymous table of a query's result has its rows from the last to the first."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        result = super().take_snapshot(asked)
        if result.table.dataset != HIDDEN:
            return result
        backwards = list(range(result.rows.num_rows))[::-1]
        return dataclasses.replace(result, rows=take(result.rows, backwards))


@behaviour_mutant("query-results.job-names-no-table", kills="query-results.job-names-its-table")
class JobNamesNoTable(ReadService):
    """jobs.get names no table for the result of a query that jobs.query has answered."""

    def result_table(self, project: str, asked: RunOfQuery) -> None:  # noqa: ARG002  # the shape of a step
        return None


@behaviour_mutant("query-results.table-lacks-the-page", kills="rows.query-result-is-the-table")
class TableLacksPage(ReadService):
    """The anonymous table of a query's result has the rows behind the page alone."""

    def table_rows(self, asked: RunOfQuery) -> pa.Table:
        return asked.rows.slice(self.page_rows(asked))


@behaviour_mutant("query-results.table-is-not-there", kills="session.query-result-is-served")
class TableIsNotThere(ReadService):
    """jobs.get names a table for the result of a query that jobs.query has answered, and nobody has made it."""

    def result_table(self, project: str, asked: RunOfQuery) -> TableId:
        return TableId(project, HIDDEN, f"result_{asked.job}")
