"""Mutants of types, enumerations and features in the Schema message, and of metadata V4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.reference.body import Part
from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.register import mutant
from conformance.wire.faults import Rule

__all__: list[str] = []

Field = dict[str, Any]


def _type(model: StreamModel) -> Field:
    field: Field = model.schema.header["fields"][0]
    kind: Field = field["type"]
    return kind


def _typed(name: str, rule: Rule, on: tuple[str, ...], what: str, source: str = "", **slots: object) -> None:
    """A mutant that sets slots of the first field's type."""

    def tell(model: StreamModel) -> None:
        _type(model).update(slots)

    tell.__doc__ = what
    mutant(f"schema.{name}", rule, on=on, source=source)(tell)


_INVALID = "https://issues.apache.org/jira/browse/ARROW-6269"
_DECIMAL = ("types.decimal128", "types.decimal256")
_typed("int-of-7-bits", Rule.SCHEMA_INT_WIDTH, ("types.int8",), "An integer of 7 bits.", bitWidth=7)
_typed("int-of-128-bits", Rule.SCHEMA_INT_WIDTH, ("types.int64",), "An integer of 128 bits.", bitWidth=128)
_typed("int-width-negative", Rule.SCHEMA_INT_WIDTH, ("types.int64",), "An integer of minus 64 bits.", bitWidth=-64)
_typed("decimal-of-100-bits", Rule.SCHEMA_DECIMAL_WIDTH, _DECIMAL, "A decimal of 100 bits.", _INVALID, bitWidth=100)
_typed("decimal-precision-0", Rule.SCHEMA_DECIMAL_PRECISION, _DECIMAL, "A decimal of no digits.", _INVALID, precision=0)
_typed(
    "decimal-precision-39",
    Rule.SCHEMA_DECIMAL_PRECISION,
    ("types.decimal128",),
    "39 digits in 128 bits.",
    "https://issues.apache.org/jira/browse/ARROW-9241",
    precision=39,
)
_typed(
    "decimal-precision-negative", Rule.SCHEMA_DECIMAL_PRECISION, _DECIMAL, "A decimal of minus 5 digits.", precision=-5
)
_typed("time-of-64-bits-in-s", Rule.SCHEMA_TIME_WIDTH, ("types.time32-s",), "Seconds in 64 bits.", bitWidth=64)
_typed("time-of-32-bits-in-ns", Rule.SCHEMA_TIME_WIDTH, ("types.time64-ns",), "Nanoseconds in 32 bits.", bitWidth=32)
_typed(
    "binary-width-negative",
    Rule.SCHEMA_SIZE_NEGATIVE,
    ("types.fixed-size-binary",),
    "A byte width of -3.",
    byteWidth=-3,
)
_typed("list-size-negative", Rule.SCHEMA_SIZE_NEGATIVE, ("types.fixed-size-list",), "A list size of -2.", listSize=-2)
_typed(
    "union-ids-missing",
    Rule.SCHEMA_UNION_TYPE_IDS,
    ("types.union-sparse", "types.union-dense"),
    "A union of two children lists one id.",
    typeIds=[0],
)
_typed(
    "union-id-128",
    Rule.SCHEMA_UNION_TYPE_IDS,
    ("types.union-sparse", "types.union-dense"),
    "A union has an id that is no byte with a sign.",
    typeIds=[0, 128],
)
_typed(
    "union-id-negative",
    Rule.SCHEMA_UNION_TYPE_IDS,
    ("types.union-sparse",),
    "A union has an id of -1.",
    typeIds=[0, -1],
)
_typed("union-mode-unknown", Rule.FLATBUF_ENUM_UNKNOWN, ("types.union-sparse",), "A mode that is not defined.", mode=2)
_typed(
    "float-precision-unknown",
    Rule.FLATBUF_ENUM_UNKNOWN,
    ("types.float64",),
    "A precision that is not defined.",
    precision=3,
)
_typed(
    "date-unit-unknown", Rule.FLATBUF_ENUM_UNKNOWN, ("types.date32",), "A unit of dates that is not defined.", unit=2
)
_typed(
    "interval-unit-unknown",
    Rule.FLATBUF_ENUM_UNKNOWN,
    ("types.interval-month-day-nano",),
    "A unit of intervals that is not defined.",
    unit=3,
)
_typed("timestamp-unit-negative", Rule.FLATBUF_ENUM_UNKNOWN, ("types.timestamp-us",), "A unit of -1.", unit=-1)


def _children(
    name: str, rule: Rule, on: tuple[str, ...], what: str, change: Callable[[list[Field]], list[Field]]
) -> None:
    def tell(model: StreamModel) -> None:
        field = model.schema.header["fields"][0]
        field["children"] = change(field["children"])

    tell.__doc__ = what
    mutant(f"schema.{name}", rule, on=on)(tell)


_children(
    "list-without-child",
    Rule.SCHEMA_CHILD_COUNT,
    ("types.list", "types.large-list", "types.list-view"),
    "A list has no child.",
    lambda _: [],
)
_children(
    "list-of-two",
    Rule.SCHEMA_CHILD_COUNT,
    ("types.list", "types.fixed-size-list"),
    "A list has two children.",
    lambda children: children * 2,
)
_children("map-without-child", Rule.SCHEMA_CHILD_COUNT, ("types.map",), "A map has no child.", lambda _: [])
_children(
    "runs-without-values",
    Rule.SCHEMA_CHILD_COUNT,
    ("types.run-end-encoded-32",),
    "A run-end encoded field has run ends and no values.",
    lambda children: children[:1],
)
_children(
    "runs-swapped",
    Rule.SCHEMA_RUN_ENDS_TYPE,
    ("types.run-end-encoded-32",),
    "Values stand before run ends.",
    lambda children: children[::-1],
)
_children(
    "map-of-numbers",
    Rule.SCHEMA_MAP_ENTRIES,
    ("types.map",),
    "A map's child is not a struct.",
    lambda children: children[0]["children"][1:],
)


@mutant("schema.run-ends-of-8-bits", Rule.SCHEMA_RUN_ENDS_TYPE, on=("types.run-end-encoded-16",))
def run_ends_of_8_bits(model: StreamModel) -> None:
    """Run ends are of 8 bits."""
    model.schema.header["fields"][0]["children"][0]["type"] = {"bitWidth": 8, "is_signed": 1}


@mutant("schema.endianness-unknown", Rule.FLATBUF_ENUM_UNKNOWN, on=("types.int32", "rows.several"))
def endianness_unknown(model: StreamModel) -> None:
    """The byte order is one that is not defined."""
    model.schema.header["endianness"] = 2


@mutant("schema.feature-unknown", Rule.FLATBUF_ENUM_UNKNOWN, on=("types.int32", "rows.several"))
def feature_unknown(model: StreamModel) -> None:
    """The schema lists a feature that is not defined, so that a reader knows that it cannot read the stream."""
    model.schema.header["features"] = [4]


@mutant("schema.key-not-utf8", Rule.FLATBUF_STRING_NOT_UTF8, on=("names.schema-metadata",))
def key_not_utf8(model: StreamModel) -> None:
    """A key of the schema's metadata is not UTF-8."""
    model.schema.header["custom_metadata"] = [{"key": b"\xff\xfe", "value": "v"}]


@mutant(
    "schema.extension-nameless",
    (),
    beyond=("metadata.extension-named",),
    on=("types.int32", "types.utf8", "types.struct"),
    source="https://arrow.apache.org/docs/format/Columnar.html#extension-types",
)
def extension_nameless(model: StreamModel) -> None:
    """A field has the parameters of an extension type and not its name."""
    model.schema.header["fields"][0]["custom_metadata"] = [{"key": "ARROW:extension:metadata", "value": "{}"}]


def _extended(name: str, parameters: str | None = None) -> Callable[[StreamModel], None]:
    """Gives the first field the name of a canonical extension type, and parameters."""

    def change(model: StreamModel) -> None:
        pairs = [{"key": "ARROW:extension:name", "value": name}]
        pairs += [] if parameters is None else [{"key": "ARROW:extension:metadata", "value": parameters}]
        model.schema.header["fields"][0]["custom_metadata"] = pairs

    return change


# fmt: off
mutant("schema.uuid-of-binary", Rule.SCHEMA_EXTENSION_STORAGE, on=("types.binary",),
       source="https://github.com/kylebarron/arro3/issues/356",
       fault="A field of binaries of any length says that it has UUIDs.")(_extended("arrow.uuid", ""))
mutant("schema.json-of-numbers", Rule.SCHEMA_EXTENSION_STORAGE, on=("types.int32",),
       fault="A field of integers says that it has JSON.")(_extended("arrow.json"))
mutant("schema.tensor-of-another-shape", Rule.SCHEMA_EXTENSION_PARAMETERS, on=("types.fixed-size-list",),
       source="https://github.com/apache/arrow/issues/49716",
       fault="The shape of a tensor does not fit the size of its lists.")(
           _extended("arrow.fixed_shape_tensor", '{"shape": [5, 7]}'))
mutant("schema.opaque-without-parameters", Rule.SCHEMA_EXTENSION_PARAMETERS, on=("types.utf8",),
       fault="An opaque field does not say of what type it is, nor of which system.")(_extended("arrow.opaque"))
for _zone in ("UTC+3", "fixed"):
    _typed(f"time-zone-{_zone.lower()}", Rule.SCHEMA_TIME_ZONE, ("types.timestamp-utc",),
           f"The time zone is `{_zone}`.", "https://github.com/ClickHouse/ClickHouse/issues/108633", timezone=_zone)
# fmt: on


@mutant(
    "schema.map-sorted-by-nothing",
    (),
    beyond=("layouts.map-keys-sorted",),
    on=("types.map",),
    source="https://github.com/apache/arrow/issues/35113",
)
def map_sorted_by_nothing(model: StreamModel) -> None:
    """The schema says that the keys of maps are sorted, and those of a map are `b` and `a`."""
    _type(model)["keysSorted"] = 1
    keys = next(part for part in model.batches[0].parts if part.data == b"ab")
    keys.data = b"ba"


@mutant(
    "v4.union-without-bitmap",
    Rule.BATCH_BUFFER_COUNT,
    on=("types.union-sparse", "types.union-dense"),
    source="https://github.com/apache/arrow-rs/pull/1589",
)
def v4_union(model: StreamModel) -> None:
    """The version is V4, and unions have no validity bitmap, as in V5."""
    for message in (model.schema, *model.batches):
        message.tree["version"] = 3


@mutant(
    "v4.union-with-bitmap",
    Rule.UNION_VALIDITY_V4,
    on=("types.union-sparse", "types.union-dense"),
    choices={"version": "V4"},
    source="https://github.com/apache/arrow-nanoarrow/pull/630",
)
def v4_bitmap(model: StreamModel) -> None:
    """Under V4, a union has a validity bitmap that is not empty."""
    for message in model.batches:
        message.parts[0].data = b"\x0f"


@mutant("v5.union-with-bitmap", Rule.BATCH_BUFFER_COUNT, on=("types.union-sparse", "types.union-dense"))
def v5_bitmap(model: StreamModel) -> None:
    """Under V5, a union has an empty validity bitmap, as in V4."""
    for message in model.batches:
        message.parts.insert(0, Part("x", "validity", b""))


@mutant("batch.versions-differ", Rule.MESSAGE_VERSION_DIFFERS, on=("rows.several", "types.int32"))
def versions_differ(model: StreamModel) -> None:
    """The schema says V5, and the batches V4."""
    for message in model.batches:
        message.tree["version"] = 3
