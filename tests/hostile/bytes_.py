"""Files that attack ``conformance check``: correct bombs, absurd sizes, more of everything than is sane."""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from tests.hostile.attack import Act, Expected, Part, register
from tests.hostile.setups import Command

__all__: list[str] = []

MIB: Final = 1 << 20
JUDGED: Final = Expected(status=(0, 1), says="clauses fail|findings|fail")
REFUSED: Final = Expected(status=(1, 2), says=".")


def _bytes(name: str, expected: Expected = JUDGED, *words: str, **more: Any) -> Callable[[Act], Act]:
    """Register a function that makes the bytes; each chunk that it yields is written as it comes."""

    def registered(make: Act) -> Act:
        @functools.wraps(make)
        def arranged(place: Path, cookie: str) -> Command:
            with (place / "data.bin").open("wb") as file:
                for chunk in make():
                    file.write(chunk)
            return Command(["check", "data.bin", *words])

        register(name, Part.BYTES, expected, **more)(arranged)
        return make

    return registered


def _stream(schema: pa.Schema, *batches: pa.RecordBatch, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _zeros(count: int) -> pa.RecordBatch:
    values = pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(bytes(8 * count))])
    return pa.record_batch([values], names=["a"])


@_bytes("bytes.lz4-bomb")
def lz4_bomb() -> Any:
    """A stream of 4 MiB contains a GiB of zeros in one LZ4 buffer, with the right declared length."""
    yield _stream(_zeros(0).schema, _zeros(128 * MIB), compression="lz4")


@_bytes("bytes.zstd-bomb")
def zstd_bomb() -> Any:
    """A stream of 100 kB contains a GiB of zeros in one ZSTD buffer, with the right declared length."""
    yield _stream(_zeros(0).schema, _zeros(128 * MIB), compression="zstd")


def _many_bombs(codec: str) -> bytes:
    small = _stream(_zeros(0).schema, _zeros(16 * MIB), compression=codec)
    start = len(_stream(_zeros(0).schema, compression=codec)) - 8
    return small[:start] + small[start:-8] * 64 + small[-8:]


@_bytes("bytes.sixty-replaced-dictionaries")
def sixty_replaced_dictionaries() -> Any:
    """A stream of 4 MiB in LZ4 replaces a dictionary of 16 MiB of zeros sixty times."""
    values = pa.concat_arrays([pa.array([1], pa.int64()), _zeros(2 * MIB).column(0)])
    batch = pa.record_batch([pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), values)], names=["a"])
    small = _stream(batch.schema, batch, compression="lz4")
    start = len(_stream(batch.schema, compression="lz4")) - 8
    yield small[:start] + small[start:-8] * 60 + small[-8:]


@_bytes("bytes.sixty-four-bombs", deadline=30.0)
def sixty_four_bombs() -> Any:
    """A stream of a few hundred kB contains 64 batches of 128 MiB of zeros each."""
    yield _many_bombs("zstd")


@_bytes("bytes.bomb-that-lies")
def bomb_with_wrong_length() -> Any:
    """A buffer declares 2^60 uncompressed bytes."""
    data = bytearray(_stream(_zeros(0).schema, _zeros(1024), compression="zstd"))
    at = bytes(data).index(struct.pack("<q", 8192))
    data[at : at + 8] = struct.pack("<q", 1 << 60)
    yield bytes(data)


@_bytes("bytes.hundred-thousand-columns", deadline=15.0)
def hundred_thousand_columns() -> Any:
    """A stream has 100,000 columns, and a batch of one row."""
    schema = pa.schema([pa.field(f"c{number}", pa.int64()) for number in range(100_000)])
    yield _stream(schema, pa.record_batch([pa.array([1], pa.int64())] * 100_000, schema=schema))


@_bytes("bytes.hundred-thousand-equal-columns", deadline=15.0)
def hundred_thousand_equal_columns() -> Any:
    """A stream has 100,000 columns with the same name."""
    schema = pa.schema([pa.field("a", pa.int64())] * 100_000)
    yield _stream(schema, pa.record_batch([pa.array([1], pa.int64())] * 100_000, schema=schema))


@_bytes("bytes.million-batches", deadline=45.0)
def million_batches() -> Any:
    """A stream has 200,000 batches without rows."""
    whole = _stream(_zeros(0).schema, _zeros(0))
    start = len(_stream(_zeros(0).schema)) - 8
    yield whole[:start]
    for _ in range(200):
        yield whole[start:-8] * 1000
    yield whole[-8:]


@_bytes("bytes.million-dictionaries", deadline=45.0)
def million_dictionaries() -> Any:
    """A stream has 100,000 dictionary batches before its first batch of rows."""
    values = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(["a"]))
    batch = pa.record_batch([values], names=["a"])
    reader = pa.ipc.MessageReader.open_stream(_stream(batch.schema, batch))
    schema, dictionary, rows = (reader.read_next_message().serialize().to_pybytes() for _ in range(3))
    yield schema
    for _ in range(100):
        yield dictionary * 1000
    yield rows + b"\xff\xff\xff\xff\0\0\0\0"


@_bytes("bytes.delta-dictionaries", deadline=45.0)
def delta_dictionaries() -> Any:
    """A stream has 20,000 deltas of one dictionary."""
    schema = pa.schema([pa.field("a", pa.dictionary(pa.int32(), pa.string()))])
    words = [f"w{number}" for number in range(20_000)]
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for number in range(0, 20_000, 10):
            values = pa.array(words[: number + 1])
            indices = pa.array([number], pa.int32())
            writer.write_batch(pa.record_batch([pa.DictionaryArray.from_arrays(indices, values)], schema=schema))
    yield sink.getvalue().to_pybytes()


@_bytes("bytes.deep-types")
def deep_types() -> Any:
    """A stream nests lists 500 levels deep."""
    kind: pa.DataType = pa.int64()
    for _ in range(500):
        kind = pa.list_(kind)
    yield _stream(pa.schema([pa.field("a", kind)]))


@_bytes("bytes.deeper-types")
def deeper_types() -> Any:
    """A stream nests records 3000 levels deep."""
    kind: pa.DataType = pa.int64()
    for _ in range(3000):
        kind = pa.struct([pa.field("a", kind)])
    yield _stream(pa.schema([pa.field("a", kind)]))


@_bytes("bytes.metadata-of-200-mib", own=200 * MIB, deadline=20.0)
def metadata_of_200_mib() -> Any:
    """A stream's schema has metadata of 200 MiB."""
    yield _stream(pa.schema([pa.field("a", pa.int64())], metadata={"k": "v" * (200 * MIB)}))


@_bytes("bytes.million-metadata-keys", deadline=20.0)
def million_metadata_keys() -> Any:
    """The schema of a stream has a million equal metadata keys."""
    pairs = [("k", "v")] * 1_000_000
    schema = pa.schema([pa.field("a", pa.int64())]).with_metadata(pa.KeyValueMetadata(pairs))
    yield _stream(schema)


@_bytes("bytes.metadata-of-2-gib", REFUSED)
def metadata_of_2_gib() -> Any:
    """A message declares 2 GiB of metadata, and the file ends."""
    yield b"\xff\xff\xff\xff" + struct.pack("<i", (1 << 31) - 1) + bytes(100)


@_bytes("bytes.negative-lengths", REFUSED)
def negative_lengths() -> Any:
    """A message declares minus one byte of metadata."""
    yield b"\xff\xff\xff\xff" + struct.pack("<i", -1) + bytes(100)


@_bytes("bytes.body-of-8-eib")
def body_of_8_eib() -> Any:
    """A batch declares a body of nearly 8 EiB."""
    data = bytearray(_stream(_zeros(0).schema, _zeros(1000)))
    at = bytes(data).index(struct.pack("<q", 8000))
    while at >= 0:
        data[at : at + 8] = struct.pack("<q", (1 << 63) - 8)
        at = bytes(data).find(struct.pack("<q", 8000))
    yield bytes(data)


@_bytes("bytes.rows-of-2-to-the-62")
def rows_of_2_to_the_62() -> Any:
    """A batch without columns declares 2^62 rows."""
    batch = pa.RecordBatch.from_arrays([pa.nulls(77_777)], names=["a"])
    data = bytearray(_stream(batch.schema, batch))
    at = bytes(data).find(struct.pack("<q", 77_777))
    while at >= 0:
        data[at : at + 8] = struct.pack("<q", 1 << 62)
        at = bytes(data).find(struct.pack("<q", 77_777))
    yield bytes(data)


@_bytes("bytes.zeros", REFUSED, own=256 * MIB)
def zeros() -> Any:
    """A file of 256 MiB contains only zeros."""
    for _ in range(256):
        yield bytes(MIB)


@_bytes("bytes.end-markers", REFUSED, own=64 * MIB, deadline=20.0)
def end_markers() -> Any:
    """A file of 64 MiB contains only end-of-stream markers."""
    for _ in range(64):
        yield b"\xff\xff\xff\xff\0\0\0\0" * (MIB // 8)


@_bytes("bytes.hostile-names")
def hostile_names() -> Any:
    """Column names contain control sequences for terminals and CI systems, and findings quote them."""
    names = ["\n::error::HOSTILE", "##vso[task.complete]", "\x1b[2J\x9b31m", "\u202e\u2028", "x" * MIB, "\0"]
    data = _stream(pa.schema([pa.field(name, pa.int64()) for name in names]), compression="lz4")
    batch = pa.record_batch([pa.array([1], pa.int64())] * len(names), names=names)
    whole = bytearray(_stream(batch.schema, batch))
    whole[-24:-8] = b"\xff" * 16
    yield bytes(whole) + data


@_bytes("bytes.views-of-one-buffer")
def views_of_one_buffer() -> Any:
    """A million string views refer to the same MiB: a TiB of text in a file of 20 MB."""
    count = 1_000_000
    view = struct.pack("<i4sii", MIB, b"aaaa", 0, 0)
    buffers = [None, pa.py_buffer(view * count), pa.py_buffer(b"a" * MIB)]
    yield _stream(
        pa.schema([pa.field("a", pa.string_view())]),
        pa.record_batch([pa.Array.from_buffers(pa.string_view(), count, buffers)], names=["a"]),
    )


@_bytes("bytes.runs-of-2-to-the-31")
def runs_of_2_to_the_31() -> Any:
    """One run represents two billion values, in a hundred columns."""
    count = (1 << 31) - 1
    run = pa.RunEndEncodedArray.from_arrays(pa.array([count], pa.int32()), pa.array(["a" * 100]))
    yield _stream(pa.schema([pa.field("a", run.type)] * 100), pa.record_batch([run] * 100, names=["a"] * 100))


@_bytes("bytes.million-footers", REFUSED, "--kind", "file")
def million_footers() -> Any:
    """A file contains only the magic of Arrow files, a million times."""
    yield b"ARROW1\0\0" * 1_000_000 + b"ARROW1"


@register("bytes.endless-file", Part.BYTES, Expected(status=(2,), says="Error"))
def endless_file(place: Path, cookie: str) -> Command:
    """The file never ends."""
    return Command(["check", "/dev/zero"])


@register("bytes.pipe-without-a-writer", Part.BYTES, Expected(status=(2,), says="Error"))
def pipe_without_a_writer(place: Path, cookie: str) -> Command:
    """The file is a pipe that no process writes to."""
    os.mkfifo(place / "data.bin")
    return Command(["check", "data.bin"])


@register("bytes.million-tiny-messages-dissected", Part.COMMAND, Expected(status=(1,)), deadline=90.0, own=40 << 20)
def million_tiny_messages_dissected(place: Path, cookie: str) -> Command:
    """A stream of 40 MiB has 190,000 messages, and is dissected as JSON."""
    schema = pa.schema([pa.field("a", pa.int8())])
    batch = pa.record_batch([pa.array([1], pa.int8())], schema).serialize().to_pybytes()
    many = (40 << 20) // len(batch)
    (place / "many.arrows").write_bytes(schema.serialize().to_pybytes() + batch * many + b"\xff\xff\xff\xff" + bytes(4))
    return Command(["dissect", "--json", "many.arrows"], stdout="/dev/null")
