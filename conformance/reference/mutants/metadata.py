"""Mutants of the metadata tables: malformed fields, types and pairs, and metadata that is too deep or too wide."""

from __future__ import annotations

import struct
from typing import Any, Final

from conformance.reference.flatbuffers import TableLayout, write
from conformance.reference.message import CONTINUATION, DraftMessage, frame
from conformance.reference.mutants.structure import Metadata
from conformance.reference.register import batch_mutant, first, message_mutant, schema_mutant

_INT: Final = 2
_LIST: Final = 12
_TENSOR: Final = 4
_DEPTH: Final = 130
_MANY: Final = 600
_STALE: Final = 0x5A
_DICTIONARY: Final = {"body.buffer-count": "a column of codes has other buffers than one of texts"}
_OTHER_ORDER: Final = dict.fromkeys(
    ("body.*", "layouts.*", "values.*"), "bodies are little-endian all the same, and are read as the schema says"
)


def _whole_field(message: DraftMessage) -> dict[str, Any]:
    """The first top-level field that is an integer."""
    return first((field for field in message.header["fields"] if field["type_type"] == _INT), "no column is an integer")


@schema_mutant("metadata.boolean-of-two", kills="structure.booleans")
def boolean_of_two(message: DraftMessage) -> DraftMessage:
    """A field's nullability is the byte 2."""
    first((field for field in message.header["fields"] if field.get("nullable")), "no column is nullable")[
        "nullable"
    ] = 2
    return message


@schema_mutant(
    "metadata.tensor-without-shape",
    kills="structure.required-slots",
    also={"framing.schema-header-kind": "only tensors have slots that are required"},
)
def tensor_without_shape(message: DraftMessage) -> DraftMessage:
    """The schema's message is a tensor, and one without a shape."""
    message.tree.update(header_type=_TENSOR, header={"type_type": 6, "type": {}})
    return message


@schema_mutant("metadata.too-deep", kills="structure.nesting")
def too_deep(message: DraftMessage) -> DraftMessage:
    """The first column is a list of lists, 130 deep."""
    field = message.header["fields"][0]
    for _ in range(_DEPTH):
        field = {"name": field["name"], "nullable": 0, "type_type": _LIST, "type": {}, "children": [field]}
    message.header["fields"][0] = field
    return message


@schema_mutant("metadata.one-field-for-all", kills="structure.table-count")
def one_field_for_all(message: DraftMessage) -> bytes:
    """The schema lists one field six hundred times, by six hundred references to one table."""
    message.header["fields"] = [message.header["fields"][0]] * _MANY
    message.layout = TableLayout(depth_first=True, shared_first=True)
    data = Metadata(message)
    fields = data.follow(data.slot(data.header, "Schema", "fields"))
    first, second = data.follow(fields + 4), data.follow(fields + 8)
    for number in range(_MANY):
        at = fields + 4 + 4 * number
        struct.pack_into("<I", data.data, at, first - at)
    kept = data.data[8:second] + bytes(-(second - 8) % 8)
    return CONTINUATION + struct.pack("<i", len(kept)) + bytes(kept)


@schema_mutant("metadata.stale-bytes", kills="structure.no-stale-bytes")
def stale_bytes(message: DraftMessage) -> bytes:
    """The bytes behind a column's name, up to the next value, are leftovers of something else."""
    data = Metadata(message)
    name = data.follow(data.slot(data.field(), "Field", "name"))
    end = name + 4 + data.u32(name) + 1
    if end % 4 == 0:
        raise LookupError("nothing lies behind the name")
    data.data[end] = _STALE
    return bytes(data.data)


@batch_mutant("metadata.stale-padding", kills="framing.metadata-padding")
def stale_padding(message: DraftMessage) -> bytes:
    """The padding between metadata and body holds leftover bytes of something else."""
    tree, body = message.complete()
    metadata = write("Message", tree)
    metadata += bytes(-len(metadata) % 8) + bytes([_STALE] * 8)
    return CONTINUATION + struct.pack("<i", len(metadata)) + metadata + body


@batch_mutant("metadata.without-header", kills="structure.header-present")
def without_header(message: DraftMessage) -> bytes:
    """The message of a batch has no header."""
    tree, body = message.complete()
    return frame({key: value for key, value in tree.items() if not key.startswith("header")}, body)


@batch_mutant("metadata.half-a-pair", kills="structure.metadata-pairs")
def half_a_pair(message: DraftMessage) -> DraftMessage:
    """The message of a batch carries a key without a value."""
    message.tree["custom_metadata"] = [{"key": "trace"}]
    return message


@schema_mutant(
    "metadata.without-fields",
    kills="structure.fields-listed",
    also={
        "body.*": "a batch has nodes and buffers of fields that the schema does not list",
        "layouts.view-buffer-counts": "a batch counts data buffers of a view field that the schema does not list",
        "schema.columns-present": "a schema without fields has no columns",
    },
)
def without_fields(message: DraftMessage) -> DraftMessage:
    """The schema has no vector of fields."""
    del message.header["fields"]
    return message


@schema_mutant("metadata.field-without-type", kills="structure.field-type")
def field_without_type(message: DraftMessage) -> DraftMessage:
    """A column has no type at all."""
    field = _whole_field(message)
    del field["type"], field["type_type"]
    return message


@schema_mutant("metadata.integer-with-child", kills="structure.child-count")
def integer_with_child(message: DraftMessage) -> DraftMessage:
    """A column of integers has a child."""
    field = _whole_field(message)
    field["children"] = [{**field, "name": "child", "children": []}]
    return message


@schema_mutant("metadata.integer-of-24-bits", kills="structure.type-parameters")
def integer_of_24_bits(message: DraftMessage) -> DraftMessage:
    """A column of integers has 24 bits."""
    field = _whole_field(message)
    field["type"] = {**field["type"], "bitWidth": 24}
    return message


@message_mutant("dictionary.index-negative", kills="layouts.dictionary-indices")
def index_negative(message: DraftMessage) -> DraftMessage:
    """Codes are indices into a dictionary, and the first of them is -1."""
    if message.tree["header_type"] == 1:
        field = next(field for field in [*message.header["fields"], {"name": ""}] if field["name"] in ("codes", ""))
        if not field["name"]:
            raise LookupError("no column holds codes")
        field["dictionary"] = {"id": 1, "indexType": field["type"]}
        field.update(type_type=5, type={})
    else:
        part = message.part("data", "codes")
        part.data = struct.pack("<i", -1) + part.data[4:]
    return message


@schema_mutant("schema.big-endian", kills="schema.little-endian", also=_OTHER_ORDER, defects=("I-18",))
def big_endian(message: DraftMessage) -> DraftMessage:
    """The schema says that bodies are big-endian."""
    message.header["endianness"] = 1
    return message


@schema_mutant("schema.own-metadata", kills="schema.no-metadata", defects=("I-101",))
def schema_metadata(message: DraftMessage) -> DraftMessage:
    """The schema carries key-value metadata of its own."""
    message.header["custom_metadata"] = [{"key": "BIGQUERY:origin", "value": "emulated"}]
    return message


@schema_mutant("schema.dictionary", kills="framing.schema-without-dictionary", also=_DICTIONARY, defects=("B-04",))
def dictionary_column(message: DraftMessage) -> DraftMessage:
    """The first text column of the schema is declared dictionary-encoded."""
    for field in message.header["fields"]:
        if field["type_type"] == 5:
            field["dictionary"] = {"id": 1, "indexType": {"bitWidth": 32, "is_signed": 1}}
            return message
    raise LookupError("no column is text")


@schema_mutant(
    "schema.dictionary-nested", kills="framing.schema-without-dictionary", also=_DICTIONARY, defects=("B-05", "I-54")
)
def dictionary_nested(message: DraftMessage) -> DraftMessage:
    """A text field inside a struct or list is declared dictionary-encoded."""
    waiting = [child for field in message.header["fields"] for child in field["children"]]
    while waiting:
        field = waiting.pop()
        if field["type_type"] == 5:
            field["dictionary"] = {"id": 1, "indexType": {"bitWidth": 32, "is_signed": 1}}
            return message
        waiting += field["children"]
    raise LookupError("no nested field is text")
