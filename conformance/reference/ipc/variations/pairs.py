"""Pairs of key-value metadata that lack their key, their value or both, at every place that has metadata.

Schema.fbs declares ``table KeyValue { key: string; value: string; }``. Neither is marked "required", and in FlatBuffers
a field of a table may be absent unless it is. No text says what such a pair means: a reader may read past it or refuse
it, and has to survive it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from conformance.reference.ipc.models import FileModel, StreamModel
from conformance.reference.ipc.register import STANDARD, ContainerKind, variation
from conformance.reference.ipc.variations.sources import FBS

__all__ = ["fields_of"]

_SOURCE: Final = f"{FBS}/Schema.fbs (KeyValue)"
_Tables: TypeAlias = Callable[[Any], Iterator[dict[str, Any]]]
"""The tables of a model that get the pair."""

_ABSENT: Final = {
    "value-absent": ("no value", {"key": "k"}),
    "key-absent": ("no key", {"value": "v"}),
    "pair-empty": ("neither key nor value", {}),
}


def fields_of(model: StreamModel) -> Iterator[dict[str, Any]]:
    """Every field of the schema, at any depth."""
    waiting = list(model.schema.header["fields"])
    while waiting:
        field = waiting.pop()
        waiting += field.get("children", ())
        yield field


def _of_schema(model: StreamModel) -> Iterator[dict[str, Any]]:
    yield model.schema.header


def _of_messages(model: StreamModel) -> Iterator[dict[str, Any]]:
    yield from (message.tree for message in (model.schema, *model.dictionaries, *model.batches))


def _of_footer(model: FileModel) -> Iterator[dict[str, Any]]:
    yield model.footer


def _register(place: str, where: str, tables: _Tables, on: tuple[str, ...], kind: ContainerKind = "stream") -> None:
    """The variations of one place; those of a file's Footer exist in files alone."""
    for name, (lacks, pair) in _ABSENT.items():

        def vary(model: Any, pair: dict[str, str] = pair) -> None:
            for table in tables(model):
                table["custom_metadata"] = [pair]

        vary.__doc__ = f"A pair of the metadata of {where} has {lacks}; the format does not say what that means."
        variation(f"{place}-{name}", _SOURCE, kind=kind, on=on, grade="ambiguous")(vary)


_register("schema.metadata", "the schema", _of_schema, STANDARD)
_register("schema.field-metadata", "every field", fields_of, ("rows.several", "names.field-metadata", "nested.mixed"))
_register("message.metadata", "every message", _of_messages, ("rows.several", "dictionary.two"))
_register("file.footer-metadata", "the Footer", _of_footer, ("rows.several",), "file")
