"""The schema of a table as BigQueryWrite says it (``google/cloud/bigquery/storage/v1/table.proto``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.protocols.storage_write.contract.classes import CLASSES
from conformance.protocols.storage_write.wire.messages import FIELD_TYPES, MODES
from conformance.records import Column

__all__ = ["table_schema"]


def table_schema(columns: Sequence[Column]) -> Any:
    """The TableSchema of columns."""
    return CLASSES["TableSchema"](fields=[_field(column) for column in columns])


def _field(column: Column) -> Any:
    made = CLASSES["TableFieldSchema"](
        name=column.name,
        type=FIELD_TYPES[column.type],
        mode=MODES[column.mode],
        fields=[_field(one) for one in column.fields],
        max_length=column.max_length or 0,
        precision=column.precision or 0,
        scale=column.scale or 0,
    )
    if column.range_of is not None:
        made.range_element_type.type = FIELD_TYPES[column.range_of]
    return made
