"""FlatBuffers verification: legal layouts pass, hostile ones end in time."""

from __future__ import annotations

import struct
from collections.abc import Container

import pyarrow as pa
import pytest

from conformance.wire import Fault, Rule, batch_to_arrow, flatbuf, read_batch, read_schema
from conformance.wire.flatbuf import VectorRun, Verifier
from conformance.wire.tables import ENUMS, STRUCTS, TABLES, UNIONS, SlotKind, TableSpec
from tests.wire.breaking import GOOD_BATCH, INT
from tests.wire.forge import SAME, SCHEMA, Forge, Values, column, encapsulate, field, packed, schema_message


def test_verified_values_are_what_was_written() -> None:
    """Scalars, strings, vectors and unions come back as written; what is absent has its default."""
    root = {"version": 4, "header_type": 1, "header": {"fields": [INT]}}
    meta = Forge().root("Message", root)

    table = Verifier(meta, 0, []).root("Message")

    assert table is not None
    assert table["version"] == 4
    assert table["bodyLength"] == 0
    assert table["custom_metadata"] is None
    assert table["header"]["fields"][0]["name"] == "x"
    assert table["header"]["fields"][0]["type"]["bitWidth"] == 32


def test_structs_are_found_in_place() -> None:
    """A vector of structs is a run: where it starts and how many there are."""
    batch = {"length": 3, "nodes": [(3, 1)], "buffers": [(0, 8), (8, 24)]}
    verifier = Verifier(Forge().root("RecordBatch", batch), 0, [])

    table = verifier.root("RecordBatch")

    assert table is not None
    assert isinstance(table["buffers"], VectorRun)
    assert verifier.int64s(table["buffers"], per_element=2) == (0, 8, 8, 24)


@pytest.mark.parametrize(("fields", "rules"), [(125, []), (126, [Rule.FLATBUF_DEPTH])])
def test_tables_nest_128_deep(fields: int, rules: list[Rule]) -> None:
    """The message, the schema, a field in a field and the type of the innermost one: the 129th table is too deep."""
    innermost: Values = INT
    for _ in range(fields - 1):
        innermost = field("l", "List", [innermost])
    faults: list[Fault] = []

    Verifier(Forge().root("Message", {"header_type": 1, "header": {"fields": [innermost]}}), 0, faults).root("Message")

    assert [fault.rule for fault in faults] == rules


def test_required_slots_are_those_of_the_format() -> None:
    """`Tensor.fbs` and `SparseTensor.fbs` require slots; `Schema.fbs`, `Message.fbs` and `File.fbs` require none."""
    required = {name: {slot.name for slot in spec.slots if slot.required} for name, spec in TABLES.items()}

    assert {name: slots for name, slots in required.items() if slots} == {
        "Tensor": {"type", "shape", "data"},
        "SparseTensor": {"type", "shape", "sparseIndex", "data"},
        "SparseTensorIndexCOO": {"indicesType", "indicesBuffer"},
        "SparseMatrixIndexCSX": {"indptrType", "indptrBuffer", "indicesType", "indicesBuffer"},
        "SparseTensorIndexCSF": {"indptrType", "indptrBuffers", "indicesType", "indicesBuffers", "axisOrder"},
    }


def test_vtable_after_its_table_is_legal() -> None:
    """A table's offset to its vtable is signed: the vtable may be on either side."""
    meta = struct.pack("<I4x iI HHH2x I", 8, -8, 12, 6, 8, 4, 1) + b"k\0\0\0"
    faults: list[Fault] = []

    table = Verifier(meta, 0, faults).root("KeyValue")

    assert faults == []
    assert table is not None
    assert table["key"] == "k"


def test_written_defaults_and_empty_vectors_are_legal() -> None:
    """Builders may write defaults out, and empty vectors instead of none."""
    schema = {"endianness": 0, "custom_metadata": [], "features": []}

    read = read_schema(schema_message(INT | {"custom_metadata": [], "children": []}, schema=schema))

    assert read.faults == []


def test_metadata_padded_to_64_is_legal() -> None:
    """The metadata may be padded further than to 8 bytes."""
    data = schema_message(INT)
    metadata = data[8:]

    read = read_schema(encapsulate(metadata + bytes(-(len(metadata) + 8) % 64)))

    assert read.faults == []


def test_shared_tables_are_legal_while_they_are_few() -> None:
    """Two references may lead to one table: nothing in FlatBuffers forbids it."""
    read = read_schema(schema_message(INT, SAME))

    assert read.faults == []
    assert read.schema is not None
    assert [each.name for each in read.schema.fields] == ["x", "x"]


def test_references_shared_without_end_are_cut_short() -> None:
    """Tables that refer to the same tables over and over would double at every level: the walk has a limit."""
    nested = field("x", "Struct_", [INT])
    for _ in range(40):
        nested = field("x", "Struct_", [nested, SAME])

    read = read_schema(schema_message(nested))

    assert Rule.FLATBUF_TABLES in {fault.rule for fault in read.faults}
    assert read.schema is None


def test_text_shared_without_end_is_cut_short() -> None:
    """Overlapping strings cannot make the reader copy more text than there are bytes."""
    meta = bytearray(Forge().root("Schema", {"custom_metadata": [{"key": "k"}] * 50}))
    # Every key refers to a place of its own among words that all read as one long length.
    size = len(meta)
    meta += struct.pack("<I", 4096) * 2048 + bytes(16)
    verifier = Verifier(bytes(meta), 0, [])
    table = verifier.root("Schema")
    assert table is not None
    for number, entry in enumerate(table["custom_metadata"]):
        at = entry.place("key")
        struct.pack_into("<I", meta, at, size + 4 * number - at)
    faults: list[Fault] = []

    Verifier(bytes(meta), 0, faults).root("Schema")

    assert Rule.FLATBUF_TABLES in {fault.rule for fault in faults}


def _pairs(count: int, value: str = "v") -> bytes:
    return Forge().root("Schema", {"custom_metadata": [{"key": f"k{n}", "value": value} for n in range(count)]})


def test_more_tables_than_are_read_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vector says how many follow, and nothing is made of too many."""
    monkeypatch.setattr(flatbuf, "MAX_TABLES", 100)
    faults: list[Fault] = []
    verifier = Verifier(_pairs(500), 0, faults)

    table = verifier.root("Schema")
    verifier.account()

    assert table is not None
    assert table["custom_metadata"] is None
    assert len(verifier.spans) < 10
    assert [(fault.rule, fault.observed) for fault in faults] == [
        (Rule.FLATBUF_TABLES, "500 tables more, of which there is room for 99; what is beyond is not looked at")
    ]


def test_more_text_than_is_read_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long text is reported by its length."""
    monkeypatch.setattr(flatbuf, "MAX_TEXT", 1000)
    faults: list[Fault] = []
    verifier = Verifier(_pairs(1, "v" * 2000), 0, faults)

    verifier.root("Schema")

    assert Rule.FLATBUF_TABLES in {fault.rule for fault in faults}
    assert max(end - start for start, end, *_ in verifier.spans) < 1000


def _faults_of(meta: bytes, root: str) -> list[tuple[Rule, str]]:
    faults: list[Fault] = []
    Verifier(meta, 0, faults).root(root)
    return [(fault.rule, fault.observed) for fault in faults]


def test_metadata_has_a_table_for_every_four_bytes_and_no_more() -> None:
    """Four references share three tables: as many tables are read as there are words, and one more is a fault."""
    shared = field("x", "Struct_", [INT, *[SAME] * 9])
    meta = Forge().root("Schema", {"fields": [shared, *[SAME] * 9]})
    tables = 1 + 10 * (2 + 10 * 2)
    assert len(meta) < 4 * tables

    assert _faults_of(meta.ljust(4 * tables, b"\0"), "Schema") == []
    short = meta.ljust(4 * tables - 4, b"\0")
    observed = f"more than {tables - 1} tables in {len(short)} bytes; what is beyond is not looked at"
    assert _faults_of(short, "Schema")[0] == (Rule.FLATBUF_TABLES, observed)


def test_metadata_has_2_to_the_18_tables_at_most() -> None:
    """Metadata of any size makes no more objects than those of a schema of 50,000 columns."""
    forge = Forge()
    forge.root("Schema", {"custom_metadata": [{"key": "k"}]})
    forge.patch(forge.places["Schema.custom_metadata()"], "<I", 300_000)

    observed = "300000 tables more, of which there is room for 262143; what is beyond is not looked at"
    assert _faults_of(bytes(forge.out).ljust(2 << 20, b"\0"), "Schema") == [(Rule.FLATBUF_TABLES, observed)]


def test_metadata_has_64_mib_of_text_at_most() -> None:
    """A longer text is not copied, whatever the size of the metadata."""
    forge = Forge()
    forge.root("Schema", {"custom_metadata": [{"key": "k"}]})
    forge.patch(forge.places["Schema.custom_metadata[0].key()"], "<I", (64 << 20) + 1)

    observed = "more text than 67108864 bytes; what is beyond is not looked at"
    assert _faults_of(bytes(forge.out).ljust(65 << 20, b"\0"), "Schema") == [(Rule.FLATBUF_TABLES, observed)]


def test_a_shallow_walk_leaves_the_header_out() -> None:
    """Finding the end of a message costs the same for any number of columns."""
    meta = Forge().root("Message", {"version": 4, "header_type": 1, "header": {"fields": [INT] * 500}})
    faults: list[Fault] = []
    verifier = Verifier(meta, 0, faults, shallow=True)

    table = verifier.root("Message")

    assert table is not None
    assert (table["version"], table["header_type"], table["header"]) == (4, 1, None)
    assert len(verifier.spans) == 3
    assert faults == []


@pytest.mark.parametrize("size", [0, 2, 5])
def test_a_vtable_has_its_own_two_sizes_and_whole_slots(size: int) -> None:
    """The size of a vtable is even, and at least that of the two numbers at its start."""
    forge = Forge()
    forge.root("Schema", {"custom_metadata": [{"key": "k"}]})
    forge.patch(forge.places["Schema.custom_metadata[0].vtable"], "<H", size)

    assert _faults_of(bytes(forge.out), "Schema") == [(Rule.FLATBUF_VTABLE_SIZE, f"a vtable of {size} bytes")]


def test_a_value_ends_inside_its_table() -> None:
    """A slot that starts in the last bytes of its table is out of it, even if the metadata goes on."""
    forge = Forge()
    forge.root("Schema", {"custom_metadata": [{"key": "k"}]})
    forge.patch(forge.places["Schema.custom_metadata[0].vtable"] + 4, "<H", 8)

    assert _faults_of(bytes(forge.out), "Schema")[0] == (
        Rule.FLATBUF_SLOT_OUT_OF_TABLE,
        "4 bytes at offset 8 of a table of 8 bytes",
    )


def test_one_bad_slot_does_not_hide_another() -> None:
    """Each broken part of a table is reported."""
    read = read_schema(schema_message(INT | {"name": b"\xff"}, field("y", "Int", bitWidth=9), {"name": "z"}))

    assert [fault.rule for fault in read.faults] == [
        Rule.FLATBUF_STRING_NOT_UTF8,
        Rule.SCHEMA_INT_WIDTH,
        Rule.SCHEMA_FIELD_WITHOUT_TYPE,
    ]


@pytest.mark.parametrize("table", list(TABLES.values()), ids=lambda table: table.name)
def test_rows_of_tables_refer_to_rows(table: TableSpec) -> None:
    """Every table, struct, enum and union that a slot names has a row of its own."""
    known: dict[SlotKind, Container[str]] = {
        SlotKind.TABLE: TABLES,
        SlotKind.TABLES: TABLES,
        SlotKind.STRUCT: STRUCTS,
        SlotKind.STRUCTS: STRUCTS,
        SlotKind.UNION: UNIONS,
    }

    for slot in table.slots:
        rows: Container[str] = known.get(slot.kind, (slot.of,))
        assert slot.of in rows
        assert not slot.enum or slot.enum in ENUMS


def test_members_of_unions_are_tables() -> None:
    """Every union's members, after NONE, are tables."""
    for members in UNIONS.values():
        assert members[0] == "NONE"
        assert set(members[1:]) <= set(TABLES)


def test_values_that_are_not_aligned_are_read_all_the_same() -> None:
    """A vector of structs, or a number, at a multiple of 4 bytes is one fault, and the body behind it is judged."""
    read = read_batch(packed(GOOD_BATCH), column(pa.int32()))

    assert {fault.rule for fault in read.faults} == {Rule.FLATBUF_UNALIGNED}
    assert batch_to_arrow(read).to_pydict() == {"x": [1, 2]}


class _Referring(Forge):
    """Leaves room for two words behind the table of a struct's type."""

    def table(self, name: str, values: Values, path: str) -> int:
        """Writes a table, and zeros behind the one of a struct's type."""
        start = super().table(name, values, path)
        if name == "Struct_":
            self.places["behind"] = len(self.out)
            self.out += bytes(8)
        return start


def _struct_with_references(*shifts: int) -> bytes:
    """A schema of a struct behind the table of whose type there are references to its children, shifted by bytes."""
    forge = _Referring()
    child = field("a", "Int", bitWidth=32, is_signed=1)
    fields = [field("s", "Struct_", [child, child | {"name": "b"}])]
    forge.root("Message", {"version": 4, "header_type": SCHEMA, "header": {"fields": fields}, "bodyLength": 0})
    for number, shift in enumerate(shifts):
        at = forge.places["behind"] + 4 * number
        forge.patch(at, "<I", forge.places[f"Message.header.fields[0].children[{number}]()"] - at + shift)
    return encapsulate(bytes(forge.out))


@pytest.mark.parametrize(("shifts", "rules"), [((0, 0), []), ((0, 4), [Rule.FLATBUF_UNACCOUNTED_BYTES])])
def test_references_in_no_slot_are_no_stale_memory(shifts: tuple[int, int], rules: list[Rule]) -> None:
    """arrow-go writes the places of a struct's children into its type; whatever leads to no table is stale."""
    assert [fault.rule for fault in read_schema(_struct_with_references(*shifts)).faults] == rules
