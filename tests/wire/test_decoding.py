"""Streams decoded: every batch with the dictionaries of its time, unions with nulls of their own, either byte order."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from conformance.wire import Rule, UndecodableError, UnsupportedHereError, read_stream
from conformance.wire.plain import Plain, plain_table, plain_values
from tests.wire.breaking import ENCODED, ENCODED_SCHEMA, END, NULLS, SOUND, VALUES
from tests.wire.corpus import decodable, same
from tests.wire.forge import (
    DICTIONARY_BATCH,
    Forge,
    batch_message,
    dictionary_message,
    encapsulate,
    field,
    i1,
    i2,
    i4,
    schema_message,
)

INT: dict[str, Any] = {"bitWidth": 32, "is_signed": 1}


def _written(*parts: pa.RecordBatch, **options: object) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, parts[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for part in parts:
            writer.write_batch(part)
    return sink.getvalue()


def _one(array: pa.Array) -> pa.RecordBatch:
    return pa.record_batch([array], names=["x"])


def _encoded(indices: Sequence[int | None], values: pa.Array, kind: pa.DataType | None = None) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind or pa.int32()), values)


def _decoded(*messages: bytes) -> list[list[Plain]]:
    """The values of the only column, batch by batch."""
    batches = read_stream(b"".join(messages)).to_batches()
    for batch in batches:
        batch.validate(full=True)
    return [plain_values(batch.column(0)) for batch in batches]


# --- dictionaries -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(decodable()))
def test_stream_is_decoded_to_what_was_written(name: str) -> None:
    """Schema, length and values of every batch are those that the bytes were made from."""
    batch = decodable()[name]

    reading = read_stream(_written(batch, batch))

    for decoded in reading.to_batches():
        decoded.validate(full=True)
        assert decoded.schema.equals(batch.schema, check_metadata=True)
        assert same(decoded, batch)
    assert reading.to_arrow().num_rows == 2 * batch.num_rows


@pytest.mark.parametrize("name", [name for name in decodable() if "," not in name])
def test_one_row_is_decoded_to_what_was_written(name: str) -> None:
    """One row alone shows what a column of each type takes at the least."""
    row = decodable()[name].slice(0, 1)

    (decoded,) = read_stream(_written(row)).to_batches()

    decoded.validate(full=True)
    assert same(decoded, row)


_ENCODED_WIDELY = {
    "text": _encoded([1, None, 0], pa.array(["a", "b"])),
    "uint64 indices": _encoded([1, None, 0], pa.array([1.5, None]), pa.uint64()),
    "int8 indices": _encoded([0, 0], pa.array([[1], None]), pa.int8()),
    "structs": _encoded([1, 0], pa.array([{"a": 1, "b": "x"}, {"a": None, "b": "y"}])),
    "in a list": pa.ListArray.from_arrays(pa.array([0, 2, 3]), _encoded([1, None, 0], pa.array(["a", "b"]))),
    "in a fixed-size list": pa.FixedSizeListArray.from_arrays(_encoded([1, 0, 0, 1], pa.array(["a", "b"])), 2),
    "in a struct": pa.StructArray.from_arrays([_encoded([1, 0], pa.array(["a", "b"]))], names=["y"]),
    "in a map": pa.MapArray.from_arrays(
        pa.array([0, 1, 2]), _encoded([1, 0], pa.array(["k", "l"])), _encoded([0, None], pa.array([True]))
    ),
    "in a dense union": pa.UnionArray.from_dense(
        pa.array([0, 1, 0], pa.int8()),
        pa.array([0, 0, 1], pa.int32()),
        [_encoded([1, None], pa.array(["a", "b"])), _encoded([0], pa.array([7]))],
    ),
    "in a sparse union": pa.UnionArray.from_sparse(
        pa.array([0, 1], pa.int8()), [_encoded([1, None], pa.array(["a", "b"])), pa.array([1, 2])]
    ),
    "as values of runs": pa.RunEndEncodedArray.from_arrays([2, 3], _encoded([1, None], pa.array(["a", "b"]))),
    "in a dictionary": _encoded(
        [1, None, 0, 1],
        pa.StructArray.from_arrays([_encoded([1, 0], pa.array(["a", "b"]), pa.int8())], names=["y"]),
    ),
}


@pytest.mark.parametrize("name", list(_ENCODED_WIDELY))
@pytest.mark.parametrize("codec", [None, "zstd"])
def test_dictionaries_anywhere_are_decoded(name: str, codec: str | None) -> None:
    """A dictionary-encoded field may be wherever a field may be."""
    array = _ENCODED_WIDELY[name]

    (batch,) = read_stream(_written(_one(array), compression=codec)).to_batches()

    batch.validate(full=True)
    assert batch.schema == _one(array).schema
    assert plain_values(batch.column(0)) == plain_values(array)


def test_each_batch_has_the_dictionary_of_its_time() -> None:
    """Replacements and deltas count from their place on; batches before them keep their meaning."""
    assert _decoded(
        ENCODED_SCHEMA,
        VALUES,
        SOUND,
        dictionary_message(7, [30], delta=True),
        batch_message(2, [(2, 0)], [b"", i4(2, 0)]),
        dictionary_message(7, [50, 60]),
        SOUND,
        dictionary_message(7, [70], delta=True),
        dictionary_message(7, [80], delta=True),
        batch_message(2, [(2, 0)], [b"", i4(3, 1)]),
        END,
    ) == [[10, 20], [30, 10], [50, 60], [80, 60]]


def test_dictionary_has_the_length_of_its_time() -> None:
    """A batch before a delta does not see the delta's values."""
    reading = read_stream(ENCODED_SCHEMA + VALUES + SOUND + dictionary_message(7, [30], delta=True) + SOUND + END)

    assert [len(batch.column(0).dictionary) for batch in reading.to_batches()] == [2, 3]


@pytest.mark.parametrize("deltas", [False, True])
def test_changing_dictionaries_of_pyarrow_are_followed(*, deltas: bool) -> None:
    """Dictionaries that grow, shrink and change in a real writer's stream decode to the original values."""
    rows = [["a", "b"], ["a", "b", "c"], ["z", None], ["z", "a"], ["q"], ["q"]]
    parts = [_one(pa.array(values).dictionary_encode()) for values in rows]

    reading = read_stream(_written(*parts, emit_dictionary_deltas=deltas))

    assert any(made.delta for made in reading.dictionaries) is deltas
    assert [plain_values(batch.column(0)) for batch in reading.to_batches()] == rows
    assert plain_table(reading.to_batches()).rows == sum(map(len, rows))


def test_delta_of_a_dictionary_with_an_inner_one() -> None:
    """An outer and an inner dictionary both grow; the first batch keeps what it had."""
    kind = pa.dictionary(pa.int32(), pa.struct([("y", pa.dictionary(pa.int8(), pa.utf8()))]))
    schema, *_ = _messages(pa.record_batch([pa.nulls(0, kind)], names=["x"]))
    outer_id, inner_id = (found.id for found in _encodings(schema))
    messages = [
        schema,
        _text_dictionary(inner_id, ["a", "b"]),
        _struct_dictionary(outer_id, [1, 0]),
        batch_message(2, [(2, 0)], [b"", i4(0, 1)]),
        _text_dictionary(inner_id, ["c"], delta=True),
        _struct_dictionary(outer_id, [2], delta=True),
        batch_message(3, [(3, 0)], [b"", i4(0, 1, 2)]),
        END,
    ]

    texts = [{"struct": [text]} for text in "bac"]
    assert _decoded(*messages) == [texts[:2], texts]


def test_replaced_inner_dictionary_leaves_the_outer_as_it_was() -> None:
    """An outer dictionary means what it meant when it was written, whatever becomes of the inner one later."""
    kind = pa.dictionary(pa.int32(), pa.struct([("y", pa.dictionary(pa.int8(), pa.utf8()))]))
    schema, *_ = _messages(pa.record_batch([pa.nulls(0, kind)], names=["x"]))
    outer, inner = (found.id for found in _encodings(schema))
    batch = batch_message(1, [(1, 0)], [b"", i4(0)])
    first = _text_dictionary(inner, ["a"]) + _struct_dictionary(outer, [0]) + batch
    replaced = _text_dictionary(inner, ["z"]) + batch

    assert _decoded(schema, first, replaced, END) == [[{"struct": ["a"]}]] * 2


def test_inner_dictionary_may_come_after_the_outer_one() -> None:
    """The order of dictionary batches before the first record batch is free."""
    nested = _ENCODED_WIDELY["in a dictionary"]
    schema, first, second, batch = _messages(_one(nested))

    assert _decoded(schema, first, second, batch) == _decoded(schema, second, first, batch) == [plain_values(nested)]


def test_dictionary_may_be_late_for_nulls() -> None:
    """A column of nothing but nulls needs no dictionary yet."""
    assert _decoded(ENCODED_SCHEMA, NULLS, VALUES, SOUND, END) == [[None, None], [10, 20]]


def test_shared_dictionary_serves_fields_of_different_widths() -> None:
    """Two fields with one id look the same values up, each with indices of its own type."""
    narrow = ENCODED | {"name": "y", "dictionary": {"id": 7, "indexType": {"bitWidth": 16, "is_signed": 1}}}
    message = batch_message(2, [(2, 0), (2, 1)], [b"", i4(1, 0), b"\1", i2(1, 9)])

    (batch,) = read_stream(schema_message(ENCODED, narrow) + VALUES + message + END).to_batches()

    assert [plain_values(column) for column in batch.columns] == [[20, 10], [20, None]]
    assert [column.type.index_type for column in batch.columns] == [pa.int32(), pa.int16()]


def test_dictionaries_of_one_id_are_alike_to_the_innermost() -> None:
    """A shared dictionary of structs needs equal children, with equal dictionaries of their own."""

    def shared(*children: dict[str, Any]) -> bytes:
        index = {"id": 7, "indexType": INT}
        columns = [
            field(name, "Struct_", [child]) | {"dictionary": index} for name, child in zip("xy", children, strict=True)
        ]
        return schema_message(*columns) + _text_dictionary(1, ["a"]) + _text_dictionary(2, ["b"])

    first, second = (field("c", "Utf8") | {"dictionary": {"id": n, "indexType": INT}} for n in (1, 2))
    number = field("c", "Int", **INT) | {"dictionary": first["dictionary"]}
    outer = _dictionary(7, 1, [(1, 0), (1, 0)], [b"", b"", i4(0)], delta=False)
    message = batch_message(1, [(1, 0), (1, 0)], [b"", i4(0), b"", i4(0)])

    (batch,) = read_stream(shared(first, first) + outer + message + END).to_batches()
    assert [plain_values(column) for column in batch.columns] == [[{"struct": ["a"]}]] * 2
    for other in (second, number):
        with pytest.raises(UndecodableError, match="another type"):
            read_stream(shared(first, other) + outer + message + END).to_batches()


def test_dictionary_shared_by_different_types_is_refused() -> None:
    """Buffers are never read as those of another type."""
    other = field("y", "LargeUtf8") | {"dictionary": {"id": 7, "indexType": INT}}
    message = batch_message(1, [(1, 0), (1, 0)], [b"", i4(1), b"", i4(0)])

    with pytest.raises(UndecodableError, match="another type"):
        read_stream(schema_message(ENCODED, other) + VALUES + message + END).to_batches()


@pytest.mark.parametrize(
    ("messages", "match"),
    [
        ([VALUES, batch_message(1, [(1, 0)], [b"", i4(2)])], "index 2 in slot 0, into a dictionary of 2 values"),
        ([VALUES, batch_message(1, [(1, 0)], [b"", i4(-1)])], "index -1"),
        ([SOUND, VALUES], "not defined"),
        ([dictionary_message(7, [10, 20], delta=True), SOUND], "nothing that it could be added to"),
    ],
)
def test_indices_that_lead_nowhere_are_refused(messages: list[bytes], match: str) -> None:
    """An index is only ever followed into the dictionary of its time."""
    with pytest.raises(UndecodableError, match=match):
        read_stream(b"".join([ENCODED_SCHEMA, *messages, END])).to_batches()


def test_indices_that_nobody_sees_are_free() -> None:
    """Under a null of the column, or of a parent, any index is legal."""
    schema = schema_message(field("x", "Struct_", [ENCODED]))
    message = batch_message(3, [(3, 1), (3, 1)], [b"\5", b"\3", i4(1, 99, -5)])

    assert _decoded(schema, VALUES, message, END) == [[{"struct": [20]}, None, {"struct": [None]}]]
    message = batch_message(2, [(2, 1), (2, 0)], [b"\1", b"", i4(1, 99)])
    assert _decoded(schema, VALUES, message, END) == [[{"struct": [20]}, None]]


def test_indices_that_nobody_sees_are_made_safe_to_follow() -> None:
    """No slot of a decoded column has an index beyond its dictionary, null or not: some readers follow all of them."""
    schema = schema_message(field("x", "Struct_", [ENCODED]))
    message = batch_message(3, [(3, 2), (3, 0)], [b"\1", b"", i4(0, 99, -5)])

    (batch,) = read_stream(schema + dictionary_message(7, [10]) + message + END).to_batches()

    encoded = batch.column(0).field(0)
    assert len(encoded.dictionary) == 1
    assert encoded.indices.buffers()[1].to_pybytes() == i4(0, 0, 0)


def test_a_child_longer_than_its_lists_is_cut() -> None:
    """A decoded list of fixed size has the values of its lists, and no value that the bytes hold behind them."""
    schema = schema_message(field("x", "FixedSizeList", [field("y", "Int", **INT)], listSize=2))
    message = batch_message(1, [(1, 0), (5, 0)], [b"", b"", i4(1, 2, 3, 4, 5)])

    (batch,) = read_stream(schema + message + END).to_batches()

    assert batch.column(0).values.to_pylist() == [1, 2]


def test_stream_without_schema_is_refused() -> None:
    """There is nothing to read batches by."""
    with pytest.raises(UndecodableError, match="no schema"):
        read_stream(b"").to_batches()


def test_broken_delta_spoils_only_what_comes_after_it() -> None:
    """Batches before a delta that cannot be read do not need it."""
    broken = dictionary_message(7, [30], delta=True)
    broken = broken.replace(struct.pack("<qq", 0, 4), struct.pack("<qq", 0, 3))
    head = ENCODED_SCHEMA + VALUES + SOUND + broken

    assert _decoded(head, END) == [[10, 20]]
    with pytest.raises(UndecodableError):
        read_stream(head + SOUND + END).to_batches()


# --- unions under V4 --------------------------------------------------------------------------------


def _union(mode: int) -> bytes:
    child = [field("a", "Int", **INT), field("b", "Utf8")]
    return schema_message(field("x", "Union", child, mode=mode), message={"version": 3})


@pytest.mark.parametrize("bitmap", [b"", b"\x0f"])
def test_v4_union_without_nulls(bitmap: bytes) -> None:
    """The bitmap that V4 has for unions, empty or full, changes nothing."""
    buffers = [bitmap, i1(0, 1, 0, 1), i4(0, 0, 1, 1), b"", i4(7, 8), b"", i4(0, 1, 2), b"pq"]
    message = batch_message(4, [(4, 0), (2, 0), (2, 0)], buffers, message={"version": 3})

    assert _decoded(_union(1), message, END) == [[7, "p", 8, "q"]]


def test_v4_dense_union_with_nulls() -> None:
    """A null of the union itself is one of the slot that it chooses."""
    buffers = [b"\x0a", i1(0, 1, 0, 1), i4(0, 0, 1, 1), b"", i4(7, 8), b"\2", i4(0, 1, 2), b"pq"]
    message = batch_message(4, [(4, 2), (2, 0), (2, 1)], buffers, message={"version": 3})

    assert _decoded(_union(1), message, END) == [[None, None, None, "q"]]


def _runs(*before: bytes, last: int = 3) -> tuple[bytes, bytes]:
    """A schema of runs in V4 and a batch of two runs up to ``last``; ``before`` are buffers before theirs."""
    child = [field("run_ends", "Int", **INT) | {"nullable": 0}, field("values", "Int", **INT)]
    schema = schema_message(field("x", "RunEndEncoded", child), message={"version": 3})
    buffers = [*before, b"", i4(2, last), b"", i4(7, 8)]
    return schema, batch_message(last, [(last, 0), (2, 0), (2, 0)], buffers, message={"version": 3})


@pytest.mark.parametrize("bitmap", [(), (b"",), (b"\x07",)], ids=["as in V5", "empty", "full"])
def test_v4_runs_with_and_without_a_bitmap(bitmap: tuple[bytes, ...]) -> None:
    """No text says whether V4 gives runs the bitmap that it gives unions: both numbers of buffers are read."""
    schema, batch = _runs(*bitmap)

    assert {fault.rule for fault in read_stream(schema + batch + END).violations} == set()
    assert _decoded(schema, batch, END) == [[7, 7, 8]]


def test_v4_runs_with_nulls_of_their_own() -> None:
    """What such a null would mean is written nowhere: it is refused, not shown as something else."""
    schema, batch = _runs(b"\x05")

    with pytest.raises(UnsupportedHereError, match="nulls of its own"):
        _decoded(schema, batch, END)


def test_v4_runs_with_a_bitmap_that_is_too_small() -> None:
    """A bitmap that is there has a bit for every slot."""
    schema, batch = _runs(b"\xff", last=9)

    assert [fault.rule for fault in read_stream(schema + batch + END).violations] == [Rule.VALIDITY_TOO_SMALL]


def test_v4_runs_with_two_bitmaps() -> None:
    """No reading of the texts explains two buffers more."""
    schema, batch = _runs(b"", b"")

    assert [fault.rule for fault in read_stream(schema + batch + END).violations] == [Rule.BATCH_BUFFER_COUNT]


def test_v4_dense_union_with_a_null_that_shares_a_value() -> None:
    """Nulls that an array without a bitmap cannot express are refused, not shown as something else."""
    buffers = [b"\2", i1(0, 0), i4(0, 0), b"", i4(7), b"", b"", b""]
    message = batch_message(2, [(2, 1), (1, 0), (0, 0)], buffers, message={"version": 3})

    with pytest.raises(UnsupportedHereError, match="shares the slot"):
        _decoded(_union(1), message, END)


def test_v4_sparse_union_with_nulls() -> None:
    """The children's own nulls and the union's are both nulls."""
    buffers = [b"\6", i1(0, 1, 0), b"\1", i4(7, 8, 9), b"", i4(0, 0, 1, 1), b"p"]
    message = batch_message(3, [(3, 1), (3, 2), (3, 0)], buffers, message={"version": 3})

    assert _decoded(_union(0), message, END) == [[None, "p", None]]


def test_v4_nulls_pass_through_nested_unions() -> None:
    """A null outer slot is a null of the inner union's child."""
    inner = field("u", "Union", [field("a", "Int", **INT)], mode=0)
    schema = schema_message(field("x", "Union", [inner], mode=0), message={"version": 3})
    buffers = [b"\1", i1(0, 0), b"", i1(0, 0), b"", i4(7, 8)]
    message = batch_message(2, [(2, 1), (2, 0), (2, 0)], buffers, message={"version": 3})

    assert _decoded(schema, message, END) == [[7, None]]


# --- helpers ----------------------------------------------------------------------------------------


def _messages(batch: pa.RecordBatch) -> list[bytes]:
    return [message.serialize().to_pybytes() for message in pa.ipc.MessageReader.open_stream(_written(batch))]


def _encodings(schema: bytes) -> list[Any]:
    read = read_stream(schema).schema
    assert read is not None
    return [found.dictionary for _, found in read.walk() if found.dictionary is not None]


def _text_dictionary(number: int, values: list[str], *, delta: bool = False) -> bytes:
    offsets = i4(*range(len(values) + 1))
    return _dictionary(number, len(values), [(len(values), 0)], [b"", offsets, "".join(values).encode()], delta=delta)


def _struct_dictionary(number: int, indices: list[int], *, delta: bool = False) -> bytes:
    nodes = [(len(indices), 0)] * 2
    return _dictionary(number, len(indices), nodes, [b"", b"", i1(*indices)], delta=delta)


def _dictionary(number: int, length: int, nodes: list[tuple[int, int]], buffers: list[bytes], *, delta: bool) -> bytes:
    laid, places = bytearray(), []
    for buffer in buffers:
        places.append((len(laid), len(buffer)))
        laid += buffer + bytes(-len(buffer) % 8)
    header = {"id": number, "data": {"length": length, "nodes": nodes, "buffers": places}, "isDelta": int(delta)}
    root = {"version": 4, "header_type": DICTIONARY_BATCH, "header": header, "bodyLength": len(laid)}
    return encapsulate(Forge().root("Message", root), bytes(laid))
