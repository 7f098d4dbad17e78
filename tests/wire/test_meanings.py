"""What the names of canonical extension types and of time zones promise."""

from __future__ import annotations

import json

import pytest

from conformance.wire import Dictionary, Field, Rule, Type, TypeKind
from conformance.wire.meanings import CANONICAL_TYPES, is_time_zone, unkept_promises

INT8 = Type(TypeKind.INT, bit_width=8, signed=True)
INT16 = Type(TypeKind.INT, bit_width=16, signed=True)
INT32 = Type(TypeKind.INT, bit_width=32, signed=True)
TEXT, BINARY = Type(TypeKind.UTF8), Type(TypeKind.BINARY)
UTC = Type(TypeKind.TIMESTAMP, bit_width=64, unit="us", timezone="UTC")


def extended(name: str, kind: Type, parameters: str | None, *children: Field) -> Field:
    """A field with the name of an extension type."""
    pairs = [("ARROW:extension:name", name)]
    pairs += [] if parameters is None else [("ARROW:extension:metadata", parameters)]
    return Field("x", kind, metadata=tuple(pairs), children=children)


def tensor(size: int, **parameters: object) -> Field:
    """A fixed tensor in lists of that size."""
    kind = Type(TypeKind.FIXED_SIZE_LIST, list_size=size)
    return extended("arrow.fixed_shape_tensor", kind, json.dumps(parameters), Field("item", INT32))


def varying(dimensions: int, parameters: str | None, *, shape: Type = INT32) -> Field:
    """A tensor whose shape varies."""
    sizes = Field("shape", Type(TypeKind.FIXED_SIZE_LIST, list_size=dimensions), children=(Field("item", shape),))
    data = Field("data", Type(TypeKind.LIST), children=(Field("item", INT32),))
    return extended("arrow.variable_shape_tensor", Type(TypeKind.STRUCT), parameters, data, sizes)


def struct(name: str, *children: Field) -> Field:
    """An extension type in a struct."""
    return extended(name, Type(TypeKind.STRUCT), "", *children)


METADATA = Field("metadata", BINARY, nullable=False)
OFFSETS = Field("offset_minutes", INT16, nullable=False)
RUNS = Field(
    "offset_minutes", Type(TypeKind.RUN_END_ENCODED), children=(Field("run_ends", INT16), Field("values", INT16))
)


@pytest.mark.parametrize(
    "field",
    [
        extended("arrow.bool8", INT8, ""),
        extended("arrow.bool8", INT8, None),
        tensor(6, shape=[2, 3]),
        tensor(0, shape=[0, 1 << 40, 1 << 40]),
        tensor(1, shape=[]),
        tensor(6, shape=[2, 3], dim_names=["a", "b"], permutation=[1, 0], more=1),
        extended("arrow.json", Type(TypeKind.UTF8_VIEW), "{}"),
        extended("arrow.json", Type(TypeKind.LARGE_UTF8), '{"later": true}'),
        extended("arrow.opaque", Type(TypeKind.NULL), '{"type_name": "varray", "vendor_name": "Oracle"}'),
        struct("arrow.parquet.variant", METADATA, Field("value", BINARY)),
        struct("arrow.parquet.variant", Field("typed_value", TEXT), METADATA),
        struct("arrow.timestamp_with_offset", Field("timestamp", UTC), OFFSETS),
        struct("arrow.timestamp_with_offset", Field("timestamp", UTC), RUNS),
        extended("arrow.uuid", Type(TypeKind.FIXED_SIZE_BINARY, byte_width=16), "anything"),
        varying(2, None),
        varying(2, '{"uniform_shape": [400, null], "permutation": [1, 0]}'),
        extended("arrow.unknown", BINARY, "x"),
        extended("org.example.uuid", BINARY, "x"),
        Field("x", BINARY, metadata=(("ARROW:extension:name", "arrow.uuid"), ("ARROW:extension:name", "arrow.json"))),
        Field("x", TEXT, metadata=(("ARROW:extension:name", "arrow.uuid"),), dictionary=Dictionary(0, INT8)),
    ],
    ids=str,
)
def test_what_the_page_permits_or_leaves_open_breaks_nothing(field: Field) -> None:
    """Every canonical type, in its forms; names that are none, two names, and indices of a dictionary."""
    assert list(unkept_promises(field)) == []


@pytest.mark.parametrize(
    ("field", "found"),
    [
        (extended("arrow.bool8", Type(TypeKind.BOOL), ""), "arrow.bool8 of bool"),
        (
            extended("arrow.fixed_shape_tensor", Type(TypeKind.LIST), '{"shape": [1]}'),
            "arrow.fixed_shape_tensor of list",
        ),
        (extended("arrow.json", BINARY, ""), "arrow.json of binary"),
        (extended("arrow.uuid", BINARY, ""), "arrow.uuid of binary"),
        (
            extended("arrow.uuid", Type(TypeKind.FIXED_SIZE_BINARY, byte_width=8), ""),
            "arrow.uuid of fixed-size-binary[8]",
        ),
        (struct("arrow.parquet.variant", METADATA), "arrow.parquet.variant of struct<'metadata': binary>"),
        (
            struct("arrow.parquet.variant", Field("metadata", BINARY), Field("value", BINARY)),
            "arrow.parquet.variant of a struct with a nullable 'metadata'",
        ),
        (
            struct("arrow.timestamp_with_offset", OFFSETS, Field("timestamp", UTC)),
            "arrow.timestamp_with_offset of struct<'offset_minutes': int16, 'timestamp': timestamp[us, UTC]>",
        ),
        (
            varying(2, None, shape=INT16),
            "arrow.variable_shape_tensor of struct<'data': list, 'shape': fixed-size-list[2]>",
        ),
    ],
    ids=str,
)
def test_another_storage_is_told(field: Field, found: str) -> None:
    """By the name and the type that is there; parameters are not judged then."""
    assert list(unkept_promises(field)) == [(Rule.SCHEMA_EXTENSION_STORAGE, found)]


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (extended("arrow.bool8", INT8, "{}"), "where it has none"),
        (tensor(4, shape=[2, 3]), "in lists of 4"),
        (tensor(1 << 20, shape=[1 << 40] * 9), "in lists of 1048576"),
        (tensor(4), "without an array 'shape'"),
        (tensor(2, shape=[2.0]), "without an array 'shape'"),
        (tensor(6, shape=[2, 3], dim_names=["a"]), "'dim_names' is not of 2 dimensions"),
        (tensor(6, shape=[2, 3], permutation=[0, 2]), "'permutation' is none"),
        (extended("arrow.json", TEXT, "[]"), "no JSON object"),
        (extended("arrow.json", TEXT, '{"a": NaN}'), "no JSON object"),
        (extended("arrow.json", TEXT, '{"a":' * 100_000), "no JSON object"),
        (extended("arrow.opaque", TEXT, None), "no JSON object"),
        (extended("arrow.opaque", TEXT, '{"type_name": "a"}'), "without a text 'vendor_name'"),
        (varying(1 << 30, '{"permutation": [0]}'), "'permutation' is not of 1073741824 dimensions"),
    ],
    ids=lambda value: str(value)[-60:],
)
def test_other_parameters_are_told(field: Field, words: str) -> None:
    """As they are, and in a time that their length decides."""
    [(rule, found)] = unkept_promises(field)

    assert (rule, words in found) == (Rule.SCHEMA_EXTENSION_PARAMETERS, True)


def test_every_canonical_type_has_its_checks() -> None:
    """The tests above have one of each."""
    assert sorted(map(str, CANONICAL_TYPES)) == [
        "arrow.bool8",
        "arrow.fixed_shape_tensor",
        "arrow.json",
        "arrow.opaque",
        "arrow.parquet.variant",
        "arrow.timestamp_with_offset",
        "arrow.uuid",
        "arrow.variable_shape_tensor",
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("", "UTC", "utc", "+07:30", "-00:00", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+4"),
        *("America/Somewhere_New", "Asia/Ust-Nera", "GMT0", "EST5EDT", "right/UTC"),
    ],
)
def test_a_name_or_an_offset_is_a_time_zone(text: str) -> None:
    """Names that the database may get are told by their form."""
    assert is_time_zone(text)


@pytest.mark.parametrize(
    "text",
    ["UTC+3", "fixed", "+7", "+07", "+0730", "+07:30:00", "GMT+03:00", "Z", "localtime", "Europe", "Mars/Olympus", " "],
)
def test_other_texts_are_no_time_zone(text: str) -> None:
    """Offsets in other forms, abbreviations of one system, and words."""
    assert not is_time_zone(text)
