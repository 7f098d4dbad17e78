"""The Arrow table of a case as Arrow values: its fields, dictionaries and batches are read as the integration form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from conformance.records import ArrowField, ArrowTable, KeyValue, RecordError, to_json
from conformance.wire import DecodingError
from conformance.wire.integration import IntegrationError, read_integration

__all__ = ["arrow_table"]


def arrow_table(table: ArrowTable, *, path: str = "table.arrow") -> pa.Table:
    """Return the batches of ``table`` under the schema of its fields.

    Raises:
        RecordError: fields, dictionaries or batches do not have the form, or have a type that pyarrow lacks; it names
            ``path``.
    """
    document = {
        "schema": {"fields": [_field(field) for field in table.fields], "metadata": _pairs(table.metadata)},
        "dictionaries": table.dictionaries,
        "batches": table.batches,
    }
    try:
        schema, batches = read_integration(document)
    except (IntegrationError, DecodingError, KeyError, TypeError) as error:
        names = [field.name for field in table.fields]
        raise RecordError(path, f"Arrow data in the integration form ({error or 'no such key'})", names) from None
    return pa.Table.from_batches(batches, schema=schema)


def _field(field: ArrowField) -> dict[str, Any]:
    """Return the form's object of a field, with every key written out."""
    written = {"name": field.name, "type": dict(field.type), "nullable": field.nullable}
    written["children"] = [_field(child) for child in field.children]
    written["metadata"] = _pairs(field.metadata)
    return written | ({} if field.dictionary is None else {"dictionary": dict(field.dictionary)})


def _pairs(pairs: Iterable[KeyValue]) -> list[dict[str, Any]]:
    return [to_json(pair) for pair in pairs]
