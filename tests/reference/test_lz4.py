"""LZ4 frames of the reference are those of a library, and what the library does not write is legal too."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

import pyarrow as pa
import pytest

from conformance.reference.lz4 import Lz4Options, lz4_frame
from conformance.wire.frames import scan_lz4
from tests.wire.lz4_frames import CONTENT, SHORT, library_frames


def every_option() -> Iterator[Lz4Options]:
    """Every combination of what a frame may carry, in blocks of different sizes."""
    flags = itertools.product((False, True), repeat=5)
    for (checksum, size, blocks, linked, stored), (block, limit) in itertools.product(
        flags, ((64 << 10, 4), (1_000, 5), (100, 7))
    ):
        yield Lz4Options(
            content_checksum=checksum,
            content_size=size,
            block_checksums=blocks,
            linked=linked,
            stored=stored,
            block=block,
            limit=limit,
        )


@pytest.mark.parametrize("content", [b"", b"a", SHORT, CONTENT, bytes(range(256)) * 300], ids=len)
def test_every_option_is_read_by_the_library(content: bytes) -> None:
    """liblz4, inside pyarrow, reads each frame to its content, and our own walk ends where it does."""
    for options in every_option():
        frame = lz4_frame(content, options)

        with pa.CompressedInputStream(pa.BufferReader(frame), "lz4") as stream:
            assert stream.read() == content, options
        assert scan_lz4(memoryview(frame)).end == len(frame)


def test_frames_of_one_block_are_those_of_the_library() -> None:
    """With checksums, content size, both or neither: byte for byte."""
    for options, content, frame in library_frames():
        ours = options["block_size"] == 4 and not options["block_linked"] and "compression_level" not in options
        if content == SHORT and ours:
            mine = Lz4Options(
                content_checksum=options["content_checksum"],
                content_size=options["store_size"],
                block_checksums=options["block_checksum"],
            )
            assert lz4_frame(content, mine) == frame, options


def test_linked_blocks_refer_to_those_before_them() -> None:
    """The second block begins with a match, and does not decompress alone."""
    frame = lz4_frame(SHORT, Lz4Options(linked=True, block=1_000))
    first = 7 + 4 + struct.unpack_from("<I", frame, 7)[0]
    second = frame[first + 4 : first + 4 + struct.unpack_from("<I", frame, first)[0]]

    assert second[0] >> 4 == 0
    with pytest.raises(OSError, match="Corrupt Lz4 compressed data"):
        pa.Codec("lz4_raw").decompress(second, decompressed_size=1_000)
