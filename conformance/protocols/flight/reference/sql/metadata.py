"""The answers of the reference to the metadata commands, as rows of the schemas that FlightSql.proto fixes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import pyarrow as pa

from conformance import __version__
from conformance.protocols.flight.contract.sqlschemas import INFO_KINDS, VALUES, arrow_schema
from conformance.protocols.flight.reference.sql.database import Tables

__all__ = ["CATALOG", "DB_SCHEMA", "INFO", "info_table", "rows_of", "tables_listed", "type_rows"]

CATALOG: Final = "memory"
DB_SCHEMA: Final = "main"
KIND: Final = "TABLE"

INFO: Final[Mapping[int, object]] = {
    0: "reference",
    1: __version__,
    2: pa.__version__,
    3: False,
    4: True,
    5: False,
    8: 2,
    9: True,
    10: True,
    11: True,
}
"""The answers to CommandGetSqlInfo, by the numbers of the enumeration SqlInfo."""

_TYPES: Final = (("BIGINT", -5), ("BOOLEAN", -7), ("DATE", 91), ("DOUBLE", 8), ("VARCHAR", 12))


def rows_of(name: str, rows: Iterable[Mapping[str, object]]) -> pa.Table:
    """The answer to a command with these rows."""
    return pa.Table.from_pylist(list(rows), schema=arrow_schema(name))


def like(pattern: str, text: str) -> bool:
    """True if a text is of a pattern, where ``%`` is any text and ``_`` any character."""
    parts = (".*" if one == "%" else "." if one == "_" else re.escape(one) for one in pattern)
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def tables_listed(tables: Tables, pattern: str, kinds: Collection[str]) -> Iterable[tuple[str, pa.Schema]]:
    """The names and schemas of the tables of a pattern, in order; ``kinds`` are the types of tables asked for."""
    if kinds and KIND not in kinds:
        return ()
    return [(name, tables[name].schema) for name in sorted(tables) if like(pattern, name)]


def type_rows(wanted: int | None) -> list[Mapping[str, object]]:
    """The types of the reference, or the one of a number, in the order of their numbers."""
    return [
        {
            "type_name": name, "data_type": code, "nullable": 1, "case_sensitive": name == "VARCHAR", "searchable": 3,
            "fixed_prec_scale": False, "sql_data_type": 9 if name == "DATE" else code,
            "datetime_subcode": 1 if name == "DATE" else None,
        }
        for name, code in sorted(_TYPES, key=lambda one: one[1])
        if wanted in (None, code)
    ]  # fmt: skip


def info_table(values: Mapping[int, object]) -> pa.Table:
    """The answer to CommandGetSqlInfo with these values."""
    kinds = [INFO_KINDS[code] for code in values]
    children = []
    for place, field in enumerate(VALUES):
        mine = [value for kind, value in zip(kinds, values.values(), strict=True) if kind == place]
        children.append(pa.array(mine, field.type))
    offsets = [kinds[:at].count(kind) for at, kind in enumerate(kinds)]
    union = pa.UnionArray.from_dense(
        pa.array(kinds, pa.int8()), pa.array(offsets, pa.int32()), children, [field.name for field in VALUES]
    )
    return pa.table([pa.array(list(values), pa.uint32()), union], schema=arrow_schema("CommandGetSqlInfo"))
