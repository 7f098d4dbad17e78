"""The Schema header: types, fields and metadata as the bytes give them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.wire import Dictionary, Endianness, Rule, Type, TypeKind, read_schema, schema_to_arrow
from conformance.wire.plan import V4, V4_WITH_RUNS, V5, plan_of
from tests.wire.breaking import END, INT
from tests.wire.corpus import batches, pair
from tests.wire.forge import field, schema_message, schema_of


@pytest.mark.parametrize("name", [name for name in batches() if "," not in name])
def test_schema_of_every_type_is_read_without_a_fault(name: str) -> None:
    """Pyarrow's output is legal, and is read back as the same schema."""
    batch = batches()[name]

    read = read_schema(pair(batch)[0])

    assert read.faults == []
    assert read.schema is not None
    assert schema_to_arrow(read.schema).equals(batch.schema, check_metadata=True)


def test_an_end_of_stream_is_no_schema() -> None:
    """A marker in the place of the schema is reported as what it is."""
    assert [fault.rule for fault in read_schema(END).faults] == [Rule.MESSAGE_END_OF_STREAM]


@pytest.mark.parametrize(("letters", "shown"), [(64, "l" * 64), (65, "l" * 61 + "...")])
def test_long_names_are_cut_where_they_are_shown(letters: int, shown: str) -> None:
    """A hostile name may have a million letters, and is a part of every path below it."""
    schema = read_schema(schema_message(field("x", "Struct_", [INT | {"name": "l" * letters}]))).schema

    assert schema is not None
    assert [path for path, _ in schema.walk()] == ["x", f"x.{shown}"]


def test_field_is_described() -> None:
    """Name, type, nullability, metadata and children of a field are those of the bytes."""
    struct = pa.struct([pa.field("price", pa.decimal128(38, 9), nullable=False)])
    schema = schema_of(pa.field("items", pa.list_(pa.field("item", struct)), metadata={"k": "v"}))

    items = schema.fields[0]
    price = items.children[0].children[0]

    assert (items.name, items.nullable, items.metadata) == ("items", True, (("k", "v"),))
    assert price.type == Type(TypeKind.DECIMAL, bit_width=128, precision=38, scale=9)
    assert not price.nullable
    assert [path for path, _ in schema.walk()] == ["items", "items.item", "items.item.price"]


@pytest.mark.parametrize(
    ("kind", "parameters", "text"),
    [
        ("Date", {}, "date64[ms]"),
        ("Time", {}, "time32[ms]"),
        ("Timestamp", {}, "timestamp[s]"),
        ("Duration", {}, "duration[ms]"),
        ("Decimal", {"precision": 5}, "decimal128(5, 0)"),
        ("FloatingPoint", {}, "float16"),
        ("Interval", {}, "interval[year-month]"),
        ("Union", {}, "sparse-union"),
    ],
)
def test_absent_slots_mean_their_defaults(kind: str, parameters: dict[str, int], text: str) -> None:
    """Units and widths that are not written have the defaults of Schema.fbs, which differ by type."""
    schema = read_schema(schema_message(field("x", kind, **parameters))).schema

    assert schema is not None
    assert str(schema.fields[0].type) == text


def test_dictionary_without_index_type_means_int32() -> None:
    """The index type of a dictionary-encoded field may be left out."""
    schema = read_schema(schema_message(field("x", "Utf8") | {"dictionary": {"id": 7}})).schema

    assert schema is not None
    index = Type(TypeKind.INT, bit_width=32, signed=True)
    assert schema.fields[0].dictionary == Dictionary(7, index)


def test_union_without_type_ids_counts_from_0() -> None:
    """Absent type ids are the children's positions."""
    schema = read_schema(schema_message(field("x", "Union", [INT, INT], mode=1))).schema

    assert schema is not None
    assert schema.fields[0].type == Type(TypeKind.UNION, mode="dense", type_ids=(0, 1))


@pytest.mark.parametrize(
    ("children", "ids", "observed"),
    [
        (2, {"typeIds": [3, 4, 5]}, "2 children, 3 ids: -1"),
        (129, {}, f"129 children, 129 ids: {', '.join(map(str, range(16)))}"),
    ],
)
def test_ids_of_a_union_that_do_not_fit_are_counted(children: int, ids: dict[str, list[int]], observed: str) -> None:
    """A union has one id for each child, in 7 bits, whether the ids are written or counted."""
    (fault,) = read_schema(schema_message(field("x", "Union", [INT] * children, mode=1, **ids))).faults

    assert (fault.rule, fault.observed) == (Rule.SCHEMA_UNION_TYPE_IDS, observed)


def test_features_and_endianness_are_read() -> None:
    """Features are named; big-endian bodies are noted."""
    read = read_schema(schema_message(INT, schema={"endianness": 1, "features": [1, 2]}))

    assert [fault.rule for fault in read.faults] == [Rule.SCHEMA_ENDIANNESS_BIG]
    assert read.schema is not None
    assert read.schema.endianness is Endianness.BIG
    assert read.schema.features == ("DICTIONARY_REPLACEMENT", "COMPRESSED_BODY")


def test_names_may_repeat_and_be_empty() -> None:
    """Arrow does not ask for unique or non-empty names."""
    read = read_schema(schema_message(INT | {"name": ""}, INT, INT))

    assert read.faults == []


def test_schema_with_a_broken_field_cannot_be_used() -> None:
    """Batches are not judged by a schema that is known in part only."""
    read = read_schema(schema_message(INT, field("y", "List")))

    assert read.schema is None


def test_plan_is_compiled_once() -> None:
    """A schema keeps its plan, one with and one without validity bitmaps of unions."""
    schema = schema_of(pa.field("x", pa.dense_union([pa.field("a", pa.int8())])))

    assert plan_of(schema) is plan_of(schema)
    assert plan_of(schema).buffers == 4
    assert plan_of(schema, V4).buffers == 5


def test_runs_in_v4_have_a_plan_with_bitmaps_too() -> None:
    """What V4 gives to runs is open; V5 gives them no buffer."""
    schema = schema_of(pa.field("x", pa.run_end_encoded(pa.int32(), pa.int8())))

    assert [plan_of(schema, bitmaps).buffers for bitmaps in (V5, V4, V4_WITH_RUNS)] == [4, 4, 5]


def test_buffers_are_counted_as_the_format_lists_them() -> None:
    """struct(a: int32, b: list(int64), c: float64) and utf8: six nodes, twelve buffers."""
    struct = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.int64())), ("c", pa.float64())])

    plan = plan_of(schema_of(pa.field("s", struct), pa.field("t", pa.utf8())))

    assert [op.path for op in plan.ops] == ["s", "s.a", "s.b", "s.b.item", "s.c", "t"]
    assert plan.buffers == 12
