"""The REST resource ``tables.get`` of a table, made from the columns of a case.

Some clients ask for it before they read through the Storage API. No data of a target is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.records import BqType, Column

__all__ = ["TABLE", "rest_schema", "table_path", "table_resource"]

TABLE: Final = re.compile(r"projects/(?P<project>[^/]+)/datasets/(?P<dataset>[^/]+)/tables/(?P<table>[^/]+)")
"""The name of a table in the Storage API."""

_LEGACY: Final[Mapping[BqType, str]] = {
    BqType.INT64: "INTEGER",
    BqType.FLOAT64: "FLOAT",
    BqType.BOOL: "BOOLEAN",
}
"""``tables.get`` answers with legacy SQL names where they differ from GoogleSQL (REST reference, TableFieldSchema)."""


def table_path(*, project: str, dataset: str, table: str) -> str:
    """The path of ``tables.get`` for a table."""
    return f"/bigquery/v2/projects/{project}/datasets/{dataset}/tables/{table}"


def table_resource(*, project: str, dataset: str, table: str, columns: Iterable[Column]) -> dict[str, Any]:
    """The answer of ``tables.get``: names, type TABLE, and the schema."""
    return {
        "kind": "bigquery#table",
        "id": f"{project}:{dataset}.{table}",
        "type": "TABLE",
        "tableReference": {"projectId": project, "datasetId": dataset, "tableId": table},
        "schema": {"fields": rest_schema(columns)},
    }


def rest_schema(columns: Iterable[Column]) -> list[dict[str, Any]]:
    """The columns as ``TableFieldSchema`` objects; numbers are strings there, like every int64 of the REST API."""
    return [_field(column) for column in columns]


def _field(column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {
        "name": column.name,
        "type": _LEGACY.get(column.type, column.type.value),
        "mode": column.mode.value,
    }
    numbers = {"precision": column.precision, "scale": column.scale, "maxLength": column.max_length}
    field |= {key: str(number) for key, number in numbers.items() if number is not None}
    if column.fields:
        field["fields"] = rest_schema(column.fields)
    if column.range_of is not None:
        field["rangeElementType"] = {"type": column.range_of.value}
    return field
