"""The variations of single messages, in a stream and in a file: each on the schema and on every record batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.reference.flatbuffers import SHARED_FIRST, TableLayout
from conformance.reference.ipc.models import FileModel, StreamModel
from conformance.reference.ipc.register import Grade, variation
from conformance.reference.ipc.variations.sources import FBS
from conformance.reference.message import DraftMessage
from conformance.reference.serializer import Serializer, encoded
from conformance.reference.variations import VARIATIONS

__all__: list[str] = []

_ELSEWHERE: Final = {
    "metadata-v4",
    "message-metadata",
    "features-listed",
    "children-absent",
    "empty-metadata-vectors",
    "flatbuffers.vtables-shared-first",
}
"""The names of the stream's own variations that change all messages at once, and of those that others here include."""
_ON: Final = (
    "rows.several",
    "nested.mixed",
    "nulls.words",
    "rows.zero",
    "types.utf8",
    "dictionary.two",
    "rows.thousand",
)
_OPTIONAL: Final = {"stored-raw", "stored-mixed"}


def _varied(serializer: Serializer, what: str) -> Callable[[StreamModel], None]:
    def vary(model: StreamModel) -> None:
        schema = model.schema
        model.rewrite(schema, encoded(serializer.write_schema(schema)))
        for batch in model.batches:
            model.rewrite(batch, encoded(serializer.write_batch(batch)))

    vary.__doc__ = what
    return vary


def _in_file(vary: Callable[[StreamModel], None]) -> Callable[[FileModel], None]:
    def vary_file(model: FileModel) -> None:
        vary(model.stream)

    vary_file.__doc__ = vary.__doc__
    return vary_file


for _name, _each in VARIATIONS.items():
    if _name in _ELSEWHERE or _each.serializer.reshapes:
        continue
    _vary = _varied(_each.serializer, _each.what)
    _grade: Grade = "optional" if _name in _OPTIONAL else "required"
    variation(f"message.{_name}", _each.source, on=_ON, grade=_grade)(_vary)
    variation(f"file.message.{_name}", _each.source, kind="file", on=_ON, grade=_grade)(_in_file(_vary))


def _laid_out(name: str, layout: TableLayout, what: str) -> None:
    def vary(model: FileModel) -> None:
        model.layout = layout
        for message in model.stream.messages:
            if isinstance(message, DraftMessage):
                message.layout = layout

    vary.__doc__ = what
    on = ("rows.several", "dictionary.delta", "nested.mixed", "names.many")
    variation(f"file.flatbuffers.{name}", "https://flatbuffers.dev/internals/", kind="file", on=on)(vary)


_laid_out(
    "vtables-shared",
    SHARED_FIRST,
    "Equal vtables are written once, and later tables point back to the first.",
)
_laid_out(
    "vtables-last",
    TableLayout(vtables_last=True, shared_vtables=False),
    "Vtables follow their tables, also in the Footer.",
)
_laid_out(
    "depth-first",
    TableLayout(depth_first=True, shared_first=True),
    "Children follow their table at once, also in the Footer.",
)
_laid_out(
    "explicit-defaults",
    TableLayout(explicit_defaults=True, shared_first=True),
    "Scalars that equal their default are written everywhere.",
)
_laid_out(
    "slot-order",
    TableLayout(slot_order=True, shared_first=True),
    "Inline fields stand in the order of their slots everywhere.",
)


@variation("stream.flatbuffers-differ", "https://flatbuffers.dev/internals/", on=("rows.several", "dictionary.two"))
def layouts_differ(model: StreamModel) -> None:
    """Every message of a stream has another layout of its metadata."""
    layouts = (
        TableLayout(vtables_last=True, shared_first=True),
        TableLayout(depth_first=True, shared_first=True),
        TableLayout(slot_order=True, explicit_defaults=True, shared_first=True),
    )
    for number, message in enumerate((model.schema, *model.dictionaries, *model.batches)):
        message.layout = layouts[number % 3]


@variation("dictionary.flatbuffers", f"{FBS}/Message.fbs (DictionaryBatch)", on=("dictionary.two", "dictionary.delta"))
def dictionary_layout(model: StreamModel) -> None:
    """The metadata of dictionary batches is laid out unlike that of the others."""
    for message in model.dictionaries:
        message.layout = TableLayout(vtables_last=True, depth_first=True, explicit_defaults=True, shared_first=True)
