"""A cell of a record batch is found in the bytes of its message."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.comparing.cellplaces import cell_bytes
from conformance.contract.comparing.differences import ValueDifference, ValueDifferenceKind
from conformance.wire import read_schema
from conformance.wire.batch import BatchMessage, read_batch
from tests.contract.exchanges import message_of

NULL, ITEMS, VALUE = ValueDifferenceKind.NULL, ValueDifferenceKind.ITEMS, ValueDifferenceKind.VALUE

POINT = pa.struct([("x", pa.int32()), ("item", pa.string())])
ROWS = {
    "n": pa.array([258, 772, None], pa.int16()),
    "b": pa.array([*[False] * 9, True][-3:]),
    "t": pa.array(["ab", "", "wxyz"]),
    "l": pa.array([[1], [], [2, 3]], pa.list_(pa.int32())),
    "r": pa.array([{"x": 5, "item": "p"}, None, {"x": 7, "item": "qq"}], POINT),
    "s": pa.array([[{"x": 11, "item": "m"}], [{"x": 12, "item": "n"}, {"x": 13, "item": "o"}], []], pa.list_(POINT)),
    "d": pa.array([[[1]], [[2], [3, 4]], []], pa.list_(pa.list_(pa.int32()))),
}
BATCH = pa.record_batch(list(ROWS.values()), names=list(ROWS))


def message(batch: pa.RecordBatch, codec: str = "") -> tuple[BatchMessage, bytes]:
    """A batch as its strict reader reads it, and its bytes."""
    data = message_of(batch, codec)
    return read_batch(data, read_schema(batch.schema.serialize().to_pybytes()).schema), data


def number(value: int, width: int) -> bytes:
    """A number as Arrow writes it."""
    return value.to_bytes(width, "little")


@pytest.mark.parametrize(
    ("kind", "path", "row", "item", "cell"),
    [
        (VALUE, "n", 1, None, number(772, 2)),
        (NULL, "n", 2, None, number(0b011, 1)),
        (NULL, "t", 2, None, b"wxyz"),
        (VALUE, "b", 2, None, number(0b100, 1)),
        (VALUE, "t", 2, None, b"wxyz"),
        (VALUE, "t", 1, None, number(2, 4) + number(2, 4)),
        (ITEMS, "l", 2, None, number(1, 4) + number(3, 4)),
        (VALUE, "l.item", 2, 1, number(3, 4)),
        (VALUE, "r.x", 2, None, number(7, 4)),
        (VALUE, "r.item", 0, None, b"p"),
        (NULL, "r", 1, None, number(0b101, 1)),
        (VALUE, "s.item.x", 1, 1, number(13, 4)),
        (VALUE, "s.item.item", 1, 0, b"n"),
        (ITEMS, "d.item", 1, 0, number(1, 4) + number(2, 4)),
        (VALUE, "d.item.item", 1, 0, number(1, 4) + number(3, 4)),
        (VALUE, "N", 0, None, number(258, 2)),
    ],
)
def test_a_cell_is_found(kind: ValueDifferenceKind, path: str, row: int, item: int | None, cell: bytes) -> None:
    """A NULL where the bitmap says so, a list in its offsets, an empty text too; a name may differ in case."""
    batch, data = message(BATCH)

    place = cell_bytes(batch, ValueDifference(kind, path, row, "this", "that", item=item), row)

    assert place is not None
    assert data[slice(*place)] == cell


@pytest.mark.parametrize(("kind", "path"), [(VALUE, "unknown"), (VALUE, "r"), (NULL, "whole")])
def test_what_has_no_bytes_has_no_place(kind: ValueDifferenceKind, path: str) -> None:
    """Another column, and a record without a bitmap."""
    batch, _ = message(pa.record_batch([*ROWS.values(), pa.array([{"x": 1}] * 3)], names=[*ROWS, "whole"]))

    assert cell_bytes(batch, ValueDifference(kind, path, 0, "this", "that"), 0) is None


def test_a_cell_of_a_compressed_body_is_its_buffer() -> None:
    """The bytes of a compressed buffer are those of all of its cells."""
    batch, _ = message(pa.record_batch([pa.array(range(1000))], names=["n"]), "ZSTD")

    assert batch.body is not None
    start = batch.body.base + batch.body.offsets[1]
    assert cell_bytes(batch, ValueDifference(VALUE, "n", 7, "7", "8"), 7) == (start, start + batch.body.lengths[1])


def test_a_body_that_cannot_be_followed_has_no_cells() -> None:
    """A body that is cut off names bytes that are not there."""
    _, data = message(BATCH)
    schema = read_schema(BATCH.schema.serialize().to_pybytes()).schema

    assert cell_bytes(read_batch(data[:-100], schema), ValueDifference(VALUE, "n", 0, "1", "2"), 0) is None
