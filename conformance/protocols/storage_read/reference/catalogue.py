"""The tables that the reference holds, in memory, as columns of Arrow data with the time of each commit.

A table is a list of immutable chunks: a snapshot is the chunks committed up to an instant, so isolation costs nothing.
This module decides what is stored and what a snapshot sees; it knows no protocol.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from conformance.contract import mapping
from conformance.records import BqType, Column, Mode
from conformance.reference.tokens import Tokens, opaque

__all__ = [
    "AlreadyExistsError",
    "Catalogue",
    "CatalogueContent",
    "Chunk",
    "MissingError",
    "Snapshot",
    "StoredTable",
    "TableId",
    "stored_column",
    "stored_schema",
    "with_columns",
]

_INTERVAL_PARTS = tuple(Column(name, BqType.INT64, Mode.REQUIRED) for name in ("months", "days", "micros"))


class AlreadyExistsError(Exception):
    """The dataset or table exists already."""


class MissingError(Exception):
    """The dataset or table does not exist; the text names it."""


@dataclasses.dataclass(frozen=True, slots=True)
class TableId:
    """A table's place; as text it is ``project:dataset.table``, the form that the service's messages use."""

    project: str
    dataset: str
    table: str

    def __str__(self) -> str:
        return f"{self.project}:{self.dataset}.{self.table}"


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """A table as it was at one instant: its columns, and its rows in the form of :func:`stored_schema`.

    ``created`` is when the table was made, in microseconds since the Unix epoch.
    """

    table: TableId
    columns: tuple[Column, ...]
    created: int
    rows: pa.Table


@dataclasses.dataclass(frozen=True, slots=True)
class Chunk:
    """Rows, and when they were committed, in microseconds since the Unix epoch."""

    committed: int
    rows: pa.Table


@dataclasses.dataclass(slots=True)
class StoredTable:
    """A table: its columns, when it was made, and its rows."""

    columns: tuple[Column, ...]
    created: int
    chunks: list[Chunk]


@dataclasses.dataclass(frozen=True, slots=True)
class CatalogueContent:
    """The content of a catalogue: when each dataset was made, the tables, and the time of the last commit."""

    datasets: dict[tuple[str, str], int]
    tables: dict[TableId, StoredTable]
    last_commit: int


def _apart(tables: Mapping[TableId, StoredTable]) -> dict[TableId, StoredTable]:
    """The same tables, which do not change where these do; their chunks never change."""
    return {name: dataclasses.replace(table, chunks=list(table.chunks)) for name, table in tables.items()}


def stored_column(column: Column) -> Column:
    """The column as it is stored, where that differs from what is served.

    An INTERVAL is stored as its three parts, because its time part may exceed the int64 nanoseconds of Arrow's type.
    A REQUIRED RANGE is stored as nullable: the served form has no validity for its bounds, so it cannot say which are
    unbounded.
    """
    if column.type is BqType.INTERVAL:
        return dataclasses.replace(column, type=BqType.RECORD, fields=_INTERVAL_PARTS)
    if column.type is BqType.RANGE and column.mode is Mode.REQUIRED:
        return dataclasses.replace(column, mode=Mode.NULLABLE)
    if column.type is BqType.RECORD:
        return dataclasses.replace(column, fields=tuple(map(stored_column, column.fields)))
    return column


def with_columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The same rows with the columns of ``schema``: NULL, or an empty array, in those that they had not."""
    arrays = [
        rows.column(field.name) if field.name in rows.column_names else _absent(field.type, rows.num_rows)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _in_types(rows: pa.Table, schema: pa.Schema) -> list[pa.ChunkedArray]:
    return [
        values if values.type == field.type else _cast(values, field.type)
        for values, field in zip(rows.columns, schema, strict=True)
    ]


def _cast(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The numbers in another type; integers by way of a decimal that has room for each of them."""
    is_decimal = pa.types.is_decimal(kind) and pa.types.is_integer(values.type)
    return (values.cast(pa.decimal256(76, kind.scale)) if is_decimal else values).cast(kind)


def _absent(kind: pa.DataType, count: int) -> pa.Array:
    """The values of a column in rows that were inserted before it was added."""
    return pa.array([[]] * count, kind) if pa.types.is_list(kind) else pa.nulls(count, kind)


def stored_schema(columns: Sequence[Column]) -> pa.Schema:
    """The Arrow schema of a table's chunks."""
    return mapping.arrow_schema(map(stored_column, columns))


def _micros() -> int:
    return time.time_ns() // 1000


class Catalogue:
    """Datasets and tables; safe to use from many threads. ``clock`` gives microseconds since the Unix epoch.

    ``token`` gives the tokens of the names that the server makes up.
    ``ahead`` is what is added to it, in microseconds. ``sources`` names the table that a query made a table of, and
    ``kinds`` has the fields of the table resource of those that are no plain tables.
    """

    def __init__(self, clock: Callable[[], int] = _micros, token: Tokens = opaque) -> None:
        self._clock = clock
        self.token = token
        self.ahead = 0
        self.sources: dict[TableId, TableId] = {}
        self.kinds: dict[TableId, Mapping[str, Any]] = {}
        self._lock = threading.Lock()
        self._datasets: dict[tuple[str, str], int] = {}
        self._tables: dict[TableId, StoredTable] = {}
        self._last_commit = 0

    def clock(self) -> int:
        """The time in microseconds since the Unix epoch."""
        return self._clock() + self.ahead

    def kept(self) -> CatalogueContent:
        """What :meth:`restore` needs to have the same datasets and tables again."""
        with self._lock:
            return CatalogueContent(dict(self._datasets), _apart(self._tables), self._last_commit)

    def restore(self, kept: CatalogueContent) -> None:
        """Have the datasets and tables of another catalogue."""
        with self._lock:
            self._datasets, self._tables = dict(kept.datasets), _apart(kept.tables)
            self._last_commit = kept.last_commit

    def create_dataset(self, project: str, dataset: str) -> None:
        """Make a dataset; every project exists.

        Raises:
            AlreadyExistsError: it exists already.
        """
        with self._lock:
            if (project, dataset) in self._datasets:
                raise AlreadyExistsError(f"Already Exists: Dataset {project}:{dataset}")
            self._datasets[project, dataset] = self.clock()

    def has_dataset(self, project: str, dataset: str) -> bool:
        """Whether the dataset exists."""
        with self._lock:
            return (project, dataset) in self._datasets

    def has_tables(self, project: str, dataset: str) -> bool:
        """Whether a table is in the dataset."""
        with self._lock:
            return any((table.project, table.dataset) == (project, dataset) for table in self._tables)

    def drop_dataset(self, project: str, dataset: str) -> None:
        """Remove a dataset and its tables.

        Raises:
            MissingError: the dataset does not exist.
        """
        with self._lock:
            if self._datasets.pop((project, dataset), None) is None:
                raise MissingError(f"Not found: Dataset {project}:{dataset}")
            for table in [table for table in self._tables if (table.project, table.dataset) == (project, dataset)]:
                del self._tables[table]

    def create_table(self, table: TableId, columns: Sequence[Column]) -> None:
        """Make an empty table.

        Raises:
            AlreadyExistsError: it exists already.
            MissingError: its dataset does not exist.
        """
        with self._lock:
            if (table.project, table.dataset) not in self._datasets:
                raise MissingError(f"Not found: Dataset {table.project}:{table.dataset}")
            if table in self._tables:
                raise AlreadyExistsError(f"Already Exists: Table {table}")
            self._tables[table] = StoredTable(tuple(columns), self._commit_time(), [])

    def drop_table(self, table: TableId) -> None:
        """Remove a table; sessions that were opened on it keep their rows.

        Raises:
            MissingError: the table does not exist.
        """
        with self._lock:
            self._get(table)
            del self._tables[table]
            self.kinds.pop(table, None)

    def append(self, table: TableId, rows: pa.Table) -> None:
        """Commit rows (in the form of :func:`stored_schema`) to a table, visible to every later snapshot.

        Raises:
            MissingError: the table does not exist.
        """
        with self._lock:
            stored = self._get(table)
            if rows.schema != stored_schema(stored.columns):
                raise TypeError(f"expected rows of {stored_schema(stored.columns)}, got {rows.schema}")
            stored.chunks.append(Chunk(self._commit_time(), rows))

    def change_columns(self, table: TableId, columns: Sequence[Column]) -> None:
        """Give a table these columns: of one that it did not have, each of its rows has NULL, or an empty array.

        Sessions that were opened on it keep their rows.

        Raises:
            MissingError: the table does not exist.
        """
        with self._lock:
            stored = self._get(table)
            stored.columns = tuple(columns)
            schema = stored_schema(columns)
            stored.chunks = [Chunk(chunk.committed, with_columns(chunk.rows, schema)) for chunk in stored.chunks]

    def alter_column(self, table: TableId, old: Column, new: Column) -> None:
        """Put another column in the place of one, with its values in the new type.

        Raises:
            MissingError: the table does not exist.
        """
        with self._lock:
            stored = self._get(table)
            stored.columns = tuple(new if column == old else column for column in stored.columns)
            schema = stored_schema(stored.columns)
            stored.chunks = [
                Chunk(chunk.committed, pa.Table.from_arrays(_in_types(chunk.rows, schema), schema=schema))
                for chunk in stored.chunks
            ]

    def snapshot(self, table: TableId, at: int | None = None) -> Snapshot:
        """The table as of ``at`` (microseconds since the Unix epoch), or now.

        Raises:
            MissingError: the table does not exist.
        """
        with self._lock:
            stored = self._get(table)
            chunks = [chunk.rows for chunk in stored.chunks if at is None or chunk.committed <= at]
        rows = pa.concat_tables(chunks) if chunks else stored_schema(stored.columns).empty_table()
        return Snapshot(table, stored.columns, stored.created, rows)

    def is_dropped(self, snapshot: Snapshot) -> bool:
        """Whether the table of a snapshot is gone; a table that was made again under its name is another."""
        with self._lock:
            stored = self._tables.get(snapshot.table)
        return stored is None or stored.created != snapshot.created

    def _get(self, table: TableId) -> StoredTable:
        try:
            return self._tables[table]
        except KeyError:
            raise MissingError(f"Not found: Table {table}") from None

    def _commit_time(self) -> int:
        """Now, but later than every earlier commit: two commits never share an instant."""
        self._last_commit = max(self.clock(), self._last_commit + 1)
        return self._last_commit
