"""Frames of the codecs are walked to their end, and LZ4's lose what a decoder may ignore."""

from __future__ import annotations

import struct

import pytest

from conformance.wire.frames import BadFrameError, scan_lz4, scan_zstd, without_checks, xxh32
from tests.wire.breaking import zstd
from tests.wire.lz4_frames import CONTENT, LibraryFrame, library_frames


@pytest.mark.parametrize("recorded", library_frames(), ids=lambda each: f"{len(each[1])}-{each[0]}")
def test_walk_ends_where_the_frame_ends(recorded: LibraryFrame) -> None:
    """Whatever the library wrote, the walk ends at its last byte, and the content fits into the bound."""
    _, content, frame = recorded

    scan = scan_lz4(memoryview(frame + b"more"))

    assert scan.end == len(frame)
    assert scan.most >= len(content)


def test_frame_without_checks_is_the_one_that_the_library_writes_without_them() -> None:
    """The blocks stay, the header says so, and its checksum is right."""
    plain = {len(content): frame for options, content, frame in library_frames() if is_plain(options)}
    checked = [
        (content, frame)
        for options, content, frame in library_frames()
        if options["store_size"] or options["block_checksum"] or options["content_checksum"]
        if not options["block_linked"] and options.get("compression_level", 0) == 0
    ]

    assert [without_checks(memoryview(frame)) for _, frame in checked] == [plain[len(one)] for one, _ in checked]


def is_plain(options: object) -> bool:
    """Whether a frame was written with nothing but the defaults."""
    defaults = {"block_size": 4, "block_linked": False}
    return options == defaults | dict.fromkeys(("content_checksum", "block_checksum", "store_size"), False)


def test_checksums_are_those_of_the_library() -> None:
    """The last four bytes of a frame are the checksum of its content, where it carries one."""
    told = [(content, frame) for options, content, frame in library_frames() if options["content_checksum"]]

    assert [xxh32(content) for content, _ in told] == [struct.unpack("<I", frame[-4:])[0] for _, frame in told]


@pytest.mark.parametrize(
    ("size", "expected"),
    [(0, 0x02CC5D05), (1, 0xCF65B03E), (14, 0x1208E7E2), (222, 0x5BD11DBD)],
)
def test_checksums_of_all_lengths(size: int, expected: int) -> None:
    """The test values of xxHash itself: lengths below and above a stripe of 16, with rests of words and bytes."""
    made, generator = bytearray(), 2654435761
    for _ in range(size):
        made.append(generator >> 56)
        generator = generator * 11400714785074694797 & 0xFFFF_FFFF_FFFF_FFFF

    assert xxh32(bytes(made)) == expected


@pytest.mark.parametrize(
    "frame",
    [
        bytes.fromhex("04224d18"),
        bytes.fromhex("05224d18604082") + bytes(4),
        bytes.fromhex("04224d18204082") + bytes(4),
        bytes.fromhex("04224d18624082") + bytes(4),
        bytes.fromhex("04224d18603082") + bytes(4),
        bytes.fromhex("04224d1860c082") + bytes(4),
        bytes.fromhex("04224d18644082") + bytes(4),
        bytes.fromhex("04224d18604082") + struct.pack("<I", 5) + bytes(8),
    ],
    ids=["short", "magic", "version", "reserved", "block-size", "reserved-limit", "no-checksum", "no-end"],
)
def test_bytes_that_are_no_frame_are_refused(frame: bytes) -> None:
    """A descriptor that the format reserves, and a frame that is cut short, are distinguished from frames."""
    with pytest.raises(BadFrameError):
        scan_lz4(memoryview(frame))


def test_zstd_frames_may_follow_one_another() -> None:
    """The walk counts the blocks of all of them."""
    one = zstd(CONTENT)

    scan = scan_zstd(memoryview(one + one))

    assert scan.end == 2 * len(one)
    assert scan.most >= 2 * len(CONTENT)
