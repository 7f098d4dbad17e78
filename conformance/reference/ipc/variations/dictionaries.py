"""Variations of when dictionaries are defined, how often, and under which ids."""

from __future__ import annotations

from typing import Any, Final

from conformance.reference.ipc.models import FileModel, StreamModel
from conformance.reference.ipc.register import variation
from conformance.reference.ipc.variations.sources import DICTIONARY, FBS, FILE, METADATA, STREAM
from conformance.reference.message import DraftMessage

__all__: list[str] = []

_ONE: Final = ("dictionary.index-int32", "dictionary.of-int64", "dictionary.in-list", "dictionary.nested-list")
_TWO: Final = ("dictionary.two", "dictionary.ids-apart")
_LARGE: Final = ((1 << 31) + 1, (1 << 63) - 1)


@variation("dictionary.reordered", STREAM, on=_TWO)
def reordered(model: StreamModel) -> None:
    """Dictionaries that do not depend on each other are defined in another order than that of the fields."""
    model.messages[1:3] = model.messages[2:0:-1]


@variation("dictionary.repeated", DICTIONARY, on=("dictionary.same", "dictionary.nested-list"))
def repeated(model: StreamModel) -> None:
    """The same dictionaries are defined again before every batch."""
    dictionaries = model.dictionaries
    again: list[Any] = [model.schema]
    for batch in model.batches:
        again += [*dictionaries, batch]
    model.messages = again


@variation("dictionary.twice", DICTIONARY, on=_ONE)
def twice(model: StreamModel) -> None:
    """Every dictionary is defined twice before the first batch; the second definition counts."""
    first = model.place(model.batches[0])
    model.messages[first:first] = model.dictionaries


@variation("dictionary.after-last-batch", DICTIONARY, on=("dictionary.same", "dictionary.two"))
def after_last(model: StreamModel) -> None:
    """A dictionary is replaced after the last batch, which makes no difference to any."""
    model.messages.append(model.dictionaries[0])


@variation("dictionary.late", STREAM, on=("dictionary.all-null",), grade="ambiguous")
def late(model: StreamModel) -> None:
    """The dictionary of a column of nulls comes after the batch; the format contradicts itself on it."""
    dictionary = model.dictionaries[0]
    model.messages = [each for each in model.messages if each is not dictionary] + [dictionary]


@variation("dictionary.never", STREAM, on=("dictionary.all-null", "dictionary.empty"), grade="ambiguous")
def never(model: StreamModel) -> None:
    """The dictionary of a column of nulls is never sent, as Arrow C++ does since 17
    (https://github.com/apache/arrow-rs/pull/9623).
    """
    gone = model.dictionaries
    model.messages = [each for each in model.messages if not any(each is one for one in gone)]


@variation("dictionary.delta-empty", DICTIONARY, on=("dictionary.same", "dictionary.two"))
def delta_empty(model: StreamModel) -> None:
    """A delta appends nothing."""
    first = model.dictionaries[0]
    tree = {**first.tree, "header": {**first.header, "isDelta": 1, "data": {"length": 0}}}
    delta = DraftMessage(tree, [type(node)(node.path, 0, 0) for node in first.nodes])
    delta.parts = [type(part)(part.path, part.role, b"", part.unit) for part in first.parts]
    model.messages.insert(model.place(model.batches[-1]), delta)


@variation("dictionary.delta-early", DICTIONARY, on=("dictionary.delta", "dictionary.deltas"))
def delta_early(model: StreamModel) -> None:
    """All deltas are sent before the first batch: earlier batches see a longer dictionary, and the same values."""
    model.messages = [model.schema, *model.dictionaries, *model.batches]


@variation("dictionary.ids-large", f"{FBS}/Schema.fbs (DictionaryEncoding.id)", on=_TWO, choices={"ids": _LARGE})
def ids_large(_: StreamModel) -> None:
    """Ids are 64-bit integers, which need not be small."""


@variation(
    "dictionary.ids-negative",
    f"{FBS}/Schema.fbs (DictionaryEncoding.id)",
    on=_TWO,
    grade="ambiguous",
    choices={"ids": (-1, -(1 << 63))},
)
def ids_negative(_: StreamModel) -> None:
    """Ids are negative, which the format does not forbid."""


@variation("dictionary.ids-descending", f"{FBS}/Schema.fbs (DictionaryEncoding.id)", on=_TWO, choices={"ids": (9, 3)})
def ids_descending(_: StreamModel) -> None:
    """Ids descend in the order of the fields."""


@variation("dictionary.shared", DICTIONARY, on=("dictionary.shared", "dictionary.shared-widths"))
def shared(_: StreamModel) -> None:
    """Several fields share one dictionary, with indices of different widths."""


@variation("dictionary.duplicates", DICTIONARY, on=("dictionary.duplicates", "dictionary.nulls-in-both"))
def duplicates(_: StreamModel) -> None:
    """A dictionary holds a value twice, or a null."""


@variation("dictionary.replaced", DICTIONARY, on=("dictionary.replaced", "dictionary.replaced-and-back"))
def replaced(_: StreamModel) -> None:
    """A dictionary is replaced; batches before it keep the values that they had."""


@variation("dictionary.delta", DICTIONARY, on=("dictionary.delta", "dictionary.delta-then-replaced"))
def delta(_: StreamModel) -> None:
    """A dictionary is appended to."""


@variation("dictionary.metadata", METADATA, on=(*_ONE, "dictionary.delta"))
def metadata(model: StreamModel) -> None:
    """Dictionary batches carry metadata, record batches do not."""
    for message in model.dictionaries:
        message.tree["custom_metadata"] = [{"key": "dictionary", "value": "yes"}]


@variation("dictionary.child-absent", f"{FBS}/Schema.fbs (Field.children)", on=_TWO)
def children_absent(model: StreamModel) -> None:
    """An encoded field without children has no vector of them."""
    for field in model.schema.header["fields"]:
        field.pop("children")


@variation("file.dictionaries-last", FILE, kind="file", on=(*_TWO, "dictionary.in-list", "dictionary.in-struct"))
def dictionaries_last(model: FileModel) -> None:
    """Dictionaries come after the batches that use them, which a file allows."""
    stream = model.stream
    stream.messages = [stream.schema, *stream.batches, *stream.dictionaries]


@variation("file.deltas-last", FILE, kind="file", on=("dictionary.delta", "dictionary.deltas"))
def deltas_last(model: FileModel) -> None:
    """Deltas come after all batches; the Footer lists them in their order."""
    stream = model.stream
    first, *others = stream.dictionaries
    stream.messages = [stream.schema, first, *stream.batches, *others]


@variation("file.deltas", FILE, kind="file", on=("dictionary.delta", "dictionary.deltas", "dictionary.delta-of-two"))
def deltas(_: FileModel) -> None:
    """A file with deltas."""


@variation("file.dictionary-blocks-reordered", FILE, kind="file", on=_TWO)
def dictionary_blocks_reordered(model: FileModel) -> bytes:
    """The Footer lists dictionaries that do not depend on each other in another order than the stream."""
    before, footer = model.complete()
    footer["dictionaries"] = footer["dictionaries"][::-1]
    return model.assemble(before, footer)
