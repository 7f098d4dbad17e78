"""Mutants of tables of other kinds: views that are served, lost partitions, filters that nobody requires."""

from __future__ import annotations

import dataclasses
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from conformance.protocols.storage_read.reference.catalogue import Snapshot, TableId
from conformance.protocols.storage_read.reference.jobs import WHOLE_TABLE
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.records import BqType, Column
from conformance.reference.statuses import Reason


@behaviour_mutant("kinds.view-served", kills="errors.view-is-refused")
class ViewServed(ReadService):
    """A view is served: a session on it has the rows of its query."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        snapshot = super().take_snapshot(asked)
        view = self.catalogue.kinds.get(snapshot.table, {}).get("view")
        selected = WHOLE_TABLE.fullmatch(view["query"]) if view else None
        return snapshot if selected is None else self.catalogue.snapshot(TableId(*selected.groups()))


@behaviour_mutant("kinds.view-is-empty", kills="errors.view-is-refused")
class ViewIsEmpty(ReadService):
    """A session on a view has no streams, as one on an empty table."""

    def check_kind(self, snapshot: Snapshot, restriction: str) -> None:
        if "view" not in self.catalogue.kinds.get(snapshot.table, {}):
            super().check_kind(snapshot, restriction)


@behaviour_mutant("kinds.view-not-found", kills="errors.table-kind-has-its-code")
class ViewNotFound(ReadService):
    """A view is refused as a table that does not exist."""

    def check_kind(self, snapshot: Snapshot, restriction: str) -> None:
        if "view" in self.catalogue.kinds.get(snapshot.table, {}):
            self.refuse(Reason.MISSING_TABLE, table=snapshot.table)
        super().check_kind(snapshot, restriction)


@behaviour_mutant("kinds.filter-not-required", kills="errors.partition-filter-is-required")
class FilterNotRequired(ReadService):
    """A table that requires a filter on its partitions is served without one."""

    def filters_on(self, _column: str, _snapshot: Snapshot, _restriction: str) -> bool:
        return True


@behaviour_mutant("kinds.any-filter-will-do", kills="errors.partition-filter-is-required")
class AnyFilterWillDo(ReadService):
    """A table that requires a filter on its partitions is served with a filter on any column."""

    def filters_on(self, _column: str, _snapshot: Snapshot, restriction: str) -> bool:
        return bool(restriction)


@behaviour_mutant("kinds.partitioned-refused", kills="session.partitioned-table-is-served")
class PartitionedRefused(ReadService):
    """No partitioned table can be read."""

    def check_kind(self, snapshot: Snapshot, restriction: str) -> None:
        super().check_kind(snapshot, restriction)
        if snapshot.table in self.catalogue.kinds:
            self.refuse(Reason.NOT_A_TABLE)


@behaviour_mutant("kinds.first-partition", kills="rows.partitions-are-the-table")
class FirstPartition(ReadService):
    """A session on a partitioned table has the rows of its first partition."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        snapshot = super().take_snapshot(asked)
        field = self.catalogue.kinds.get(snapshot.table, {}).get("timePartitioning", {}).get("field")
        if field is None or not snapshot.rows.num_rows:
            return snapshot
        days = snapshot.rows.column(field)
        return dataclasses.replace(snapshot, rows=snapshot.rows.filter(pc.equal(days, days[0])))


@behaviour_mutant("kinds.partition-time", kills="schema.columns-known")
class PartitionTime(ReadService):
    """A session on a table that is partitioned by ingestion time has its pseudo-column, without asking for it."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        snapshot = super().take_snapshot(asked)
        parts = self.catalogue.kinds.get(snapshot.table, {}).get("timePartitioning")
        if parts is None or "field" in parts:
            return snapshot
        column = Column("_PARTITIONTIME", BqType.TIMESTAMP)
        times = pa.array([snapshot.created] * snapshot.rows.num_rows, pa.timestamp("us", "UTC"))
        rows = snapshot.rows.append_column(column.name, times)
        return dataclasses.replace(snapshot, columns=(*snapshot.columns, column), rows=rows)
