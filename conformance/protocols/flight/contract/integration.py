"""What the Flight SQL scenarios of Arrow's integration tests fix: statements, handles, counts and schemas.

The servers of the scenarios execute nothing: they compare what they are asked with these values, and answer with them.
Three of the schemas differ from the text of FlightSql.proto: they are those of Arrow Go 18.8.0, whose client accepts no
others. Source:
https://github.com/apache/arrow/blob/main/cpp/src/arrow/flight/integration_tests/test_integration.cc.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from conformance.protocols.flight.contract.encoding import number, part, text
from conformance.protocols.flight.contract.sqlschemas import SCHEMAS, VALUES, arrow_schema

__all__ = [
    "COUNTS",
    "INGESTED",
    "INGESTION",
    "METADATA",
    "PLAN",
    "PREPARED",
    "QUERY",
    "QUERY_IN_TRANSACTION",
    "SAVEPOINT",
    "SAVEPOINT_NAME",
    "SELECT",
    "SQL_INFO",
    "TRANSACTION",
    "UPDATE",
    "metadata_schema",
]

SELECT: Final = "SELECT STATEMENT"
UPDATE: Final = "UPDATE STATEMENT"
PREPARED: Final = ("SELECT PREPARED STATEMENT", "UPDATE PREPARED STATEMENT")
"""The statements that are prepared: a query and an update."""
PLAN: Final = part(1, b"plan") + text(2, "version")
"""The SubstraitPlan."""
TRANSACTION: Final = b"transaction_id"
SAVEPOINT: Final = b"savepoint_id"
SAVEPOINT_NAME: Final = "savepoint_name"

COUNTS: Final[Mapping[tuple[bool, bool], int]] = MappingProxyType(
    {(False, False): 10000, (False, True): 15000, (True, False): 20000, (True, True): 25000}
)
"""The records that an update changes, by whether it is prepared and whether it is in a transaction."""

_COLUMN: Final = {
    f"ARROW:FLIGHT:SQL:{name}": value
    for name, value in (
        ("TABLE_NAME", "test"),
        ("IS_AUTO_INCREMENT", "1"),
        ("IS_CASE_SENSITIVE", "0"),
        ("TYPE_NAME", "type_test"),
        ("SCHEMA_NAME", "schema_test"),
        ("IS_SEARCHABLE", "1"),
        ("CATALOG_NAME", "catalog_test"),
        ("PRECISION", "100"),
        ("REMARKS", "test column"),
    )
}
QUERY: Final = pa.schema([pa.field("id", pa.int64(), metadata=_COLUMN)])
"""The schema of the results of a query; there are no rows."""
QUERY_IN_TRANSACTION: Final = pa.schema([pa.field("pkey", pa.int32(), metadata=_COLUMN)])
"""The schema of the results of a query in a transaction."""

SQL_INFO: Final[Mapping[int, object]] = MappingProxyType(
    {4: False, 5: True, 6: "min_version", 7: "max_version", 8: 2, 9: True, 100: 42, 101: 7}
)
"""The values of CommandGetSqlInfo that a client of ``flight_sql:extension`` asks for."""

INGESTED: Final = pa.schema([pa.field("test_field", pa.int64())])
"""The schema of the three rows that are ingested."""


INGESTION: Final = (
    part(1, number(1, 1) + number(2, 3))
    + text(2, "test_table")
    + text(3, "test_schema")
    + text(4, "test_catalog")
    + number(5, 1)
    + part(6, b"123")
    + b"".join(part(1000, text(1, f"key{at}") + text(2, f"val{at}")) for at in (1, 2))
)
"""The CommandStatementIngest of a client: create a temporary table, or replace one that exists."""

_KEYS: Final = text(1, "catalog") + text(2, "db_schema") + text(3, "table")
METADATA: Final[Mapping[str, bytes]] = MappingProxyType(
    {
        "CommandGetCatalogs": b"",
        "CommandGetDbSchemas": text(1, "catalog") + text(2, "db_schema_filter_pattern"),
        "CommandGetTables": (
            text(1, "catalog")
            + text(2, "db_schema_filter_pattern")
            + text(3, "table_filter_pattern")
            + text(4, "table")
            + text(4, "view")
            + number(5, 1)
        ),
        "CommandGetTableTypes": b"",
        "CommandGetPrimaryKeys": _KEYS,
        "CommandGetExportedKeys": _KEYS,
        "CommandGetImportedKeys": _KEYS,
        "CommandGetCrossReference": b"".join(
            text(at, f"{side}_{name}")
            for at, (side, name) in enumerate(
                ((side, name) for side in ("pk", "fk") for name in ("catalog", "db_schema", "table")), 1
            )
        ),
        "CommandGetXdbcTypeInfo": b"",
        "CommandGetSqlInfo": number(1, 0) + number(1, 3),
    }
)
"""The metadata commands that a client of ``flight_sql`` sends, each with its message."""


_REQUIRED: Final = pa.dense_union([one.with_nullable(nullable=False) for one in VALUES])


def metadata_schema(name: str) -> pa.Schema:
    """The schema of the answer to a metadata command, as Arrow Go has it.

    It puts ``key_sequence`` before ``key_name``; ``value`` with its children and the items of ``create_params`` are not
    nullable there.
    """
    schema = arrow_schema(name)
    match name:
        case "CommandGetPrimaryKeys":
            names = [one.name for one in SCHEMAS[name]]
            return pa.schema([schema.field(one) for one in (*names[:4], "key_sequence", "key_name")])
        case "CommandGetSqlInfo":
            return schema.set(1, pa.field("value", _REQUIRED, nullable=False))
        case "CommandGetXdbcTypeInfo":
            at = schema.get_field_index("create_params")
            return schema.set(at, pa.field("create_params", pa.list_(pa.field("item", pa.string(), nullable=False))))
        case _:
            return schema
