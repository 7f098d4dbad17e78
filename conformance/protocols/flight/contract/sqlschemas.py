"""The schemas that FlightSql.proto fixes for the answers to its metadata commands, and the types of SqlInfo values.

Source: https://github.com/apache/arrow/blob/main/format/FlightSql.proto, the comment above each command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import pyarrow as pa

__all__ = ["INFO_KINDS", "ORDER", "SCHEMAS", "VALUES", "FixedColumn", "arrow_schema", "kind_of_info"]


class FixedColumn(NamedTuple):
    """A column that the text fixes; ``required`` if it is *not null*."""

    name: str
    type: pa.DataType
    required: bool = False


def _columns(*rows: str) -> tuple[FixedColumn, ...]:
    """Columns from rows ``name type [!]``; ``!`` means not null."""
    found = []
    for row in rows:
        name, kind, *required = row.split()
        found.append(FixedColumn(name, _TYPES[kind], bool(required)))
    return tuple(found)


VALUES: Final = pa.dense_union(
    [
        pa.field("string_value", pa.string()),
        pa.field("bool_value", pa.bool_()),
        pa.field("bigint_value", pa.int64()),
        pa.field("int32_bitmask", pa.int32()),
        pa.field("string_list", pa.list_(pa.string())),
        pa.field("int32_to_int32_list_map", pa.map_(pa.int32(), pa.list_(pa.int32()))),
    ]
)
"""The type of the column ``value`` of CommandGetSqlInfo."""

_TYPES: Final = {
    "utf8": pa.string(),
    "bytes": pa.binary(),
    "bool": pa.bool_(),
    "int32": pa.int32(),
    "uint32": pa.uint32(),
    "uint8": pa.uint8(),
    "list": pa.list_(pa.string()),
    "union": VALUES,
}
_TABLES: Final = ("catalog_name utf8", "db_schema_name utf8", "table_name utf8 !", "table_type utf8 !")
_REFERENCES: Final = _columns(
    "pk_catalog_name utf8",
    "pk_db_schema_name utf8",
    "pk_table_name utf8 !",
    "pk_column_name utf8 !",
    "fk_catalog_name utf8",
    "fk_db_schema_name utf8",
    "fk_table_name utf8 !",
    "fk_column_name utf8 !",
    "key_sequence int32 !",
    "fk_key_name utf8",
    "pk_key_name utf8",
    "update_rule uint8 !",
    "delete_rule uint8 !",
)
WITH_SCHEMA: Final = "CommandGetTables with include_schema"

SCHEMAS: Final[Mapping[str, Sequence[FixedColumn]]] = MappingProxyType(
    {
        "CommandGetSqlInfo": _columns("info_name uint32 !", "value union"),
        "CommandGetXdbcTypeInfo": _columns(
            "type_name utf8 !",
            "data_type int32 !",
            "column_size int32",
            "literal_prefix utf8",
            "literal_suffix utf8",
            "create_params list",
            "nullable int32 !",
            "case_sensitive bool !",
            "searchable int32 !",
            "unsigned_attribute bool",
            "fixed_prec_scale bool !",
            "auto_increment bool",
            "local_type_name utf8",
            "minimum_scale int32",
            "maximum_scale int32",
            "sql_data_type int32 !",
            "datetime_subcode int32",
            "num_prec_radix int32",
            "interval_precision int32",
        ),
        "CommandGetCatalogs": _columns("catalog_name utf8 !"),
        "CommandGetDbSchemas": _columns("catalog_name utf8", "db_schema_name utf8 !"),
        "CommandGetTables": _columns(*_TABLES),
        WITH_SCHEMA: _columns(*_TABLES, "table_schema bytes !"),
        "CommandGetTableTypes": _columns("table_type utf8 !"),
        "CommandGetPrimaryKeys": _columns(
            "catalog_name utf8",
            "db_schema_name utf8",
            "table_name utf8 !",
            "column_name utf8 !",
            "key_name utf8",
            "key_sequence int32 !",
        ),
        "CommandGetExportedKeys": _REFERENCES,
        "CommandGetImportedKeys": _REFERENCES,
        "CommandGetCrossReference": _REFERENCES,
    }
)
"""The columns of each command's answer."""

ORDER: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "CommandGetXdbcTypeInfo": ("data_type", "type_name"),
        "CommandGetCatalogs": ("catalog_name",),
        "CommandGetDbSchemas": ("catalog_name", "db_schema_name"),
        "CommandGetTables": ("catalog_name", "db_schema_name", "table_name", "table_type"),
        WITH_SCHEMA: ("catalog_name", "db_schema_name", "table_name", "table_type"),
        "CommandGetTableTypes": ("table_type",),
    }
)
"""The columns by which an answer should be ordered."""

_STRING, _BOOL, _NUMBER, _BITS, _STRINGS, _MAP = range(6)
KINDS: Final = ("utf8", "bool", "int64", "int32", "list<utf8>", "map<int32, list<int32>>")
"""The children of the union, by their type ids."""

INFO_KINDS: Final[Mapping[int, int]] = MappingProxyType(
    {
        **dict.fromkeys((0, 1, 2, 6, 7, 504, 513, 514, 529, 530, 531), _STRING),
        **dict.fromkeys((3, 4, 5, 9, 10, 11, 500, 501, 506, 515, 516, 518, 519, 520, 521, 523, 524), _BOOL),
        **dict.fromkeys((508, 509, 510, 511, 512), _STRINGS),
        **dict.fromkeys((8, 100, 101), _BITS),
        517: _MAP,
    }
)
"""The child of the union that the text names for a value: "Retrieves a UTF-8 string", "a boolean value", "a UTF-8
string list", "an int32" or "a map". Codes for which it says less are left out.
"""


def kind_of_info(code: int) -> int | None:
    """The type id of the value of a code; None if the text leaves it open."""
    return INFO_KINDS.get(code)


def arrow_schema(name: str) -> pa.Schema:
    """The schema as Arrow has it."""
    return pa.schema([pa.field(one.name, one.type, nullable=not one.required) for one in SCHEMAS[name]])
