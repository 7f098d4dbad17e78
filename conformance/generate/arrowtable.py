"""The Arrow table of a case as Arrow values: its fields, dictionaries and batches are read as the integration form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa

from conformance.records import ArrowField, ArrowTable, KeyValue, RecordError, to_json
from conformance.wire import DecodingError
from conformance.wire.integration import IntegrationError, read_integration

__all__ = ["arrow_table"]

MOST_SLOTS: Final = 1 << 20
_BELOW: Final = frozenset({"data", "columns", "children"})
"""The keys of the integration form under which arrays are."""


def arrow_table(table: ArrowTable, *, path: str = "table.arrow") -> pa.Table:
    """Return the batches of ``table`` under the schema of its fields.

    Raises:
        RecordError: fields, dictionaries or batches do not have the form, or have a type that pyarrow lacks; it names
            ``path``.
    """
    names = [field.name for field in table.fields]
    if (slots := _slots([table.dictionaries, table.batches])) > MOST_SLOTS:
        raise RecordError(path, f"arrays of at most {MOST_SLOTS} values in all, but they have {slots}", names)
    document = {
        "schema": {"fields": [_field(field) for field in table.fields], "metadata": _pairs(table.metadata)},
        "dictionaries": table.dictionaries,
        "batches": table.batches,
    }
    try:
        schema, batches = read_integration(document)
        made = pa.Table.from_batches(batches, schema=schema)
        made.validate(full=True)
    except (IntegrationError, DecodingError, KeyError, TypeError, AttributeError, pa.ArrowInvalid) as error:
        raise RecordError(path, f"Arrow data in the integration form ({error or 'no such key'})", names) from None
    return made


def _slots(document: object) -> int:
    """Return the slots of all arrays below ``document``, each of which writes its own; those of nulls and of runs take
    no bytes, so that a small file may have any number of them.
    """
    if isinstance(document, Mapping):
        own = document.get("count")
        below = sum(_slots(item) for key, item in document.items() if key in _BELOW)
        return below + (abs(own) if isinstance(own, int) and "columns" not in document else 0)
    return sum(map(_slots, document)) if isinstance(document, list | tuple) else 0


def _field(field: ArrowField) -> dict[str, Any]:
    """Return the form's object of a field, with every key written out."""
    written = {"name": field.name, "type": dict(field.type), "nullable": field.nullable}
    written["children"] = [_field(child) for child in field.children]
    written["metadata"] = _pairs(field.metadata)
    return written | ({} if field.dictionary is None else {"dictionary": dict(field.dictionary)})


def _pairs(pairs: Iterable[KeyValue]) -> list[dict[str, Any]]:
    return [to_json(pair) for pair in pairs]
