"""Compressed bodies: what pyarrow writes passes, and sizes are not believed before they are checked."""

from __future__ import annotations

import struct
import tracemalloc

import pyarrow as pa
import pytest

from conformance.wire import BatchMessage, Rule, batch_to_arrow, compression, read_batch, read_schema, read_stream
from conformance.wire.compression import DecompressionBudget, decompress
from conformance.wire.frames import header_checksum, scan_lz4, scan_zstd
from tests.wire.breaking import END, lz4, zstd
from tests.wire.corpus import batches, compressed, decodable, pair, same
from tests.wire.forge import batch_message, column, field, i4, i8, schema_message
from tests.wire.lz4_frames import SHORT, LibraryFrame, library_frames

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


def _batch(buffer: bytes, codec: int = 0, rows: int = 100) -> BatchMessage:
    message = batch_message(rows, [(rows, 0)], [b"", buffer], batch={"compression": {"codec": codec}})
    return read_batch(message, column(pa.int32()))


def _read(buffer: bytes, codec: int = 0) -> list[Rule]:
    return [fault.rule for fault in _batch(buffer, codec).faults]


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


def test_a_zstd_frame_may_end_in_an_empty_block() -> None:
    """The header of the last block is then the end of the frame."""
    size, block = (len(VALUES) - 256).to_bytes(2, "little"), (len(VALUES) << 3).to_bytes(3, "little")
    frame = bytes.fromhex("28b52ffd 60") + size + block + VALUES + bytes.fromhex("010000")

    assert _read(i8(400) + frame, 1) == []


def test_several_zstd_frames_are_one_stream() -> None:
    """For LZ4 the format asks for one frame per buffer; ZSTD's own rules let frames follow each other."""
    assert _read(i8(400) + zstd(VALUES[:200]) + zstd(VALUES[200:]), 1) == []
    assert Rule.COMPRESSION_TRAILING_BYTES in _read(i8(400) + lz4(VALUES[:200]) + lz4(VALUES[200:]))


_SKIPPABLE = struct.pack("<II", 0x184D2A5F, 4) + b"any!"


@pytest.mark.parametrize(
    "frames",
    [
        _SKIPPABLE + zstd(VALUES),
        zstd(VALUES) + _SKIPPABLE,
        _SKIPPABLE + _SKIPPABLE + zstd(VALUES[:200]) + _SKIPPABLE + zstd(VALUES[200:]),
    ],
    ids=["before", "behind", "between"],
)
def test_skippable_zstd_frames_have_no_content(frames: bytes) -> None:
    """RFC 8878 lets them be anywhere among the others."""
    read = _batch(i8(400) + frames, 1)

    assert read.faults == []
    assert batch_to_arrow(read).column(0).to_pylist() == list(range(100))


@pytest.mark.parametrize("size", range(5, 12))
def test_a_skippable_frame_that_is_cut_short_is_none(size: int) -> None:
    """A frame declares its length."""
    assert Rule.COMPRESSION_FRAME in _read(i8(400) + _SKIPPABLE[:size], 1)


def _with_window(log: int) -> bytes:
    """A ZSTD frame of one raw block that says that its decoder needs a window of 2**log bytes."""
    return bytes((0x28, 0xB5, 0x2F, 0xFD, 0, log - 10 << 3)) + (len(VALUES) << 3 | 1).to_bytes(3, "little") + VALUES


@pytest.mark.parametrize("log", [10, 27, 28, 31, 41])
def test_zstd_windows_of_any_size_are_legal(log: int) -> None:
    """RFC 8878 permits windows up to 2**41 bytes and more; what fits one buffer needs none of that memory."""
    read = _batch(i8(400) + _with_window(log), 1)

    assert read.faults == []
    assert batch_to_arrow(read).column(0).to_pylist() == list(range(100))


def test_a_large_window_hides_no_wrong_size() -> None:
    """What the frame holds is still compared with what the buffer declares."""
    for declared in (399, 401):
        assert _read(i8(declared) + _with_window(31), 1) == [Rule.COMPRESSION_SIZE_MISMATCH]


@pytest.mark.parametrize("recorded", library_frames(), ids=lambda each: f"{len(each[1])}-{each[0]}")
def test_frames_of_another_library_are_read(recorded: LibraryFrame) -> None:
    """Checksums, the content size, linked blocks and every block size are legal, and change no value."""
    _, content, frame = recorded

    read = _batch(i8(len(content)) + frame, rows=len(content) // 4)

    assert read.faults == []
    assert batch_to_arrow(read).column(0).to_numpy().tobytes() == content


CHECKED = next(
    frame
    for options, content, frame in library_frames()
    if content == SHORT and not options["block_linked"]
    if options["store_size"] and options["block_checksum"] and options["content_checksum"]
)
"""One block, with content size, block checksum and content checksum."""


@pytest.mark.parametrize(("place", "name"), [(14, "header"), (-9, "block"), (-1, "content")])
def test_wrong_checksum_is_reported_and_the_content_is_read(place: int, name: str) -> None:
    """Each checksum of a frame is verified; as a decoder may ignore it, the values are those of the blocks."""
    frame = bytearray(CHECKED)
    frame[place] ^= 1

    read = _batch(i8(len(SHORT)) + bytes(frame), rows=len(SHORT) // 4)

    (fault,) = read.faults
    assert fault.rule is Rule.COMPRESSION_CHECKSUM
    assert f"{name}Checksum" in fault.observed
    assert batch_to_arrow(read).column(0).to_numpy().tobytes() == SHORT


@pytest.mark.parametrize("size", [len(SHORT) - 4, len(SHORT) + 4, 1 << 60])  # liblz4 takes 0 for unknown
def test_wrong_content_size_is_reported_and_the_content_is_read(size: int) -> None:
    """A content size that the header checksum confirms is still compared with the content."""
    descriptor = CHECKED[4:6] + struct.pack("<Q", size)
    frame = CHECKED[:4] + descriptor + header_checksum(descriptor) + CHECKED[15:]

    read = _batch(i8(len(SHORT)) + frame, rows=len(SHORT) // 4)

    assert [fault.rule for fault in read.faults] == [Rule.COMPRESSION_CHECKSUM]
    assert batch_to_arrow(read).column(0).to_numpy().tobytes() == SHORT


def test_content_that_its_checksum_does_not_confirm_is_reported() -> None:
    """A changed literal decompresses to another value; only the checksums show it."""
    frame = bytearray(CHECKED)
    frame[CHECKED.index(struct.pack("<i", 49))] = 48

    read = _batch(i8(len(SHORT)) + bytes(frame), rows=len(SHORT) // 4)

    assert [fault.rule for fault in read.faults] == [Rule.COMPRESSION_CHECKSUM]
    assert 49 not in batch_to_arrow(read).column(0).slice(0, 50).to_pylist()


def test_wrong_checksum_does_not_hide_a_wrong_size() -> None:
    """The content of the blocks is still compared with the length in front of the frame."""
    frame = CHECKED[:-1] + bytes([CHECKED[-1] ^ 1])

    rules = {fault.rule for fault in _batch(i8(len(SHORT) - 4) + frame, rows=len(SHORT) // 4 - 1).faults}

    assert rules == {Rule.COMPRESSION_CHECKSUM, Rule.COMPRESSION_SIZE_MISMATCH}


def test_blocks_that_do_not_decompress_are_no_matter_of_checksums() -> None:
    """A match that begins before the content is a malformed frame, with checksums or without."""
    block = struct.pack("<I", 3) + bytes.fromhex("00ff7f")

    for flags in (0x60, 0x64):
        descriptor = bytes((flags, 0x40))
        frame = CHECKED[:4] + descriptor + header_checksum(descriptor) + block + bytes(4 if flags == 0x60 else 8)
        assert _read(i8(4) + frame) == [Rule.COMPRESSION_FRAME]


def test_blocks_without_a_frame_are_refused() -> None:
    """The raw LZ4 block format is not the frame format."""
    raw = pa.Codec("lz4_raw").compress(VALUES, asbytes=True)

    assert _read(i8(400) + raw) == [Rule.COMPRESSION_FRAME]


def test_empty_buffers_need_no_prefix() -> None:
    """A buffer of no bytes stays one of no bytes under compression."""
    message = batch_message(0, [(0, 0)], [b"", b""], batch={"compression": {"codec": 0}})

    assert read_batch(message, column(pa.int32())).faults == []


@pytest.mark.parametrize(("limit", "rules"), [(400, []), (399, [Rule.COMPRESSION_EXPANSION])])
@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_a_buffer_may_take_all_that_is_left_of_the_limit(limit: int, rules: list[Rule], codec: str) -> None:
    """One byte more than is left is refused; what was expanded counts."""
    found: list[Rule] = []
    budget = DecompressionBudget(0, lambda: limit)
    stored = memoryview(i8(400) + (lz4 if codec == "lz4" else zstd)(VALUES))

    made = decompress(stored, codec, budget, lambda rule, _: found.append(rule))

    assert found == rules
    assert made == (None if rules else VALUES)
    assert budget.remaining == (limit if rules else 0)


def test_bytes_beyond_those_kept_are_decompressed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream of many large batches and dictionaries holds few of them at a time, and its values are the same."""
    column = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1], pa.int32()), pa.array([f"{n}" * 50 for n in range(3)]))
    rows = pa.record_batch([column, pa.array([[1, 2], None, [3]])], names=["a", "b"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(rows)
        writer.write_batch(rows.slice(1))
    monkeypatch.setattr(compression, "KEPT", 0)

    reading = read_stream(sink.getvalue().to_pybytes())

    assert reading.faults == []
    assert reading.to_batches() == [rows, rows.slice(1)]


def test_numbers_that_are_decompressed_again_are_swapped_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both times the values of a big-endian body are the same."""
    schema = schema_message(field("x", "Int", bitWidth=32, is_signed=1), schema={"endianness": 1})
    stored = i8(400) + lz4(struct.pack(">100i", *range(100)))
    batch = batch_message(100, [(100, 0)], [b"", stored], batch={"compression": {"codec": 0}})
    monkeypatch.setattr(compression, "KEPT", 0)

    reading = read_stream(schema + batch + END)

    assert [fault.rule for fault in reading.faults] == [Rule.SCHEMA_ENDIANNESS_BIG]
    assert [made.to_pydict() for made in reading.to_batches()] == [{"x": list(range(100))}]


def test_one_message_has_a_limit_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """All messages may decompress to more than one of them, because they are not in memory at one time."""
    monkeypatch.setattr(compression, "FLOOR", 0)
    monkeypatch.setattr(compression, "MESSAGE_FACTOR", 1)
    budget = DecompressionBudget(4)

    assert budget.remaining == 4 * compression.FACTOR
    assert budget.of_message(3).remaining == 3


def _lz4_frame(limits: int, *blocks: bytes, flags: int = 0x60) -> bytes:
    """A frame whose blocks are these; a block of the size 2^31 and more is not compressed."""
    descriptor = bytes((flags, limits)) + (bytes(4) if flags & 1 else b"")
    return bytes.fromhex("04224d18") + descriptor + header_checksum(descriptor) + b"".join(blocks) + bytes(4)


def _stored(content: bytes) -> bytes:
    return struct.pack("<I", 1 << 31 | len(content)) + content


def _packed(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


@pytest.mark.parametrize(
    ("frame", "most"),
    [
        pytest.param(_lz4_frame(0x40), 0, id="no block"),
        pytest.param(_lz4_frame(0x40, _stored(b"abcde")), 5, id="a stored block"),
        pytest.param(_lz4_frame(0x40, _packed(b"abc")), 3 * 255, id="a short block"),
        pytest.param(_lz4_frame(0x40, _packed(bytes(300))), 64 << 10, id="blocks of 64 KiB"),
        pytest.param(_lz4_frame(0x50, _packed(bytes(2000))), 256 << 10, id="blocks of 256 KiB"),
        pytest.param(_lz4_frame(0x60, _packed(bytes(5000))), 1 << 20, id="blocks of 1 MiB"),
        pytest.param(_lz4_frame(0x70, _packed(bytes(20000))), 4 << 20, id="blocks of 4 MiB"),
        pytest.param(_lz4_frame(0x40, _stored(b"abcde"), _packed(b"abc")), 5 + 3 * 255, id="two blocks"),
    ],
)
def test_the_most_that_an_lz4_frame_holds(frame: bytes, most: int) -> None:
    """A stored block has its size; a compressed one 255 bytes for each of its own, up to the size of blocks."""
    scan = scan_lz4(memoryview(frame + b"behind"))

    assert (scan.end, scan.most) == (len(frame), most)


def _zstd_block(kind: int, length: int, content: bytes, *, last: bool = True) -> bytes:
    return (length << 3 | kind << 1 | last).to_bytes(3, "little") + content


@pytest.mark.parametrize(
    ("head", "blocks", "most"),
    [
        pytest.param("2000", _zstd_block(0, 3, b"abc"), 3, id="a raw block"),
        pytest.param("2000", _zstd_block(1, 300, b"a"), 300, id="a block of one byte repeated"),
        pytest.param("2000", _zstd_block(2, 4, b"abcd"), 128 << 10, id="a compressed block"),
        pytest.param("2000", _zstd_block(0, 3, b"abc", last=False) + _zstd_block(0, 2, b"de"), 5, id="two blocks"),
        pytest.param("0000", _zstd_block(0, 3, b"abc"), 3, id="a window in place of the size"),
        pytest.param("400000 00", _zstd_block(0, 3, b"abc"), 3, id="a size of two bytes"),
        pytest.param("80000000 0000", _zstd_block(0, 3, b"abc"), 3, id="a size of four bytes"),
        pytest.param("c000000000 00000000 00", _zstd_block(0, 3, b"abc"), 3, id="a size of eight bytes"),
        pytest.param("6000 00", _zstd_block(0, 3, b"abc"), 3, id="a size of two bytes and no window"),
        pytest.param("2100 00", _zstd_block(0, 3, b"abc"), 3, id="a dictionary of one byte"),
        pytest.param("220000 00", _zstd_block(0, 3, b"abc"), 3, id="a dictionary of two bytes"),
        pytest.param("2300000000 00", _zstd_block(0, 3, b"abc"), 3, id="a dictionary of four bytes"),
        pytest.param("2400", _zstd_block(0, 3, b"abc") + bytes(4), 3, id="a checksum"),
    ],
)
def test_the_most_that_a_zstd_frame_holds(head: str, blocks: bytes, most: int) -> None:
    """Raw and repeated blocks say their size; a compressed block holds at most 128 KiB."""
    frame = bytes.fromhex("28b52ffd" + head) + blocks

    once, twice = scan_zstd(memoryview(frame + b"behind")), scan_zstd(memoryview(frame * 2))

    assert (once.end, once.most) == (len(frame), most)
    assert (twice.end, twice.most) == (2 * len(frame), 2 * most)


@pytest.mark.parametrize("size", [0, 8])
def test_a_dictionary_id_of_a_frame_with_a_wrong_checksum_is_kept(size: int) -> None:
    """The blocks decompress without the checksums also where the frame names a dictionary that they do not use."""
    content_size = struct.pack("<Q", 12) if size else b""
    descriptor = bytes((0x61 | size, 0x40)) + content_size + bytes(4)
    wrong = bytes([header_checksum(descriptor)[0] ^ 1])
    frame = CHECKED[:4] + descriptor + wrong + _stored(i4(1, 2, 3)) + bytes(4)

    read = _batch(i8(12) + frame, rows=3)

    assert [fault.rule for fault in read.faults] == [Rule.COMPRESSION_CHECKSUM]
    assert batch_to_arrow(read).column(0).to_pylist() == [1, 2, 3]
