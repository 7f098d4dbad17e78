"""Mutants of tables whose columns change: schemas that are kept by name, and sessions that follow the table."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from conformance.contract import proto
from conformance.protocols.storage_read.reference import projection
from conformance.protocols.storage_read.reference.catalogue import (
    Snapshot,
    TableId,
    stored_schema,
    with_columns,
)
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.records import Column, Mode
from conformance.reference.mutants.reasons import IN_AVRO
from conformance.reference.statuses import Reason

if TYPE_CHECKING:
    from conformance.protocols.storage_read.reference.avro import AvroWriter


class _Remembering(ReadService):
    """Remembers the columns that each table had at first."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.first: dict[tuple[str, int], tuple[Column, ...]] = {}
        self.counts: dict[tuple[str, int], Snapshot] = {}

    def columns_at_first(self, snapshot: Snapshot) -> tuple[Column, ...]:
        """The columns that the table had at its first session."""
        return self.first.setdefault((str(snapshot.table), snapshot.created), snapshot.columns)


@behaviour_mutant(
    "columns.schema-is-kept",
    kills="columns.new-session-has-those-of-the-table",
    also={**IN_AVRO, "schema.columns-present": "the same requirement, asked of the bytes"},
)
class SchemaIsKept(_Remembering):
    """Sessions have the columns that the table had at its first session, as far as it still has them."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        names = {column.name for column in self.columns_at_first(fresh)}
        columns = tuple(column for column in fresh.columns if column.name in names)
        rows = fresh.rows.select([column.name for column in columns])
        return dataclasses.replace(fresh, columns=columns, rows=rows)


class _BeforeItWasDropped(ReadService):
    """Remembers the latest columns of each table, and of a table that was made again those of the one before."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.latest: dict[TableId, Snapshot] = {}

    def columns_by_name(self, table: TableId) -> tuple[Column, ...]:
        """The columns that are known by the name of a table: a change of them is noticed, a new table is not."""
        now = self.catalogue.snapshot(table)
        known = self.latest.setdefault(table, now)
        if known.created == now.created:
            self.latest[table] = known = now
        return known.columns


@behaviour_mutant(
    "columns.schema-outlives-its-table",
    kills="schema.columns-present",
    also={"schema.*": "the same requirement, asked of the bytes", "columns.*": "no row has a column that is gone"},
)
class SchemaOutlivesItsTable(_BeforeItWasDropped):
    """Sessions in ARROW on a table that was made again have the columns of the table before it, with NULL in them."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        columns = self.columns_by_name(fresh.table)
        if asked.data_format == proto.DATA_FORMAT["AVRO"] or columns == fresh.columns:
            return fresh
        return dataclasses.replace(fresh, columns=columns, rows=with_columns(fresh.rows, stored_schema(columns)))


@behaviour_mutant(
    "columns.avro-schema-outlives-its-table",
    kills="avro-schema.fields-are-the-columns",
    also={"avro-rows.*": "the rows cannot be read by the schema of another table"},
)
class AvroSchemaOutlivesItsTable(_BeforeItWasDropped):
    """Sessions in AVRO on a table that was made again have the schema of the table before it, and their own rows."""

    def create_read_session(self, request: Any) -> Any:
        answer = super().create_read_session(request)
        stream = self.sessions.find(answer.streams[0].name) if answer.streams else None
        if stream is not None:
            session = stream.session
            columns = self.columns_by_name(session.snapshot.table)
            if session.avro is not None and columns != session.snapshot.columns:
                session.avro.schema = self.avro_writer(columns, display_names=False).schema
                self.put_schema(answer, session)
        return answer


@behaviour_mutant(
    "columns.older-rows-are-lost",
    kills="columns.rows-are-those-of-the-changed-table",
    also={"session.rows-have-a-stream": "no row is left of a table that has earlier rows alone"},
)
class OlderRowsAreLost(_Remembering):
    """After a column was added, sessions have no row in which it is NULL."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        added = [column for column in fresh.columns if column.name not in _names(self.columns_at_first(fresh))]
        rows = fresh.rows
        for column in added:
            if column.mode is not Mode.REPEATED:
                rows = rows.filter(pc.is_valid(rows.column(column.name)))
        return dataclasses.replace(fresh, rows=rows)


@behaviour_mutant(
    "columns.added-has-no-null",
    kills="columns.rows-are-those-of-the-changed-table",
    also={"values.nulls": "the same requirement, asked of values"},
)
class AddedHasNoNull(_Remembering):
    """After a STRING column was added, rows from before have an empty text in it."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        first, rows = _names(self.columns_at_first(fresh)), fresh.rows
        for place, field in enumerate(rows.schema):
            if field.name not in first and pa.types.is_string(field.type):
                rows = rows.set_column(place, field, pc.fill_null(rows.column(place), ""))
        return dataclasses.replace(fresh, rows=rows)


@behaviour_mutant(
    "columns.session-follows-its-table",
    kills="rows.schema-is-the-sessions",
    also={
        "body.*": "the batch has nodes and buffers of other columns than the session's schema",
        "columns.session-keeps-its-rows": "a column of before is not there",
        "values.*": "the values of a column that got a wider type are of that",
    },
)
class SessionFollowsItsTable(ReadService):
    """A stream has the columns that its table has when it is read."""

    def find_stream(self, name: str) -> Stream:
        stream = super().find_stream(name)
        session = stream.session
        if self.catalogue.is_dropped(session.snapshot):
            return stream
        now = self.catalogue.snapshot(session.snapshot.table)
        if now.columns == session.snapshot.columns or session.avro is not None:
            return stream
        columns = projection.prune(now.columns, [])
        schema = self.encode_schema(self.served_schema(columns))
        moved = dataclasses.replace(session, columns=columns, schema_bytes=schema)
        return dataclasses.replace(stream, session=moved, rows=now.rows.slice(0, stream.rows.num_rows))


@behaviour_mutant(
    "columns.session-loses-what-is-dropped",
    kills="columns.session-keeps-its-rows",
    also={"values.nulls": "the same requirement, asked of values"},
)
class SessionLosesWhatIsDropped(ReadService):
    """After a column was dropped, streams of earlier sessions have NULL in it."""

    def find_stream(self, name: str) -> Stream:
        stream = super().find_stream(name)
        if self.catalogue.is_dropped(stream.session.snapshot):
            return stream
        left = _names(self.catalogue.snapshot(stream.session.snapshot.table).columns)
        rows = stream.rows
        for place, field in enumerate(rows.schema):
            if field.name not in left and field.nullable:
                rows = rows.set_column(place, field, pa.nulls(rows.num_rows, field.type))
        return dataclasses.replace(stream, rows=rows)


@behaviour_mutant("columns.change-ends-sessions", kills="columns.session-outlives-a-change")
class ChangeEndsSessions(ReadService):
    """A stream of a table whose columns have changed since is unknown."""

    def find_stream(self, name: str) -> Stream:
        stream = super().find_stream(name)
        snapshot = stream.session.snapshot
        if (
            not self.catalogue.is_dropped(snapshot)
            and self.catalogue.snapshot(snapshot.table).columns != snapshot.columns
        ):
            self.refuse(Reason.UNKNOWN_STREAM, stream=name)
        return stream


@behaviour_mutant("columns.changed-table-is-refused", kills="columns.changed-table-is-served")
class ChangedTableIsRefused(_Remembering):
    """No session is made of a table whose columns have changed."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        if fresh.columns != self.columns_at_first(fresh):
            self.refuse(Reason.MISSING_TABLE, table=fresh.table)
        return fresh


def _altered(before: Snapshot, now: Sequence[Column]) -> list[tuple[Column, Column]]:
    """The columns that have another name or type now, as they were and as they are: their places are the same."""
    if len(before.columns) != len(now):
        return []
    return [pair for pair in zip(before.columns, now, strict=True) if pair[0] != pair[1]]


@behaviour_mutant(
    "columns.session-follows-a-new-name",
    kills="rows.schema-is-the-sessions",
    also={**IN_AVRO, "columns.session-keeps-its-rows": "the name of before is not there"},
)
class SessionFollowsANewName(ReadService):
    """A stream of a session from before a column was renamed has the new name."""

    def find_stream(self, name: str) -> Stream:
        stream = super().find_stream(name)
        session = stream.session
        if self.catalogue.is_dropped(session.snapshot) or session.avro is not None:
            return stream
        altered = _altered(session.snapshot, self.catalogue.snapshot(session.snapshot.table).columns)
        names = {was.name: now.name for was, now in altered}
        columns = tuple(dataclasses.replace(one, name=names.get(one.name, one.name)) for one in session.columns)
        if columns == session.columns:
            return stream
        rows = stream.rows.rename_columns([names.get(one, one) for one in stream.rows.column_names])
        schema = self.encode_schema(self.served_schema(columns))
        return dataclasses.replace(
            stream, rows=rows, session=dataclasses.replace(session, columns=columns, schema_bytes=schema)
        )


@behaviour_mutant(
    "columns.renamed-comes-null",
    kills="columns.rows-are-those-of-the-changed-table",
    also={"values.*": "the same requirement, asked of values"},
)
class RenamedComesNull(_Remembering):
    """After a column was renamed, it has NULL in the rows from before."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        first = self.counts.setdefault((str(fresh.table), fresh.created), fresh)
        rows = fresh.rows
        for was, now in _altered(first, fresh.columns):
            if was.name != now.name:
                place, old = rows.schema.get_field_index(now.name), first.rows.num_rows
                values = rows.column(place).combine_chunks()
                parts = [pa.nulls(old, values.type), values.slice(old)]
                rows = rows.set_column(place, rows.schema.field(place), pa.chunked_array(parts))
        return dataclasses.replace(fresh, rows=rows)


@behaviour_mutant(
    "columns.widened-keeps-its-type",
    kills="types.numeric",
    also={
        "types.*": "the type of before in other columns",
        "body.*": "values of another type than the schema's",
        "values.*": "values of another type than the column's",
        "columns.*": "rows of another type than the table's",
        "rows.*": "rows of another type than the table's",
    },
)
class WidenedKeepsItsType(_Remembering):
    """After a column got a wider type, sessions say that it has the one of before, and send values of the new one."""

    def resolve_schema(self, asked: Any, columns: Sequence[Column]) -> tuple[bytes, AvroWriter | None]:
        schema, avro = super().resolve_schema(asked, columns)
        first = self.first.get(self.key, ())
        if avro is not None or len(first) != len(columns):
            return schema, avro
        kept = [
            dataclasses.replace(now, type=was.type) if was.name == now.name else now
            for was, now in zip(first, columns, strict=True)
        ]
        return self.encode_schema(self.served_schema(kept)), None

    key = ("", 0)

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        self.key = (str(fresh.table), fresh.created)
        self.columns_at_first(fresh)
        return fresh


@behaviour_mutant(
    "columns.session-follows-a-wider-type",
    kills="columns.session-keeps-its-rows",
    also={
        "body.*": "values of another type than the schema's",
        "values.*": "values of another type than the session's",
        "rows.*": "rows of another type than the session's",
        "types.*": "the type that the column gets later",
    },
)
class SessionFollowsAWiderType(ReadService):
    """A stream of a session from before a column got a wider type has its values in that type, under the old schema."""

    def find_stream(self, name: str) -> Stream:
        stream = super().find_stream(name)
        session = stream.session
        if self.catalogue.is_dropped(session.snapshot) or session.avro is not None:
            return stream
        now = dict(_altered(session.snapshot, self.catalogue.snapshot(session.snapshot.table).columns))
        columns = tuple(dataclasses.replace(now[one], name=one.name) if one in now else one for one in session.columns)
        if columns == session.columns:
            return stream
        rows = stream.rows
        for place, field in enumerate(rows.schema):
            wanted = next((one for one in columns if one.name == field.name), None)
            if wanted is not None and rows.schema.field(place).type != (kind := stored_schema([wanted]).field(0)).type:
                rows = rows.set_column(place, kind, rows.column(place).cast(kind.type))
        return dataclasses.replace(stream, rows=rows, session=dataclasses.replace(session, columns=columns))


def _names(columns: tuple[Column, ...]) -> frozenset[str]:
    return frozenset(column.name for column in columns)
