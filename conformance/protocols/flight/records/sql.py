"""The steps of a case of Arrow Flight SQL: statements, prepared statements, transactions, ingestion and metadata.

A statement is a template: ``{table}`` is the name of the case's table on the server, ``{columns}`` its columns with
their types, ``{names}`` their names, ``{values}`` all of its rows, ``{rows:I-J}`` those from I to before J, and
``{markers}`` one parameter for each column, ``{marker}`` one parameter. ``{create}`` is the statement that makes the
table.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from conformance._codec import RecordError
from conformance.protocols.flight.records.enums import EndOfSavepoint, EndOfTransaction, IfExists, IfNotExist
from conformance.records.base import record
from conformance.records.step import CallStep, Expect

__all__ = [
    "FlightSqlStep",
    "SqlBegin",
    "SqlBind",
    "SqlCancel",
    "SqlClose",
    "SqlEnd",
    "SqlEndSavepoint",
    "SqlIngest",
    "SqlMetadata",
    "SqlPrepare",
    "SqlQuery",
    "SqlSavepoint",
    "SqlUpdate",
]


def _check_one(sql: str, prepared: str, path: str) -> None:
    if bool(sql) == bool(prepared):
        raise RecordError(path, "either sql or the label of a prepared statement", sql)


@record
class SqlQuery(CallStep):
    """Ask for the FlightInfo of a query, or with ``schema`` for its schema, and remember the info as ``label``.

    ``prepared`` is the label of a prepared statement, ``transaction`` that of a transaction. ``plan`` is a plan of
    Substrait in the place of a statement. With ``ordered``, the rows of the result are those of ``expect.rows`` in this
    order.
    """

    TAG: ClassVar[str] = "sql-query"

    sql: str = ""
    label: str = "i"
    prepared: str = ""
    transaction: str = ""
    schema: bool = False
    plan: bytes = b""
    ordered: bool = False
    expect: Expect = Expect()

    def __post_init__(self) -> None:
        if not self.plan:
            _check_one(self.sql, self.prepared, "sql-query")
        elif self.sql or self.prepared:
            raise RecordError("sql-query.plan", "no statement beside a plan", self.sql or self.prepared)


@record
class SqlUpdate(CallStep):
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
class SqlPrepare(CallStep):
    """Create a prepared statement and remember its handle as ``label``."""

    TAG: ClassVar[str] = "sql-prepare"

    sql: str
    label: str = "p"
    transaction: str = ""
    expect: Expect = Expect()


@record
class SqlBind(CallStep):
    """Bind the first column of the table's row ``row`` as the parameter of a prepared query."""

    TAG: ClassVar[str] = "sql-bind"

    prepared: str = "p"
    row: int = 0
    expect: Expect = Expect()


@record
class SqlClose(CallStep):
    """Close a prepared statement."""

    TAG: ClassVar[str] = "sql-close"

    prepared: str = "p"
    expect: Expect = Expect()


@record
class SqlBegin(CallStep):
    """Begin a transaction and remember its id as ``label``."""

    TAG: ClassVar[str] = "sql-begin"

    label: str = "t"
    expect: Expect = Expect()


@record
class SqlEnd(CallStep):
    """End a transaction."""

    TAG: ClassVar[str] = "sql-end"

    action: EndOfTransaction
    transaction: str = "t"
    expect: Expect = Expect()


@record
class SqlSavepoint(CallStep):
    """Begin a savepoint in a transaction, and remember its id as ``label``."""

    TAG: ClassVar[str] = "sql-savepoint"

    label: str = "s"
    transaction: str = "t"
    expect: Expect = Expect()


@record
class SqlEndSavepoint(CallStep):
    """End a savepoint; one that is rolled back to can be used again."""

    TAG: ClassVar[str] = "sql-end-savepoint"

    action: EndOfSavepoint
    savepoint: str = "s"
    expect: Expect = Expect()


@record
class SqlCancel(CallStep):
    """Cancel the query of an info by CancelQuery, which is deprecated."""

    TAG: ClassVar[str] = "sql-cancel"

    info: str = "i"
    expect: Expect = Expect()


@record
class SqlIngest(CallStep):
    """Load the table by CommandStatementIngest, with these options for a table that exists and for one that does not.

    ``transaction`` is the label of a transaction.
    """

    TAG: ClassVar[str] = "sql-ingest"

    if_exists: IfExists = IfExists.FAIL
    if_not_exist: IfNotExist = IfNotExist.CREATE
    transaction: str = ""
    expect: Expect = Expect()


@record
class SqlMetadata(CallStep):
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
    SqlQuery
    | SqlUpdate
    | SqlPrepare
    | SqlBind
    | SqlClose
    | SqlBegin
    | SqlEnd
    | SqlSavepoint
    | SqlEndSavepoint
    | SqlCancel
    | SqlIngest
    | SqlMetadata
)
