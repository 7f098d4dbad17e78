"""The forms of times in a query result: rows with their times in microseconds, whatever form was named."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.contract.queryview import FORMS, QueriesView

__all__ = ["in_micros"]

_INSTANT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,12})?(?:Z|\+00:00)"
)


def in_micros(rows: pa.Table, view: QueriesView, form: str) -> pa.Table:
    """Return rows of a result with their times in microseconds, if they came in the form that was named."""
    if not form:
        return rows
    wanted = view.table.schema
    for place, field in enumerate(rows.schema):
        if field.name not in wanted.names or field.type == (kind := _moved(field.type, wanted.field(field.name).type)):
            continue
        with contextlib.suppress(ValueError, pa.ArrowException):  # it is another type, which the clauses report
            if form == "NANOS":
                column = rows.column(place).cast(kind)
            else:
                values = rows.column(place).to_pylist()
                column = pa.chunked_array([[_micros(value, field.type, kind) for value in values]], kind)
            rows = rows.set_column(place, field.with_type(kind), column)
    return rows


def _moved(came: pa.DataType, wanted: pa.DataType) -> pa.DataType:
    """Return a type with those of its parts that have the form of a time, and have to be one, in microseconds.

    Only a TIMESTAMP has a form: other parts keep their types.
    """
    if pa.types.is_timestamp(wanted):
        return wanted if wanted.tz is not None and came in FORMS.values() else came
    if pa.types.is_list(came) and pa.types.is_list(wanted):
        return pa.list_(came.value_field.with_type(_moved(came.value_type, wanted.value_type)))
    if pa.types.is_struct(came) and pa.types.is_struct(wanted):
        places = [wanted.get_field_index(field.name) for field in came]
        parts = zip(came, places, strict=True)
        return pa.struct(
            [one if at < 0 else one.with_type(_moved(one.type, wanted.field(at).type)) for one, at in parts]
        )
    return came


def _micros(value: Any, came: pa.DataType, wanted: pa.DataType) -> Any:
    if value is None or came == wanted:
        return value
    if pa.types.is_list(came) and pa.types.is_list(wanted):
        return [_micros(one, came.value_type, wanted.value_type) for one in value]
    if pa.types.is_struct(came) and pa.types.is_struct(wanted):
        return {
            field.name: _micros(value[field.name], came.field(field.name).type, field.type)
            for field in wanted
            if came.get_field_index(field.name) >= 0
        }
    found = _INSTANT.fullmatch(value) if isinstance(value, str) and pa.types.is_timestamp(wanted) else None
    if found is None:
        raise ValueError(value)
    fraction = (found[3] or "")[1:].ljust(12, "0")
    if fraction[6:].strip("0"):
        raise ValueError(value)
    return dt.datetime.fromisoformat(f"{found[1]}T{found[2]}.{fraction[:6]}+00:00")
