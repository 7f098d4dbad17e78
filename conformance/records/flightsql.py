"""The steps of a case of Arrow Flight SQL: statements, prepared statements, transactions, ingestion and metadata.

A statement is a template: ``{table}`` is the name of the case's table on the server, ``{columns}`` its columns with
their types, ``{names}`` their names, ``{values}`` all of its rows, ``{rows:I-J}`` those from I to before J, and
``{markers}`` one parameter for each column, ``{marker}`` one parameter. ``{create}`` is the statement that makes the
table.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from conformance._codec import RecordError
from conformance.records.base import record
from conformance.records.closed import EndOfTransaction, IfExists, IfNotExist
from conformance.records.steps import Expect

__all__ = [
    "FlightSqlStep",
    "SqlBegin",
    "SqlBind",
    "SqlClose",
    "SqlEnd",
    "SqlIngest",
    "SqlMetadata",
    "SqlPrepare",
    "SqlQuery",
    "SqlUpdate",
]


def _check_one(sql: str, prepared: str, path: str) -> None:
    if bool(sql) == bool(prepared):
        raise RecordError(path, "either sql or the label of a prepared statement", sql)


@record
class SqlQuery:
    """Ask for the FlightInfo of a query, or with ``schema`` for its schema, and remember the info as ``label``.

    ``prepared`` is the label of a prepared statement, ``transaction`` that of a transaction.
    """

    TAG: ClassVar[str] = "sql-query"

    sql: str = ""
    label: str = "i"
    prepared: str = ""
    transaction: str = ""
    schema: bool = False
    expect: Expect = Expect()

    def __post_init__(self) -> None:
        _check_one(self.sql, self.prepared, "sql-query")


@record
class SqlUpdate:
    """Execute an update by DoPut; a ``prepared`` one gets every row of the table as its parameters.

    ``count`` is the number of records that it changes, if that is known.
    """

    TAG: ClassVar[str] = "sql-update"

    sql: str = ""
    prepared: str = ""
    transaction: str = ""
    count: int | None = None
    expect: Expect = Expect()

    def __post_init__(self) -> None:
        _check_one(self.sql, self.prepared, "sql-update")


@record
class SqlPrepare:
    """Create a prepared statement and remember its handle as ``label``."""

    TAG: ClassVar[str] = "sql-prepare"

    sql: str
    label: str = "p"
    transaction: str = ""
    expect: Expect = Expect()


@record
class SqlBind:
    """Bind the first column of the table's row ``row`` as the parameter of a prepared query."""

    TAG: ClassVar[str] = "sql-bind"

    prepared: str = "p"
    row: int = 0
    expect: Expect = Expect()


@record
class SqlClose:
    """Close a prepared statement."""

    TAG: ClassVar[str] = "sql-close"

    prepared: str = "p"
    expect: Expect = Expect()


@record
class SqlBegin:
    """Begin a transaction and remember its id as ``label``."""

    TAG: ClassVar[str] = "sql-begin"

    label: str = "t"
    expect: Expect = Expect()


@record
class SqlEnd:
    """End a transaction."""

    TAG: ClassVar[str] = "sql-end"

    action: EndOfTransaction
    transaction: str = "t"
    expect: Expect = Expect()


@record
class SqlIngest:
    """Load the table by CommandStatementIngest, with these options for a table that exists and for one that does not.

    ``transaction`` is the label of a transaction.
    """

    TAG: ClassVar[str] = "sql-ingest"

    if_exists: IfExists = IfExists.FAIL
    if_not_exist: IfNotExist = IfNotExist.CREATE
    transaction: str = ""
    expect: Expect = Expect()


@record
class SqlMetadata:
    """Ask for the FlightInfo of a metadata command, or with ``schema`` for its schema, and remember the info.

    ``table`` is a template of the name that the command is about: a filter of CommandGetTables, otherwise a table.
    ``types`` are types of tables, ``info`` the numbers of what CommandGetSqlInfo asks for.
    """

    TAG: ClassVar[str] = "sql-metadata"

    command: str
    label: str = "i"
    table: str = ""
    types: tuple[str, ...] = ()
    include_schema: bool = False
    info: tuple[int, ...] = ()
    schema: bool = False
    expect: Expect = Expect()


FlightSqlStep: TypeAlias = (
    SqlQuery | SqlUpdate | SqlPrepare | SqlBind | SqlClose | SqlBegin | SqlEnd | SqlIngest | SqlMetadata
)
