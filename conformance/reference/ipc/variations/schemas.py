"""Variations of the Schema message."""

from __future__ import annotations

from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.register import STANDARD, variation
from conformance.reference.ipc.variations.pairs import fields_of
from conformance.reference.ipc.variations.sources import COL, FBS, METADATA

__all__: list[str] = []

_SCHEMA_FBS = f"{FBS}/Schema.fbs"
_PAIR = [{"key": "k", "value": "1"}, {"key": "k", "value": "2"}]


@variation("schema.names-absent", f"{_SCHEMA_FBS} (Field.name)", on=("names.empty", "names.children"))
def names_absent(model: StreamModel) -> None:
    """A field whose name is empty has no name at all."""
    for field in fields_of(model):
        if field["name"] == "":
            del field["name"]


@variation(
    "schema.item-name-absent", f"{_SCHEMA_FBS} (Field.name)", on=("types.list", "types.large-list", "nested.mixed")
)
def item_name_absent(model: StreamModel) -> None:
    """The child of a list has no name."""
    for field in fields_of(model):
        if field["type_type"] in (12, 16, 21):
            field["children"][0].pop("name")


@variation("schema.children-absent", f"{_SCHEMA_FBS} (Field.children)", on=(*STANDARD, "names.many"))
def children_absent(model: StreamModel) -> None:
    """A field without children has no vector of them, as Arrow C# writes (ARROW-12100)."""
    for field in fields_of(model):
        if not field["children"]:
            del field["children"]


@variation("schema.fields-absent", f"{_SCHEMA_FBS} (Schema.fields)", on=("rows.no-columns",), grade="ambiguous")
def fields_absent(model: StreamModel) -> None:
    """A schema without columns has no vector of fields."""
    del model.schema.header["fields"]


@variation("schema.type-ids-absent", f"{_SCHEMA_FBS} (Union.typeIds)", on=("types.union-sparse", "types.union-dense"))
def type_ids_absent(model: StreamModel) -> None:
    """A union whose ids are the positions of its children does not list them."""
    for field in fields_of(model):
        field["type"].pop("typeIds", None)


@variation(
    "schema.index-type-absent",
    f"{_SCHEMA_FBS} (DictionaryEncoding.indexType)",
    on=("dictionary.index-int32", "dictionary.of-int64", "dictionary.in-struct"),
)
def index_type_absent(model: StreamModel) -> None:
    """Dictionary indices of 32 bits, signed, are not declared: they are the default."""
    for field in fields_of(model):
        if "dictionary" in field:
            del field["dictionary"]["indexType"]


@variation(
    "schema.timezone-empty", f"{_SCHEMA_FBS} (Timestamp.timezone)", on=("types.timestamp-us", "types.timestamp-s")
)
def timezone_empty(model: StreamModel) -> None:
    """A timestamp without a time zone has an empty one."""
    for field in fields_of(model):
        field["type"]["timezone"] = ""


@variation("schema.features-replacement", f"{_SCHEMA_FBS} (Feature)", on=("dictionary.replaced",))
def features_replacement(model: StreamModel) -> None:
    """The schema lists the feature DICTIONARY_REPLACEMENT, of which the stream makes use."""
    model.schema.header["features"] = [1]


@variation(
    "schema.features-compressed",
    f"{_SCHEMA_FBS} (Feature)",
    on=("rows.thousand",),
    grade="optional",
    choices={"codec": "zstd"},
)
def features_compressed(model: StreamModel) -> None:
    """The schema lists the feature COMPRESSED_BODY, of which the stream makes use."""
    model.schema.header["features"] = [2]


@variation("schema.features-unused", f"{_SCHEMA_FBS} (Feature)")
def features_unused(model: StreamModel) -> None:
    """The schema lists features of which the stream makes no use."""
    model.schema.header["features"] = [0, 1, 2]


@variation("schema.features-empty", f"{_SCHEMA_FBS} (Feature)")
def features_empty(model: StreamModel) -> None:
    """The schema has a vector of features with nothing in it."""
    model.schema.header["features"] = []


@variation("schema.metadata-repeated", METADATA)
def metadata_repeated(model: StreamModel) -> None:
    """A key of the schema's metadata occurs twice, and so does one of a field's."""
    model.schema.header["custom_metadata"] = _PAIR
    for field in fields_of(model):
        field["custom_metadata"] = _PAIR


@variation("schema.metadata-empty", METADATA)
def metadata_empty(model: StreamModel) -> None:
    """Schema, fields and message have vectors of metadata with nothing in them."""
    model.schema.tree["custom_metadata"] = []
    model.schema.header.setdefault("custom_metadata", [])
    for field in fields_of(model):
        field.setdefault("custom_metadata", [])


@variation("schema.metadata-reserved", METADATA, on=("rows.several",))
def reserved(model: StreamModel) -> None:
    """Metadata keys that no reader knows: one with a namespace, one with the reserved prefix ``ARROW:``."""
    model.schema.header["custom_metadata"] = [{"key": "ARROW:conformance", "value": ""}, {"key": "a:b:c", "value": "d"}]


@variation("schema.extension-unknown", f"{COL}#extension-types", on=("types.int32", "types.utf8", "types.struct"))
def extension_unknown(model: StreamModel) -> None:
    """A field is of an extension type that no reader knows, without metadata of its own: its storage is exposed."""
    name = {"key": "ARROW:extension:name", "value": "conformance.nobody.knows"}
    model.schema.header["fields"][0]["custom_metadata"] = [name]


@variation("schema.map-names", f"{_SCHEMA_FBS} (Map)", on=("types.map", "types.map-sorted"))
def map_names(model: StreamModel) -> None:
    """A map's entries, key and value have names that are not the conventional ones."""
    entries = model.schema.header["fields"][0]["children"][0]
    entries["name"] = "pairs"
    for child, name in zip(entries["children"], ("left", ""), strict=True):
        child["name"] = name
