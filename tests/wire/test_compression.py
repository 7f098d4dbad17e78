"""Compressed bodies: what pyarrow writes passes, and sizes are not believed before they are checked."""

from __future__ import annotations

import tracemalloc

import pyarrow as pa
import pytest

from conformance.wire import Rule, batch_to_arrow, read_batch, read_schema
from tests.wire.breaking import lz4, zstd
from tests.wire.corpus import batches, compressed, decodable, pair, same
from tests.wire.forge import batch_message, column, i4, i8

VALUES = i4(*range(100))
NAMES = [name for name in batches() if "many" not in name]


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("name", NAMES)
def test_compressed_batch_has_no_fault(name: str, codec: str) -> None:
    """Every type, compressed by pyarrow, is read without a fault and to the same values."""
    batch = batches()[name]
    schema = read_schema(pair(batch)[0]).schema
    assert schema is not None

    read = read_batch(compressed(batch, codec), schema)

    assert read.faults == []
    assert read.codec == codec
    assert name not in decodable() or same(batch_to_arrow(read), batch)


def _read(buffer: bytes, codec: int = 0) -> list[Rule]:
    message = batch_message(100, [(100, 0)], [b"", buffer], batch={"compression": {"codec": codec}})
    return [fault.rule for fault in read_batch(message, column(pa.int32())).faults]


@pytest.mark.parametrize("codec", [0, 1])
def test_buffers_stored_as_they_are_are_legal(codec: int) -> None:
    """A length of -1 says that the buffer is not compressed; compressed and stored buffers mix."""
    assert _read(i8(-1) + VALUES, codec) == []


def test_frames_are_walked_to_their_end() -> None:
    """A frame cut anywhere is not a frame, whatever size it declares."""
    for make, codec in ((lz4, 0), (zstd, 1)):
        frame = make(VALUES)
        rules = {rule for size in range(len(frame)) for rule in _read(i8(400) + frame[:size], codec)}

        assert rules == {Rule.COMPRESSION_FRAME}


@pytest.mark.parametrize("declared", [0, 1, 399, 401, 1 << 16])
@pytest.mark.parametrize("codec", [0, 1])
def test_announced_size_is_exact(declared: int, codec: int) -> None:
    """One byte more or less than the frame holds is a mismatch."""
    frame = (lz4, zstd)[codec](VALUES)

    assert _read(i8(declared) + frame, codec) == [Rule.COMPRESSION_SIZE_MISMATCH]


@pytest.mark.parametrize("codec", [0, 1])
def test_lies_about_sizes_allocate_nothing(codec: int) -> None:
    """A few bytes that declare exabytes cost a few bytes."""
    frame = (lz4, zstd)[codec](VALUES)
    tracemalloc.start()

    rules = _read(i8(1 << 60) + frame, codec)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert rules == [Rule.COMPRESSION_SIZE_MISMATCH]
    assert peak < 1 << 20


def test_several_zstd_frames_are_one_stream() -> None:
    """For LZ4 the format asks for one frame per buffer; ZSTD's own rules let frames follow each other."""
    assert _read(i8(400) + zstd(VALUES[:200]) + zstd(VALUES[200:]), 1) == []
    assert Rule.COMPRESSION_TRAILING_BYTES in _read(i8(400) + lz4(VALUES[:200]) + lz4(VALUES[200:]))


def test_blocks_without_a_frame_are_refused() -> None:
    """The raw LZ4 block format is not the frame format."""
    raw = pa.Codec("lz4_raw").compress(VALUES, asbytes=True)

    assert _read(i8(400) + raw) == [Rule.COMPRESSION_FRAME]


def test_empty_buffers_need_no_prefix() -> None:
    """A buffer of no bytes stays one of no bytes under compression."""
    message = batch_message(0, [(0, 0)], [b"", b""], batch={"compression": {"codec": 0}})

    assert read_batch(message, column(pa.int32())).faults == []
