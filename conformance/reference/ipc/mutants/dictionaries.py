"""Mutants of dictionaries: when they are defined, by which message, and the indices that point into them."""

from __future__ import annotations

import struct
from collections.abc import Callable

from conformance.reference.body import FieldNode, Part
from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.register import mutant
from conformance.reference.message import DraftMessage
from conformance.wire.faults import Rule

__all__: list[str] = []

Change = Callable[[StreamModel], None]
_ONE = ("dictionary.index-int32", "dictionary.of-int64", "dictionary.in-list", "dictionary.in-struct")
_DELTA = ("dictionary.delta", "dictionary.deltas")
_NO_VALUES = {
    Rule.DICTIONARY_MISSING: "nothing is defined for the batch that points into it",
    Rule.DICTIONARY_INDEX_RANGE: "what is defined is too short for the batch that points into it",
}


def _drop(model: StreamModel, gone: DraftMessage) -> None:
    model.messages = [each for each in model.messages if each is not gone]


def _without(number: int) -> Change:
    """One of the dictionary batches is not sent."""
    return lambda model: _drop(model, model.dictionaries[number])


def _header(number: int, **slots: int) -> Change:
    """Return the change that writes ``slots`` into the header of dictionary batch ``number``."""
    return lambda model: model.dictionaries[number].header.update(slots)


def _encoding(**slots: object) -> Change:
    """A schema that describes the first field's dictionary with other values."""
    return lambda model: model.schema.header["fields"][0]["dictionary"].update(slots)


# fmt: off
mutant("dictionary.missing", Rule.DICTIONARY_MISSING, on=_ONE,
       source="https://github.com/jjviscomi/bqemulator/pull/31",
       fault="The dictionary is not sent.")(_without(0))
mutant("dictionary.one-missing", Rule.DICTIONARY_MISSING, on=("dictionary.two", "dictionary.ids-apart"),
       source="https://github.com/apache/arrow-rs/pull/848",
       fault="The second of two dictionaries is not sent.")(_without(1))
mutant("dictionary.inner-missing", Rule.DICTIONARY_MISSING, on=("dictionary.nested-list", "dictionary.nested-thrice"),
       source="https://github.com/apache/arrow-rs/pull/1583",
       fault="The innermost of nested dictionaries is not sent.")(_without(0))
# fmt: on


@mutant("dictionary.late", Rule.DICTIONARY_MISSING, on=_ONE)
def late(model: StreamModel) -> None:
    """The dictionary is sent after the batch that points into it."""
    dictionary = model.dictionaries[0]
    _drop(model, dictionary)
    model.messages.append(dictionary)


# fmt: off
mutant("dictionary.id-unknown", Rule.DICTIONARY_ID_UNKNOWN, on=_ONE, also=_NO_VALUES,
       source="https://github.com/apache/arrow-rs/pull/6711",
       fault="The dictionary is sent under an id that no field names.")(_header(0, id=99))
# fmt: on


@mutant("dictionary.id-of-another", Rule.DICTIONARY_MISSING, on=("dictionary.delta-of-two",), choices={"deltas": True})
def id_of_another(model: StreamModel) -> None:
    """Both dictionaries are sent under the id of the first."""
    model.dictionaries[1].header["id"] = model.dictionaries[0].header["id"]


@mutant("dictionary.data-missing", Rule.DICTIONARY_DATA_MISSING, on=_ONE, also=_NO_VALUES)
def data_missing(model: StreamModel) -> None:
    """A dictionary batch has an id and no data."""
    dictionary = model.dictionaries[0]
    del dictionary.header["data"]
    dictionary.parts = []


# fmt: off
mutant("dictionary.delta-without-base", Rule.DICTIONARY_DELTA_WITHOUT_BASE, on=_ONE,
       fault="The first definition of a dictionary is a delta.")(_header(0, isDelta=1))
mutant("dictionary.base-lost", Rule.DICTIONARY_DELTA_WITHOUT_BASE, on=_DELTA, also=_NO_VALUES,
       fault="The dictionary is not sent, and its delta is.")(_without(0))
mutant("dictionary.delta-unmarked", Rule.DICTIONARY_INDEX_RANGE, on=_DELTA,
       fault="A delta does not say that it is one, and so replaces what it should extend.")(_header(-1, isDelta=0))
mutant("dictionary.delta-lost", Rule.DICTIONARY_INDEX_RANGE, on=_DELTA,
       fault="The last delta is not sent, and a batch points into it.")(_without(-1))
mutant("dictionary.replacement-lost", Rule.DICTIONARY_INDEX_RANGE, on=("dictionary.replaced-longer",),
       fault="The longer dictionary of the second batch is not sent.")(_without(-1))
# fmt: on


@mutant(
    "dictionary.index-beyond",
    Rule.DICTIONARY_INDEX_RANGE,
    on=_ONE,
    source="https://github.com/apache/arrow-rs/pull/3247",
)
def index_beyond(model: StreamModel) -> None:
    """An index points to one value beyond the end of the dictionary."""
    part = model.batches[0].part("indices")
    width = part.unit[0]
    size = model.dictionaries[0].batch["length"]
    part.data = size.to_bytes(width, "little") + part.data[width:]


@mutant(
    "dictionary.index-negative",
    Rule.DICTIONARY_INDEX_NEGATIVE,
    on=_ONE,
    source="https://github.com/apache/arrow-go/pull/1129",
)
def index_negative(model: StreamModel) -> None:
    """An index is below zero in a slot that has a value."""
    part = model.batches[0].part("indices")
    part.data = b"\xff" * part.unit[0] + part.data[part.unit[0] :]


@mutant(
    "dictionary.inner-index-beyond",
    Rule.DICTIONARY_INDEX_RANGE,
    on=("dictionary.nested-list", "dictionary.nested-struct"),
)
def inner_index_beyond(model: StreamModel) -> None:
    """Among the values of a dictionary, an index points beyond the end of the inner dictionary."""
    outer = next(each for each in model.dictionaries if any(part.role == "indices" for part in each.parts))
    part = outer.part("indices")
    part.data = struct.pack("<i", 1000) + part.data[4:]


# fmt: off
mutant("dictionary.index-wider", Rule.DATA_TOO_SMALL, on=("dictionary.index-int8", "dictionary.index-int32"),
       source="https://github.com/apache/arrow-julia/pull/148",
       fault="The schema says indices of 64 bits, and the batch has narrower ones.")(
    _encoding(indexType={"bitWidth": 64, "is_signed": 1}))
mutant("dictionary.index-odd", Rule.SCHEMA_INT_WIDTH, on=("dictionary.index-int32",),
       fault="Indices are 24 bits wide.")(_encoding(indexType={"bitWidth": 24, "is_signed": 1}))
mutant("dictionary.kind-unknown", Rule.FLATBUF_ENUM_UNKNOWN, on=("dictionary.index-int32",),
       fault="The dictionary is of a kind that is not defined.")(_encoding(dictionaryKind=1))
# fmt: on


@mutant("dictionary.types-differ", Rule.DICTIONARY_TYPES_DIFFER, on=("dictionary.two", "dictionary.ids-apart"))
def types_differ(model: StreamModel) -> None:
    """Fields whose values are of different types share one id."""
    first, *others = (field for field in model.schema.header["fields"] if "dictionary" in field)
    number = others[0]["dictionary"]["id"]
    others[0]["dictionary"]["id"] = first["dictionary"]["id"]
    gone = next(each for each in model.dictionaries if each.header["id"] == number)
    _drop(model, gone)


@mutant("dictionary.two-columns", (Rule.BATCH_NODE_COUNT, Rule.BATCH_BUFFER_COUNT), on=_ONE)
def two_columns(model: StreamModel) -> None:
    """A dictionary batch has two columns."""
    dictionary = model.dictionaries[0]
    dictionary.nodes.append(FieldNode("surplus", dictionary.batch["length"], 0))
    dictionary.parts += [Part("surplus", "validity", b""), Part("surplus", "data", bytes(64))]


@mutant("dictionary.of-indices", Rule.BATCH_BUFFER_COUNT, on=("dictionary.of-utf8", "dictionary.of-binary"))
def of_indices(model: StreamModel) -> None:
    """The dictionary batch is written by the type of the indices, not of the values."""
    dictionary = model.dictionaries[0]
    dictionary.parts = [dictionary.parts[0], Part("dictionary", "data", bytes(4 * dictionary.batch["length"]))]


@mutant("dictionary.length-lies", Rule.BATCH_COLUMN_LENGTH, on=_ONE)
def length_is_wrong(model: StreamModel) -> None:
    """A dictionary batch says one value more than it has."""
    model.dictionaries[0].batch["length"] += 1


@mutant("dictionary.not-utf8", Rule.UTF8_INVALID, on=("dictionary.of-utf8", "dictionary.in-list"))
def not_utf8(model: StreamModel) -> None:
    """A value of a dictionary of text is not UTF-8."""
    part = model.dictionaries[0].part("data")
    part.data = b"\xff" + part.data[1:]


@mutant("dictionary.offsets-beyond", Rule.OFFSETS_BEYOND_DATA, on=("dictionary.of-utf8", "dictionary.in-list"))
def offsets_beyond(model: StreamModel) -> None:
    """The offsets of a dictionary end beyond its data."""
    part = model.dictionaries[0].part("offsets")
    part.data = part.data[:-4] + struct.pack("<i", 1000)


@mutant("dictionary.codec-unknown", Rule.COMPRESSION_CODEC_UNKNOWN, on=_ONE)
def codec_unknown(model: StreamModel) -> None:
    """A dictionary batch is compressed by a codec that is not defined."""
    model.dictionaries[0].batch["compression"] = {"codec": 7}


@mutant(
    "dictionary.as-batch",
    (Rule.BATCH_BUFFER_COUNT, Rule.BATCH_NODE_COUNT),
    on=("dictionary.index-int32",),
    also=_NO_VALUES,
)
def as_batch(model: StreamModel) -> None:
    """The dictionary is sent as a record batch."""
    dictionary = model.dictionaries[0]
    dictionary.tree = {**dictionary.tree, "header_type": 3, "header": dictionary.header["data"]}


@mutant("dictionary.types-apart-in-batches", Rule.BATCH_BUFFER_COUNT, on=("dictionary.index-int32",))
def decoded(model: StreamModel) -> None:
    """The schema says that a column is encoded, and the batch has its values themselves."""
    batch, dictionary = model.batches[0], model.dictionaries[0]
    batch.header["length"] = dictionary.batch["length"]
    batch.nodes, batch.parts = dictionary.nodes, dictionary.parts
