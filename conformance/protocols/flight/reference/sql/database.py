"""Tables in memory, and statements on them.

A transaction is a copy of all tables, which a commit puts in their place.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from conformance.protocols.flight.reference.sql.statements import (
    PARAMETER,
    CreateTable,
    Delete,
    Drop,
    Insert,
    NotUnderstoodError,
    Select,
    Statement,
)

__all__ = ["Database", "NoSuchTableError", "TableExistsError", "Tables"]

Tables = dict[str, pa.Table]


class NoSuchTableError(Exception):
    """A statement names a table that there is not."""


class TableExistsError(Exception):
    """A table is to be made that there is."""


class Database:
    """Tables by name, and open transactions by id; several threads may use it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._tables: Tables = {}
        self._open: dict[bytes, Tables] = {}
        self._begun = 0
        self._savepoints: dict[bytes, tuple[bytes, Tables]] = {}

    def tables(self, transaction: bytes = b"") -> Tables:
        """The tables, as the transaction sees them; raises :class:`KeyError` for one that is not open."""
        return self._open[transaction] if transaction else self._tables

    def begin(self) -> bytes:
        """Begin a transaction."""
        with self.lock:
            self._begun += 1
            transaction = b"\xfft%d" % self._begun
            self._open[transaction] = dict(self._tables)
            return transaction

    def end(self, transaction: bytes, *, commit: bool) -> None:
        """End a transaction; raises :class:`KeyError` for one that is not open."""
        with self.lock:
            tables = self._open.pop(transaction)
            self._savepoints = {one: held for one, held in self._savepoints.items() if held[0] != transaction}
            if commit:
                self._tables = tables

    def savepoint(self, transaction: bytes) -> bytes:
        """Begin a savepoint; raises :class:`KeyError` for a transaction that is not open."""
        with self.lock:
            self._begun += 1
            savepoint = b"\xffs%d" % self._begun
            self._savepoints[savepoint] = (transaction, dict(self._open[transaction]))
            return savepoint

    def release(self, savepoint: bytes) -> None:
        """Forget a savepoint; raises :class:`KeyError` for one that there is not."""
        with self.lock:
            del self._savepoints[savepoint]

    def empty(self, savepoint: bytes) -> None:
        """Leave no row in the tables of the transaction of a savepoint, which a mutant does."""
        with self.lock:
            transaction, tables = self._savepoints[savepoint]
            self._open[transaction] = {name: table.slice(0, 0) for name, table in tables.items()}

    def back_to(self, savepoint: bytes) -> None:
        """Undo what was changed after a savepoint, and forget the later ones; raises :class:`KeyError`."""
        with self.lock:
            transaction, tables = self._savepoints[savepoint]
            self._open[transaction] = dict(tables)
            every = list(self._savepoints)
            for later in every[every.index(savepoint) + 1 :]:
                if self._savepoints[later][0] == transaction:
                    del self._savepoints[later]


def found(tables: Tables, name: str) -> pa.Table:
    """The table of a name; raises :class:`NoSuchTableError`."""
    if name not in tables:
        raise NoSuchTableError(f"there is no table {name}")
    return tables[name]


def changed(tables: Tables, statement: Statement, parameters: Sequence[Sequence[object]] = ()) -> int:
    """Execute an update, once for each row of parameters if there are any; returns how many records it changed."""
    match statement:
        case CreateTable():
            if statement.table in tables:
                raise TableExistsError(f"there is a table {statement.table}")
            tables[statement.table] = statement.schema.empty_table()
            return 0
        case Drop():
            found(tables, statement.table)
            del tables[statement.table]
            return 0
        case Insert():
            rows = [_bound(row, given) for given in parameters or ((),) for row in statement.rows]
            table = found(tables, statement.table)
            return added(tables, statement.table, _made(table.schema, statement.names, rows))
        case Delete():
            table = found(tables, statement.table)
            value = pa.scalar(statement.value, table.schema.field(statement.where).type)
            kept = table.filter(pc.fill_null(pc.not_equal(table.column(statement.where), value), fill_value=True))
            tables[statement.table] = kept
            return int(table.num_rows - kept.num_rows)
        case Select():
            raise NotUnderstoodError("a query is no update")


def added(tables: Tables, name: str, rows: pa.Table) -> int:
    """Add rows to a table; returns their number."""
    tables[name] = pa.concat_tables([found(tables, name), rows.cast(tables[name].schema)])
    return int(rows.num_rows)


def selected(tables: Tables, statement: Statement, parameters: Sequence[object] = ()) -> pa.Table:
    """The result of a query."""
    if not isinstance(statement, Select):
        raise NotUnderstoodError("an update is no query")
    if not statement.table:
        return pa.table({statement.names[0]: [statement.value]})
    table = found(tables, statement.table)
    if statement.where:
        (value,) = _bound((statement.value,), parameters)
        kind = table.schema.field(statement.where).type
        table = table.filter(pc.equal(table.column(statement.where), pa.scalar(value, kind)))
    if statement.order:
        table = table.sort_by([(statement.order, "descending" if statement.descending else "ascending")])
    return table if statement.names == ("*",) else table.select(list(statement.names))


def _bound(row: Sequence[object], given: Sequence[object]) -> list[object]:
    left = iter(given)
    try:
        return [next(left) if value is PARAMETER else value for value in row]
    except StopIteration:
        raise NotUnderstoodError("a parameter has no value") from None


def _made(schema: pa.Schema, names: Sequence[str], rows: Sequence[Sequence[object]]) -> pa.Table:
    given = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    nothing = [None] * len(rows)
    return pa.table(
        {field.name: pa.array(given.get(field.name, nothing), field.type) for field in schema}, schema=schema
    )
