"""Schemas: what is understood, and what a fault leaves."""

from __future__ import annotations

import json

import pytest

from conformance.formats.avro import (
    AvroArray,
    AvroField,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroRule,
    AvroUnion,
    PrimitiveKind,
    read_avro_schema,
)
from tests.formats.avro.breaking import SCHEMAS, array, decimal, logical, record, schema_of, text_of

LONG = AvroPrimitive(PrimitiveKind.LONG)
NOT_UNDERSTOOD = frozenset(
    {
        *(AvroRule.SCHEMA_JSON, AvroRule.SCHEMA_FORM, AvroRule.ROOT, AvroRule.TYPE_MISSING, AvroRule.TYPE_UNKNOWN),
        *(AvroRule.NAME_UNDEFINED, AvroRule.NAME_MISSING, AvroRule.NAME_REDEFINED, AvroRule.FIELDS_MISSING),
        *(AvroRule.ITEMS_MISSING, AvroRule.UNION_NESTED, AvroRule.UNION_REPEATED, AvroRule.UNION_BRANCHES),
        *(AvroRule.RECURSION, AvroRule.DEPTH, AvroRule.SIZE, AvroRule.NAME_LONG),
    }
)
"""The rules without which nobody knows what the bytes of a row mean."""


@pytest.mark.parametrize("rule", SCHEMAS, ids=str)
def test_rows_can_be_decoded_unless_a_type_is_not_understood(rule: AvroRule) -> None:
    """An illegal name, or an invalid logical type, leaves a schema."""
    assert (read_avro_schema(SCHEMAS[rule]).schema is None) == (rule in NOT_UNDERSTOOD)


def test_types_become_nodes() -> None:
    """Records, arrays, unions and primitives with their attributes."""
    inner = record(decimal(38, 9), name="s")
    schema = schema_of("long", ["null", {"type": "string", "sqlType": "JSON"}], array(inner), ["null", "s"])

    number = AvroPrimitive(PrimitiveKind.BYTES, "decimal", "", 38, 9)
    made = AvroRecord("s", (AvroField("a", number),))
    assert [field.type for field in schema.root.fields] == [
        LONG,
        AvroUnion(AvroPrimitive(PrimitiveKind.STRING, sql="JSON")),
        AvroArray(made),
        AvroUnion(AvroReference("s")),
    ]
    assert schema.record(AvroReference("s")) is schema.named["s"]


def test_text_and_bytes_are_read_alike() -> None:
    """The field of the message is a text; a file has bytes."""
    assert read_avro_schema(text_of("long")) == read_avro_schema(text_of("long").encode())


def test_a_range_is_defined_once_and_named_afterwards() -> None:
    """The namespace of the record counts, and a reference uses the full name."""
    bound = ["null", logical("int", "date")]
    fields = [{"name": name, "type": bound} for name in ("start", "end")]
    whole = {
        "type": "record",
        "namespace": "google.sqlType",
        "name": "RANGE_DATE",
        "sqlType": "RANGE",
        "fields": fields,
    }

    schema = schema_of(["null", whole], ["null", "google.sqlType.RANGE_DATE"])

    assert schema.named["google.sqlType.RANGE_DATE"].sql == "RANGE"
    assert schema.root.fields[1].type == AvroUnion(AvroReference("google.sqlType.RANGE_DATE"))


@pytest.mark.parametrize(
    ("attributes", "reference"),
    [
        ({"name": "s", "namespace": "x.y"}, "x.y.s"),
        ({"name": "x.s", "namespace": "ignored"}, "x.s"),
        ({"name": "s"}, "s"),
        ({"name": "s", "namespace": ""}, "s"),
    ],
    ids=["namespace", "full name", "none", "empty"],
)
def test_full_names_follow_the_specification(attributes: dict[str, str], reference: str) -> None:
    """A dot in a name makes it full; otherwise the namespace counts."""
    schema = schema_of(record("long") | attributes, reference)

    assert schema.root.fields[1].type == AvroReference(reference)


def test_a_name_inherits_the_namespace_around_it() -> None:
    """A record in a record with a namespace, and a reference there, are in this namespace."""
    outer = record(record("long", name="inner"), "inner", name="outer", namespace="n")

    assert set(schema_of(outer).named) == {"r", "n.outer", "n.inner"}


def test_a_name_is_unknown_before_its_definition() -> None:
    """The order is that of the text, depth first."""
    (fault,) = read_avro_schema(text_of("s", record("long", name="s"))).faults

    assert (fault.rule, fault.path) == (AvroRule.TYPE_UNKNOWN, "a")


@pytest.mark.parametrize(
    ("name", "said"), [({}, "no name"), ({"name": ""}, "the name ''"), ({"name": 1}, "the name 1")]
)
def test_a_missing_name_is_told_from_an_empty_one(name: dict[str, object], said: str) -> None:
    """And from something that is no text."""
    (fault,) = read_avro_schema(json.dumps({"type": "record", "fields": [], **name})).faults

    assert (fault.rule, fault.observed) == (AvroRule.NAME_MISSING, said)


def test_a_fault_names_column_and_attribute() -> None:
    """The path leads through records and arrays."""
    inner = {"type": "record", "name": "s", "fields": [{"name": "price", "type": decimal("9")}]}

    (fault,) = read_avro_schema(text_of(array(inner))).faults

    assert fault.path == "a.item.price, precision"


def test_the_name_of_a_column_may_be_in_an_attribute() -> None:
    """With display names, a field carries the column's own."""
    field = {"name": "field_0", "type": "long", "displayName": "größe"}

    schema = read_avro_schema(json.dumps({"type": "record", "name": "r", "fields": [field]})).schema

    assert schema is not None
    assert schema.root.fields[0].display == "größe"


@pytest.mark.parametrize(
    "text", ["", "\ufeff" + text_of("long"), "NaN", '{"a":Infinity}', "[" * 300, text_of("long") + "x", "\ud800"]
)
def test_text_that_is_no_json_is_one_fault(text: str) -> None:
    """Python's parser would accept some of it."""
    assert [fault.rule for fault in read_avro_schema(text).faults] == [AvroRule.SCHEMA_JSON]


def test_bytes_that_are_not_utf8_are_one_fault() -> None:
    """Nothing raises."""
    assert [fault.rule for fault in read_avro_schema(b'"\xff"').faults] == [AvroRule.SCHEMA_JSON]


def test_every_type_of_a_wide_table_is_read() -> None:
    """10,000 columns are within the limits."""
    fields = [{"name": f"c{place}", "type": ["null", "long"]} for place in range(10_000)]

    reading = read_avro_schema(json.dumps({"type": "record", "name": "__root__", "fields": fields}))

    assert reading.faults == ()
    assert reading.schema is not None


def test_a_decimal_without_a_scale_has_none() -> None:
    """The scale is optional in Avro, and 0 by default."""
    made = schema_of(logical("bytes", "decimal", precision=5)).root.fields[0].type

    assert made == AvroPrimitive(PrimitiveKind.BYTES, "decimal", "", 5, 0)


@pytest.mark.parametrize(("arrays", "understood"), [(62, True), (63, False)])
def test_types_nest_64_deep(arrays: int, *, understood: bool) -> None:
    """A record, its arrays and a value; also through a reference."""
    kind: object = "s"
    for _ in range(arrays - 1):
        kind = array(kind)
    named = read_avro_schema(text_of(record("long", name="s"), kind))
    kind = "long"
    for _ in range(arrays):
        kind = array(kind)
    whole = read_avro_schema(text_of(kind))

    assert [reading.schema is not None for reading in (named, whole)] == [understood, understood]


def test_types_are_counted_with_each_reference_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the record, two of it again, an array with its items, a union, and the root."""
    text = text_of(record("long", name="s"), "s", array("long"), ["null", "long"])

    for limit, understood in ((9, True), (8, False)):
        monkeypatch.setattr("conformance.formats.avro.schema.MAX_TYPES", limit)
        assert (read_avro_schema(text).schema is not None) == understood


@pytest.mark.parametrize("size", [200, 201])
def test_a_long_path_keeps_its_end(size: int) -> None:
    """The path of a fault is cut where a schema nests long names."""
    (fault,) = read_avro_schema(json.dumps(record(name="r") | {"fields": [{"name": "n" * size}]})).faults

    assert fault.path == ("" if size == 200 else "…") + "n" * 200


def test_references_do_not_multiply_without_end() -> None:
    """Thousands of records that have each other twice, or once, are refused before anything expands them."""
    for times in (1, 2):
        made = [record("long", name="r0")]
        made += [record(*[f"r{level - 1}"] * times, name=f"r{level}") for level in range(1, 3000)]
        fields = [{"name": f"f{place}", "type": one} for place, one in enumerate(made)]

        reading = read_avro_schema(json.dumps({"type": "record", "name": "r", "fields": fields}))

        assert reading.schema is None
        assert {fault.rule for fault in reading.faults} <= {AvroRule.DEPTH, AvroRule.SIZE}
