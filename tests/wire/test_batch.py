"""Record batches against their schema: what is legal passes, and each column is judged as its type asks."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.contain.text import many
from conformance.wire import Rule, batch_lengths, read_batch, read_schema
from tests.wire.breaking import zstd
from tests.wire.corpus import batches, one, pair
from tests.wire.forge import batch_message, column, field, i1, i2, i4, i8, schema_message, schema_of


@pytest.mark.parametrize("name", list(batches()))
def test_legal_batch_has_no_fault(name: str) -> None:
    """Every type, empty, sliced and long, is read without a fault or a note."""
    schema_bytes, data = pair(batches()[name])
    schema = read_schema(schema_bytes).schema
    assert schema is not None

    read = read_batch(data, schema)

    assert read.faults == []
    assert read.decodable
    assert read.length == batches()[name].num_rows


def test_header_is_described() -> None:
    """Nodes and buffers are those of the RecordBatch header."""
    read = read_batch(batch_message(2, [(2, 1)], [b"\1", i4(7, 0)]), column(pa.int32()))

    assert read.nodes == ((2, 1),)
    assert read.buffers == ((0, 1), (8, 8))
    assert (read.length, read.codec) == (2, "")


def test_surplus_column_is_not_dropped_in_silence() -> None:
    """A batch of two columns behind a schema of one is malformed, though lenient readers take it."""
    two = pa.RecordBatch.from_pydict({"a": [1], "b": [2]})

    read = read_batch(pair(two)[1], schema_of(pa.field("a", pa.int64())))

    assert [fault.rule for fault in read.faults] == [Rule.BATCH_NODE_COUNT, Rule.BATCH_BUFFER_COUNT]
    assert not read.decodable


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 63, 64, 65, 4095, 4096, 4097, 70_000])
def test_nulls_are_counted_over_any_length(length: int) -> None:
    """The null count is checked to the last bit, whichever way the bits are counted."""
    values = pa.array([None if row % 3 == 0 else row for row in range(length)], pa.int64())
    data = bytearray(pair(one(values))[1])
    schema = column(pa.int64())
    clean = read_batch(data, schema)
    assert clean.faults == []

    if length > 1:
        message = clean.message
        assert message is not None
        data[message.body_start + (length - 1) // 8] ^= 1 << ((length - 1) % 8)
        assert [fault.rule for fault in read_batch(data, schema).faults] == [Rule.BATCH_NULL_COUNT_MISMATCH]


def test_spare_bits_of_a_bitmap_are_free() -> None:
    """Bits beyond the last slot count for nothing."""
    assert read_batch(batch_message(3, [(3, 1)], [b"\xfb", i4(1, 2, 3)]), column(pa.int32())).faults == []


@pytest.mark.parametrize(
    ("kind", "nodes", "buffers"),
    [
        pytest.param(pa.utf8(), [(0, 0)], [b"", b"", b""], id="no offsets for no rows"),
        pytest.param(pa.utf8(), [(0, 0)], [b"", i4(0), b""], id="one offset for no rows"),
        pytest.param(pa.large_binary(), [(0, 0)], [b"", b"", b""], id="no large offsets for no rows"),
        pytest.param(pa.list_(pa.int8()), [(0, 0), (0, 0)], [b"", b"", b"", b""], id="no offsets for no lists"),
        pytest.param(pa.int32(), [(2, 0)], [b"\3", i4(1, 2)], id="a bitmap without nulls"),
        pytest.param(pa.int32(), [(2, 0)], [b"\3" + bytes(7), i4(1, 2)], id="padding inside the bitmap's length"),
        pytest.param(pa.int32(), [(2, 0)], [b"", i4(1, 2) + bytes(56)], id="padding inside the data's length"),
        pytest.param(pa.null(), [(3, 3)], [], id="nulls without buffers"),
        pytest.param(pa.list_(pa.int8(), 0), [(3, 0), (0, 0)], [b"", b"", b""], id="lists of size zero"),
        pytest.param(pa.list_(pa.int8()), [(1, 0), (3, 0)], [b"", i4(0, 1), b"", i1(1, 2, 3)], id="child with more"),
    ],
)
def test_legal_variants_have_no_fault(kind: pa.DataType, nodes: list[tuple[int, int]], buffers: list[bytes]) -> None:
    """A choice that writers are free to make is not a fault."""
    assert read_batch(batch_message(nodes[0][0], nodes, buffers), column(kind)).faults == []


def test_empty_buffers_may_carry_any_offset() -> None:
    """The offset of a buffer of no bytes means nothing."""
    data = batch_message(2, [(2, 0)], [b"", i4(1, 2)], places=[(4099, 0), (0, 8)])

    assert read_batch(data, column(pa.int32())).faults == []


def test_an_unaligned_buffer_behind_zeros_is_told() -> None:
    """Zeros before a buffer are padding only if the buffer starts at a multiple of 8 bytes."""
    data = batch_message(1, [(1, 0)], [b"", i4(0, 1)], places=[(0, 0), (4, 4)])

    assert [fault.rule for fault in read_batch(data, column(pa.int32())).faults] == [Rule.BUFFER_UNALIGNED]


def test_buffers_aligned_to_64_are_legal() -> None:
    """Wider padding than 8 bytes is recommended, not wrong."""
    body = b"\3" + bytes(63) + i4(1, 2) + bytes(56)
    data = batch_message(2, [(2, 0)], [], places=[(0, 1), (64, 8)], body=body)

    assert read_batch(data, column(pa.int32())).faults == []


def test_nulls_of_a_required_child_count_only_under_values() -> None:
    """A child that may not be null is null where its struct is, and that is legal."""
    kind = pa.struct([pa.field("a", pa.int8(), nullable=False)])
    under_null = batch_message(2, [(2, 1), (2, 1)], [b"\1", b"\1", i1(1, 0)])
    under_value = batch_message(2, [(2, 1), (2, 1)], [b"\1", b"\2", i1(0, 1)])

    assert read_batch(under_null, column(kind)).faults == []
    assert [fault.rule for fault in read_batch(under_value, column(kind)).faults] == [Rule.BATCH_NULLS_IN_NON_NULLABLE]


def test_dense_union_offsets_are_judged_per_child() -> None:
    """Offsets into different children interleave freely."""
    kind = pa.dense_union([pa.field("a", pa.int8()), pa.field("b", pa.int8())])
    buffers = [i1(0, 1, 0, 1), i4(0, 0, 1, 1), b"", i1(1, 2), b"", i1(3, 4)]

    assert read_batch(batch_message(4, [(4, 0), (2, 0), (2, 0)], buffers), column(kind)).faults == []


def test_fault_points_at_the_bytes() -> None:
    """A fault in an element of a buffer spans that element's bytes in the slot."""
    read = read_batch(batch_message(2, [(2, 0)], [b"", i4(5, 86_400)]), column(pa.time32("s")))

    (fault,) = read.faults
    assert read.message is not None
    assert (fault.start, fault.end) == (read.message.body_start + 4, read.message.body_start + 8)
    assert fault.path == "x data"
    assert fault.observed == "the value 86400 in slot 1 (1 such slot)"


def test_lengths_beyond_all_memory_are_only_numbers() -> None:
    """A batch may declare any number of rows of no bytes; nothing is allocated for them."""
    huge = 1 << 60
    kind = pa.struct([pa.field("a", pa.null())])

    read = read_batch(batch_message(huge, [(huge, 0), (huge, huge)], [b""]), column(kind))

    assert read.faults == []


def test_node_numbers_are_judged_before_columns() -> None:
    """A negative length ends the judgement: nothing can be cut by it."""
    read = read_batch(batch_message(1, [(1, 0), (-5, 0)], [b"", i4(0, 1), b"", i8(1)]), column(pa.list_(pa.int64())))

    assert [fault.rule for fault in read.faults] == [Rule.BATCH_NODE_LENGTH_NEGATIVE]
    assert not read.decodable


def test_each_child_of_a_dense_union_is_judged() -> None:
    """An offset beyond the first child does not hide one beyond the second."""
    schema = column(pa.dense_union([pa.field("a", pa.int8()), pa.field("b", pa.int8())]))
    nodes, buffers = [(2, 0), (1, 0), (1, 0)], [i1(0, 1), i4(5, 6), b"", i1(1), b"", i1(1)]

    faults = read_batch(batch_message(2, nodes, buffers), schema).faults

    assert [fault.rule for fault in faults] == [Rule.UNION_OFFSET_RANGE] * 2


@pytest.mark.parametrize("short", [1, 2])
def test_a_list_view_without_offsets_or_without_sizes_is_judged(short: int) -> None:
    """Where one of both buffers is too short, the other one says nothing, and nothing is read beyond either."""
    buffers = [b"", i4(9, 9), i4(9, 9), b"", i1(1, 2)]
    buffers[short] = buffers[short][:4]
    view = field("x", "ListView", [field("item", "Int", bitWidth=8, is_signed=1)])
    schema = read_schema(schema_message(view)).schema
    assert schema is not None

    faults = read_batch(batch_message(2, [(2, 0), (2, 0)], buffers), schema).faults

    assert [fault.rule for fault in faults] == [Rule.OFFSETS_TOO_SMALL]


def test_only_some_of_many_variadic_counts_are_shown() -> None:
    """A fault has a text of limited length, whatever the message declares."""
    counts = {"variadicBufferCounts": list(range(40))}

    (fault,) = read_batch(batch_message(1, [(1, 0)], [b"", i4(1)], batch=counts), column(pa.int32())).faults

    assert fault.rule is Rule.BATCH_VARIADIC_COUNT
    assert fault.observed == "40 counts for 0 view fields: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15"


ROWS = 100_000


@pytest.mark.parametrize(("bitmap", "rules"), [(1, []), (0, [Rule.BATCH_NULLS_IN_NON_NULLABLE])])
@pytest.mark.parametrize("codec", [None, "zstd"])
def test_long_children_are_judged_by_the_lists_above_them(bitmap: int, rules: list[Rule], codec: str | None) -> None:
    """A null counts only in a slot that a list shows: in a column with one bit per slot, and no other byte."""
    kind = pa.list_(pa.field("item", pa.struct([]), nullable=False))
    buffers, batch = [b"", i4(0, 1), bytes([bitmap]) + bytes(ROWS // 8 - 1)], {}
    if codec is not None:
        buffers = [i8(len(buffer)) + zstd(buffer) if buffer else b"" for buffer in buffers]
        batch = {"compression": {"codec": 1}}
    message = batch_message(1, [(1, 0), (ROWS, ROWS - bitmap)], buffers, batch=batch)

    assert [fault.rule for fault in read_batch(message, column(kind)).faults] == rules


_ITEM = field("item", "Int", bitWidth=8, is_signed=1) | {"nullable": 0}
_SPARSE = pa.sparse_union([pa.field("a", pa.int8())])
_DENSE = pa.dense_union([pa.field("a", pa.int8())])
_REQUIRED = pa.field("item", pa.int8(), nullable=False)
_UNION = [_ITEM, field("b", "Null")]


@pytest.mark.parametrize(
    ("above", "nodes", "parent", "shown"),
    [
        pytest.param(field("x", "List", [_ITEM]), [(2, 1), (5, 4)], [b"\2", i4(0, 2, 3)], {2}, id="list"),
        pytest.param(
            field("x", "LargeList", [_ITEM]), [(2, 0), (5, 4)], [b"", i8(0, 1, 3)], {0, 1, 2}, id="large list"
        ),
        pytest.param(
            field("x", "ListView", [_ITEM]), [(3, 1), (5, 4)], [b"\5", i4(3, 0, 1), i4(2, 1, 0)], {3, 4}, id="list view"
        ),
        pytest.param(
            field("x", "LargeListView", [_ITEM]), [(2, 0), (5, 4)], [b"", i8(1, 1), i8(1, 2)], {1, 2}, id="large view"
        ),
        pytest.param(
            field("x", "FixedSizeList", [_ITEM], listSize=2), [(2, 1), (5, 4)], [b"\2"], {2, 3}, id="fixed-size list"
        ),
        pytest.param(field("x", "Struct_", [_ITEM]), [(5, 3), (5, 4)], [b"\12"], {1, 3}, id="struct"),
        pytest.param(
            field("x", "Union", _UNION, mode=0),
            [(5, 0), (5, 4), (5, 5)],
            [i1(0, 1, 0, 1, 0)],
            {0, 2, 4},
            id="sparse union",
        ),
        pytest.param(
            field("x", "Union", _UNION, mode=1),
            [(3, 0), (5, 4), (1, 1)],
            [i1(0, 1, 0), i4(2, 0, 4)],
            {2, 4},
            id="dense union",
        ),
    ],
)
def test_nulls_count_in_the_slots_that_a_parent_shows(
    *, above: dict[str, Any], nodes: list[tuple[int, int]], parent: list[bytes], shown: set[int]
) -> None:
    """A required child may be null in any slot that no valid slot of its parent refers to, and in no other."""
    schema = read_schema(schema_message(above)).schema
    assert schema is not None

    for slot in range(5):
        bitmap = bytes([1 << slot])  # all other slots are null
        faults = read_batch(batch_message(nodes[0][0], nodes, [*parent, bitmap, i1(*range(5))]), schema).faults
        seen = len(shown - {slot})
        first = min(shown - {slot}, default=0)
        found = [fault.observed for fault in faults if fault.rule is Rule.BATCH_NULLS_IN_NON_NULLABLE]
        assert found == ([f"{many(seen, 'null')}, the first in slot {first}"] if seen else [])


@pytest.mark.parametrize(
    ("bitmap", "shown"),
    [
        (0b11111, {0, 1, 2}),
        (0b00001, {0}),
        (0b00010, {0}),
        (0b00100, {1}),
        (0b01000, {2}),
        (0b10010, {0, 2}),
        (0, set()),
    ],
)
def test_a_run_is_shown_if_one_of_its_slots_is(bitmap: int, shown: set[int]) -> None:
    """The value of a run counts if the struct above is valid in any slot of the run."""
    ends = field("run_ends", "Int", bitWidth=32, is_signed=1) | {"nullable": 0}
    values = _ITEM | {"name": "values"}
    above = field("x", "Struct_", [field("r", "RunEndEncoded", [ends, values])])
    schema = read_schema(schema_message(above)).schema
    assert schema is not None
    nodes = [(5, 5 - bitmap.bit_count()), (5, 0), (3, 0), (3, 3)]
    buffers = [bytes([bitmap]), b"", i4(2, 3, 5), b"\0", i1(1, 2, 3)]

    faults = read_batch(batch_message(5, nodes, buffers), schema).faults

    expected = [f"{many(len(shown), 'null')}, the first in slot {min(shown)}"] if shown else []
    assert [(fault.rule, fault.observed) for fault in faults] == [
        (Rule.BATCH_NULLS_IN_NON_NULLABLE, observed) for observed in expected
    ]


def test_slots_beyond_the_parent_are_not_shown() -> None:
    """A child that is longer than its struct has slots that nobody sees, and those may be null."""
    kind = pa.struct([_REQUIRED])
    message = batch_message(2, [(2, 0), (5, 3)], [b"", b"\3", i1(*range(5))])

    assert [fault.rule for fault in read_batch(message, column(kind)).faults] == [Rule.STRUCT_CHILD_LONGER]


@pytest.mark.parametrize(
    ("kind", "nodes", "buffers"),
    [
        pytest.param(pa.int32(), [(2, 0)], [b"", i4(1)], id="data"),
        pytest.param(pa.int32(), [(9, 1)], [b"\1", i4(*range(9))], id="bitmap"),
        pytest.param(pa.int32(), [(1, 1)], [b"", i4(1)], id="no bitmap"),
        pytest.param(pa.bool_(), [(9, 0)], [b"", b"\1"], id="bits"),
        pytest.param(pa.utf8(), [(1, 0)], [b"", i4(0), b""], id="offsets"),
        pytest.param(pa.utf8(), [(1, 0)], [b"", i4(0, 2), b"a"], id="text"),
        pytest.param(pa.utf8(), [(2, 0)], [b"", i4(0, 1, 0), b"a"], id="falling offsets"),
        pytest.param(pa.utf8(), [(1, 0)], [b"", i4(-1, 1), b"a"], id="negative offset"),
        pytest.param(pa.list_(pa.int8()), [(1, 0), (1, 0)], [b"", i4(0, 2), b"", i1(1)], id="list"),
        pytest.param(pa.list_(pa.int8(), 2), [(2, 0), (3, 0)], [b"", b"", i1(1, 2, 3)], id="fixed-size list"),
        pytest.param(pa.struct([("a", pa.int8())]), [(2, 0), (1, 0)], [b"", b"", i1(1)], id="struct"),
        pytest.param(_SPARSE, [(2, 0), (1, 0)], [i1(0, 0), b"", i1(1)], id="sparse union"),
        pytest.param(_SPARSE, [(1, 0), (1, 0)], [i1(1), b"", i1(1)], id="type id"),
        pytest.param(_SPARSE, [(2, 0), (2, 0)], [i1(0), b"", i1(1, 2)], id="type ids"),
        pytest.param(_DENSE, [(1, 0), (1, 0)], [i1(0), i4(1), b"", i1(1)], id="dense union"),
        pytest.param(_DENSE, [(2, 0), (1, 0)], [i1(0, 0), i4(0), b"", i1(1)], id="offsets of a dense union"),
    ],
)
def test_columns_that_cannot_be_followed_are_not_decoded(
    kind: pa.DataType, nodes: list[tuple[int, int]], buffers: list[bytes]
) -> None:
    """One fault, in a column whose buffers or children are too short or lead outside: it is never decoded."""
    read = read_batch(batch_message(nodes[0][0], nodes, buffers), column(kind))

    assert len(read.faults) == 1
    assert not read.decodable


RUNS = field(
    "x",
    "RunEndEncoded",
    [field("run_ends", "Int", bitWidth=16, is_signed=1), field("values", "Int", bitWidth=8, is_signed=1)],
)


@pytest.mark.parametrize(
    ("ends", "rule"),
    [
        ([4, 4], Rule.RUN_ENDS_NOT_INCREASING),
        ([0, 4], Rule.RUN_ENDS_NOT_INCREASING),
        ([1, 3], Rule.RUN_ENDS_SHORT),
    ],
)
def test_runs_that_cannot_be_followed_are_not_decoded(ends: list[int], rule: Rule) -> None:
    """Run ends that do not increase up to the length of the column lead to no value."""
    schema = read_schema(schema_message(RUNS)).schema
    assert schema is not None

    read = read_batch(batch_message(4, [(4, 0), (2, 0), (2, 0)], [b"", i2(*ends), b"", i1(7, 8)]), schema)

    assert [fault.rule for fault in read.faults] == [rule]
    assert not read.decodable


def test_values_behind_missing_run_ends_are_not_judged() -> None:
    """Without all run ends, nobody can say which values a reader would see."""
    time = field("values", "Time", unit=0, bitWidth=32)
    schema = read_schema(schema_message(RUNS | {"children": [*RUNS["children"][:1], time]})).schema
    assert schema is not None

    read = read_batch(batch_message(4, [(4, 0), (2, 0), (2, 0)], [b"", i2(2), b"", i4(0, 86_400)]), schema)

    assert [fault.rule for fault in read.faults] == [Rule.DATA_TOO_SMALL]


class TestLengths:
    """The numbers of rows that messages declare."""

    def test_of_every_record_batch(self) -> None:
        """A schema and a marker in between declare none; bytes that are no message end the list."""
        schema = pa.schema([pa.field("x", pa.int64())])
        one = pa.record_batch([pa.array([1, 2], pa.int64())], schema=schema).serialize().to_pybytes()

        assert batch_lengths(one) == (2,)
        assert batch_lengths(schema.serialize().to_pybytes() + one + one) == (2, 2)
        assert batch_lengths(one + b"stray bytes") == (2,)
        assert batch_lengths(b"") == ()
