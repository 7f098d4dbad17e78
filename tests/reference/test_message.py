from __future__ import annotations

import itertools
from decimal import Decimal

import pyarrow as pa
import pytest

from conformance.reference.flatbuffers import TableLayout, write
from conformance.reference.message import DraftMessage, batch_message, schema_message
from conformance.wire.flatbuf import FlatTable, Verifier

ITEM = pa.field("item", pa.struct([("x", pa.decimal128(10, 2)), ("y", pa.bool_())]))
SCHEMA = pa.schema(
    [
        pa.field("a", pa.int64(), nullable=False),
        pa.field("b", pa.utf8(), metadata={"k": "v", "x": "y"}),
        pa.field("l", pa.list_(ITEM), nullable=False),
        pa.field("t", pa.timestamp("us", "UTC")),
        pa.field("i", pa.month_day_nano_interval()),
        pa.field("z", pa.null()),
        pa.field("m", pa.map_(pa.utf8(), pa.int32())),
        pa.field("f", pa.list_(pa.int16(), 2)),
        pa.field("d", pa.decimal256(76, 38)),
        pa.field("o", pa.time64("us")),
        pa.field("w", pa.binary(3)),
        pa.field("v", pa.large_binary()),
    ],
    metadata={"q": "r"},
)
ROWS = [
    {
        "a": row,
        "b": None if row % 3 == 0 else "é" * row,
        "l": [{"x": Decimal("1.25"), "y": True}, None][: row % 3],
        "t": row,
        "i": (1, -2, 3),
        "m": [("k", row)] * (row % 2),
        "f": [1, 2] if row % 2 else None,
        "d": Decimal(row),
        "o": row,
        "w": b"abc" if row % 5 else None,
        "v": bytes(row),
    }
    for row in range(20)
]
BATCH = pa.RecordBatch.from_pylist(ROWS, schema=SCHEMA)
LAYOUTS = [TableLayout(*choice) for choice in itertools.product([False, True], repeat=6)]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_schema_means_the_same_in_every_legal_layout(layout: TableLayout) -> None:
    """An independent decoder reads the schema back, metadata included, however the tables are laid out."""
    message = schema_message(SCHEMA)
    message.layout = layout

    assert pa.ipc.read_schema(pa.py_buffer(message.encode())).equals(SCHEMA, check_metadata=True)


def _vtables(data: bytes) -> list[tuple[int, int]]:
    """Where each table of a schema message is, and its vtable."""
    verifier = Verifier(data[8:], 0, [])
    assert verifier.root("Message") is not None
    tables = {span[4].start: span[4] for span in verifier.spans if isinstance(span[4], FlatTable)}
    return [(start, tables[start].vtable) for start in sorted(tables)]


@pytest.mark.parametrize("write_schema", ["arrow", "reference"])
def test_the_usual_layout_is_that_of_a_builder_from_back_to_front(write_schema: str) -> None:
    """As Arrow C++ has it: a vtable is next to the last of its tables, and the tables before point forward to it."""
    data = SCHEMA.serialize().to_pybytes() if write_schema == "arrow" else schema_message(SCHEMA).encode()
    places = _vtables(data)
    last = {vtable: start for start, vtable in places}

    assert len(last) < len(places)
    for start, vtable in places:
        assert last[vtable] - vtable == int.from_bytes(data[8 + vtable : 10 + vtable], "little")
        assert start == last[vtable] or start < vtable


@pytest.mark.parametrize("codec", ["", "LZ4_FRAME", "ZSTD"])
@pytest.mark.parametrize("alignment", [8, 64])
@pytest.mark.parametrize("batch", [BATCH, BATCH.slice(3, 11), BATCH.slice(5, 0)], ids=["whole", "slice", "empty"])
def test_a_batch_is_read_back_by_an_independent_decoder(batch: pa.RecordBatch, alignment: int, codec: str) -> None:
    """Rows survive alignment, compression and slicing."""
    message = batch_message(batch, codec=codec)
    message.alignment = alignment
    read = pa.ipc.read_record_batch(pa.py_buffer(message.encode()), SCHEMA)
    read.validate(full=True)

    assert read.equals(batch)


def test_a_slice_ships_only_its_own_values() -> None:
    """Buffers of a slice are cut and offsets rebased, so the message is that of the same rows alone."""
    rows = pa.RecordBatch.from_pylist(ROWS[3:7], schema=SCHEMA)

    assert batch_message(BATCH.slice(3, 4)).encode() == batch_message(rows).encode()


def test_body_and_message_are_multiples_of_the_alignment() -> None:
    """Prefix, metadata and padding end on the alignment, and so does the body."""
    message = batch_message(BATCH)
    tree, body = message.complete()

    assert (len(body) % 8, len(message.encode()) % 8, tree["bodyLength"]) == (0, 0, len(body))


def test_a_buffer_that_does_not_shrink_is_stored_as_it_is() -> None:
    """Incompressible bytes carry the length prefix -1."""
    noise = pa.record_batch({"x": pa.array([b"\x01\x93\xfe"])})
    message: DraftMessage = batch_message(noise, codec="ZSTD")
    buffers, body = message.body()
    offset, length = buffers[2]

    assert body[offset : offset + length] == b"\xff" * 8 + b"\x01\x93\xfe"


def test_an_unknown_slot_is_refused() -> None:
    """A misspelt slot is an error of the caller, not an absent field."""
    with pytest.raises(KeyError, match="table Message has no slot 'versoin'"):
        write("Message", {"versoin": 4})
