"""The schema of a table in REST form, and the columns that it means.

Source: ``TableFieldSchema`` of https://cloud.google.com/bigquery/docs/reference/rest/v2/tables.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from conformance.records import BqType, Column, Mode

__all__ = ["SchemaError", "not_a_change", "read_schema", "write_schema"]

_LEGACY: Final[Mapping[BqType, str]] = MappingProxyType(
    {BqType.INT64: "INTEGER", BqType.FLOAT64: "FLOAT", BqType.BOOL: "BOOLEAN"}
)
"""Types that the REST API writes under their legacy name."""

_TYPES: Final[Mapping[str, BqType]] = MappingProxyType(
    {
        **{kind.value: kind for kind in BqType},
        **{name: kind for kind, name in _LEGACY.items()},
        "STRUCT": BqType.RECORD,
        "DECIMAL": BqType.NUMERIC,
        "BIGDECIMAL": BqType.BIGNUMERIC,
    }
)
_RANGE_OF: Final = (BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP)
_LIMITS: Final = MappingProxyType({BqType.NUMERIC: (29, 9), BqType.BIGNUMERIC: (38, 38)})
"""Integer and fractional digits that the parameters of a decimal type may ask for."""


class SchemaError(Exception):
    """A schema that no table can have; the text says where and why."""


def read_schema(fields: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """The columns of ``schema.fields``.

    Raises:
        SchemaError: a field has no name, an unknown type or mode, or parameters that its type does not take.
    """
    if not fields:
        raise SchemaError("Schema has no fields.")
    columns = tuple(_read_field(field) for field in fields)
    counted = Counter(column.name.lower() for column in columns)
    for name, count in counted.items():
        if count > 1:
            raise SchemaError(f"Duplicate column name: {name}.")
    return columns


def _read_field(field: Mapping[str, Any]) -> Column:
    name = field.get("name")
    if not isinstance(name, str) or not name:
        raise SchemaError(f"expected a field with a name, got {dict(field)!r}")
    kind = _TYPES.get(str(field.get("type", "")).upper())
    if kind is None:
        raise SchemaError(
            f"field {name}: expected a type out of {', '.join(sorted(_TYPES))}, got {field.get('type')!r}"
        )
    mode = str(field.get("mode") or Mode.NULLABLE).upper()
    if mode not in set(Mode):
        raise SchemaError(f"field {name}: expected a mode out of {', '.join(Mode)}, got {field.get('mode')!r}")
    precision, scale = _decimal_parameters(name, kind, field)
    return Column(
        name,
        kind,
        Mode(mode),
        fields=read_schema(field.get("fields") or ()) if kind is BqType.RECORD else (),
        precision=precision,
        scale=scale,
        max_length=_number(name, field, "maxLength") if kind in (BqType.STRING, BqType.BYTES) else None,
        range_of=_range_of(name, field) if kind is BqType.RANGE else None,
    )


def _number(name: str, field: Mapping[str, Any], key: str) -> int | None:
    """An int64 in the JSON of Google's APIs: a decimal string, or a number."""
    value = field.get(key)
    if value is None:
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        raise SchemaError(f"field {name}: expected an integer {key}, got {value!r}") from None


def _decimal_parameters(name: str, kind: BqType, field: Mapping[str, Any]) -> tuple[int | None, int | None]:
    precision, scale = _number(name, field, "precision"), _number(name, field, "scale")
    if precision is None and scale is None:
        return None, None
    if kind not in _LIMITS:
        raise SchemaError(f"field {name}: precision and scale belong to NUMERIC and BIGNUMERIC, not to {kind}")
    whole, fractional = _LIMITS[kind]
    least = max(1, scale or 0)
    if precision is None or not 0 <= (scale or 0) <= fractional or not least <= precision <= (scale or 0) + whole:
        raise SchemaError(
            f"field {name}: expected a {kind} of at most {whole} integer and {fractional} fractional digits, "
            f"got precision {precision} and scale {scale}"
        )
    return precision, scale


def _range_of(name: str, field: Mapping[str, Any]) -> BqType:
    kind = str((field.get("rangeElementType") or {}).get("type", "")).upper()
    if kind not in _RANGE_OF:
        raise SchemaError(f"field {name}: expected rangeElementType out of {', '.join(_RANGE_OF)}, got {kind!r}")
    return BqType(kind)


def not_a_change(before: Sequence[Column], after: Sequence[Column]) -> str:
    """Why a schema cannot follow another one by ``tables.patch``; empty if it can.

    New columns come behind all others and are not REQUIRED, and REQUIRED ones may become NULLABLE
    (https://cloud.google.com/bigquery/docs/managing-table-schemas).
    """
    kept = after[: len(before)]
    for old, new in itertools.zip_longest(before, kept):
        if new is None or new.name != old.name:
            return f"Field {old.name} is missing in new schema"
        if new != old and (new.mode is not Mode.NULLABLE or dataclasses.replace(new, mode=Mode.REQUIRED) != old):
            return f"Field {old.name} has changed"
    required = [column.name for column in after[len(before) :] if column.mode is Mode.REQUIRED]
    return f"Cannot add required fields to an existing schema. (field: {required[0]})" if required else ""


def write_schema(columns: Sequence[Column]) -> dict[str, Any]:
    """The columns in REST form, under the legacy type names that the API answers with."""
    return {"fields": [_write_field(column) for column in columns]}


def _write_field(column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {
        "name": column.name,
        "type": _LEGACY.get(column.type, column.type.value),
        "mode": column.mode.value,
    }
    for key, number in (("precision", column.precision), ("scale", column.scale), ("maxLength", column.max_length)):
        if number is not None:
            field[key] = str(number)
    if column.range_of is not None:
        field["rangeElementType"] = {"type": column.range_of.value}
    if column.fields:
        field |= write_schema(column.fields)
    return field
