"""The messages of Arrow Flight SQL as descriptions, and the actions that carry them.

Each message travels inside a ``google.protobuf.Any``: in the command of a descriptor, or in the body of an action or of
its result. Source: https://github.com/apache/arrow/blob/main/format/FlightSql.proto.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from conformance._protobuftables import MessageSpec, declare

__all__ = ["ACTIONS", "ANY", "FLIGHT_SQL", "SOURCE", "TYPE_URL", "SqlAction"]

SOURCE: Final = "https://github.com/apache/arrow/blob/main/format/FlightSql.proto"
"""The definition of the messages."""
TYPE_URL: Final = "type.googleapis.com/arrow.flight.protocol.sql."
"""The beginning of the type URL of each message."""

_ENUMS: Final = {
    "EndTransaction": {0: "UNSPECIFIED", 1: "COMMIT", 2: "ROLLBACK"},
    "EndSavepoint": {0: "UNSPECIFIED", 1: "RELEASE", 2: "ROLLBACK"},
    "CancelResult": {0: "UNSPECIFIED", 1: "CANCELLED", 2: "CANCELLING", 3: "NOT_CANCELLABLE"},
    "TableNotExistOption": {0: "UNSPECIFIED", 1: "CREATE", 2: "FAIL"},
    "TableExistsOption": {0: "UNSPECIFIED", 1: "FAIL", 2: "APPEND", 3: "REPLACE"},
}
_KEYS: Final = ("1 catalog string?", "2 db_schema string?", "3 table string")
_HANDLE: Final = "1 prepared_statement_handle bytes"

_MESSAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "CommandGetSqlInfo": ("1 info uint32*",),
    "CommandGetXdbcTypeInfo": ("1 data_type int32?",),
    "CommandGetCatalogs": (),
    "CommandGetDbSchemas": ("1 catalog string?", "2 db_schema_filter_pattern string?"),
    "CommandGetTables": (
        "1 catalog string?",
        "2 db_schema_filter_pattern string?",
        "3 table_name_filter_pattern string?",
        "4 table_types string*",
        "5 include_schema bool",
    ),
    "CommandGetTableTypes": (),
    "CommandGetPrimaryKeys": _KEYS,
    "CommandGetExportedKeys": _KEYS,
    "CommandGetImportedKeys": _KEYS,
    "CommandGetCrossReference": (
        "1 pk_catalog string?",
        "2 pk_db_schema string?",
        "3 pk_table string",
        "4 fk_catalog string?",
        "5 fk_db_schema string?",
        "6 fk_table string",
    ),
    "CommandStatementQuery": ("1 query string", "2 transaction_id bytes?"),
    "CommandStatementUpdate": ("1 query string", "2 transaction_id bytes?"),
    "CommandPreparedStatementQuery": (_HANDLE,),
    "CommandPreparedStatementUpdate": (_HANDLE,),
    "TableDefinitionOptions": (
        "1 if_not_exist enum:TableNotExistOption",
        "2 if_exists enum:TableExistsOption",
    ),
    "CommandStatementIngest": (
        "1 table_definition_options TableDefinitionOptions",
        "2 table string",
        "3 schema string?",
        "4 catalog string?",
        "5 temporary bool",
        "6 transaction_id bytes?",
        "1000 options map<string,string>",
    ),
    "DoPutUpdateResult": ("1 record_count int64",),
    "DoPutPreparedStatementResult": ("1 prepared_statement_handle bytes?",),
    "ActionCreatePreparedStatementRequest": ("1 query string", "2 transaction_id bytes?"),
    "ActionCreatePreparedStatementResult": (
        _HANDLE,
        "2 dataset_schema bytes",
        "3 parameter_schema bytes",
        "4 is_update bool?",
    ),
    "ActionClosePreparedStatementRequest": (_HANDLE,),
    "ActionBeginTransactionRequest": (),
    "ActionBeginTransactionResult": ("1 transaction_id bytes",),
    "ActionEndTransactionRequest": ("1 transaction_id bytes", "2 action enum:EndTransaction"),
    "SubstraitPlan": ("1 plan bytes", "2 version string"),
    "CommandStatementSubstraitPlan": ("1 plan SubstraitPlan", "2 transaction_id bytes?"),
    "ActionCreatePreparedSubstraitPlanRequest": ("1 plan SubstraitPlan", "2 transaction_id bytes?"),
    "ActionBeginSavepointRequest": ("1 transaction_id bytes", "2 name string"),
    "ActionBeginSavepointResult": ("1 savepoint_id bytes",),
    "ActionEndSavepointRequest": ("1 savepoint_id bytes", "2 action enum:EndSavepoint"),
    "ActionCancelQueryRequest": ("1 info bytes",),
    "ActionCancelQueryResult": ("1 result enum:CancelResult",),
}

FLIGHT_SQL: Final[Mapping[str, MessageSpec]] = declare(SOURCE, _MESSAGES, _ENUMS)
"""Every message of Flight SQL that the suite uses, by its name."""

ANY: Final[MessageSpec] = declare(SOURCE, {"Carrier": ("1 message .google.protobuf.Any",)})[".google.protobuf.Any"]
"""The message that carries each of them."""


class SqlAction(NamedTuple):
    """The messages of one action; ``result`` is empty if it has none."""

    request: str
    result: str = ""


ACTIONS: Final[Mapping[str, SqlAction]] = MappingProxyType(
    {
        "CreatePreparedStatement": SqlAction(
            "ActionCreatePreparedStatementRequest", "ActionCreatePreparedStatementResult"
        ),
        "ClosePreparedStatement": SqlAction("ActionClosePreparedStatementRequest"),
        "BeginTransaction": SqlAction("ActionBeginTransactionRequest", "ActionBeginTransactionResult"),
        "EndTransaction": SqlAction("ActionEndTransactionRequest"),
        "BeginSavepoint": SqlAction("ActionBeginSavepointRequest", "ActionBeginSavepointResult"),
        "EndSavepoint": SqlAction("ActionEndSavepointRequest"),
        "CancelQuery": SqlAction("ActionCancelQueryRequest", "ActionCancelQueryResult"),
    }
)
"""The actions of Flight SQL by their types."""
