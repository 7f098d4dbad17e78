"""Archives: the same members give the same bytes, and what is something else is refused."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from conformance.disk.archives import ArchiveError, pack, unpack

MEMBERS = {"b/two.arrows": b"\xff" * 9, "a/one-2^31.json": b"", "c/é.txt": b"x"}
DIGEST = "3ae5e5e4485cd6489921db3e213075e50983a542fc22381fc3afcd421b2208a4"


def test_a_device_in_place_of_an_archive_is_refused(tmp_path: Path) -> None:
    """It has no end; no more than the limit is read of it."""
    (tmp_path / "a.zip").symlink_to("/dev/zero")

    with pytest.raises(OSError, match="more than 268435456 bytes"):
        unpack(tmp_path / "a.zip")


def test_what_was_packed_is_unpacked(tmp_path: Path) -> None:
    """Names and contents come back, sorted by name."""
    (tmp_path / "a.zip").write_bytes(pack(MEMBERS))

    read = unpack(tmp_path / "a.zip")

    assert read == MEMBERS
    assert list(read) == sorted(MEMBERS)


def test_bytes_follow_from_the_members() -> None:
    """Neither the order in which they are given, nor the clock, nor a version of Python or zlib decides any byte."""
    assert pack(dict(reversed(MEMBERS.items()))) == pack(MEMBERS)
    assert hashlib.sha256(pack(MEMBERS)).hexdigest() == DIGEST


def test_a_compressed_member_is_refused(tmp_path: Path) -> None:
    """An archive cannot hold more than its size."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\0" * 1_000_000)

    with pytest.raises(ArchiveError, match="expected members without compression, bomb has one"):
        unpack(tmp_path / "a.zip")


@pytest.mark.parametrize("spoil", [lambda data: data[:50], lambda data: b"", lambda data: data.replace(b"\xff", b"\0")])
def test_what_is_no_archive_is_refused(tmp_path: Path, spoil: object) -> None:
    """A part of an archive, nothing, or bytes that do not match its checksums."""
    assert callable(spoil)
    (tmp_path / "a.zip").write_bytes(spoil(pack(MEMBERS)))

    with pytest.raises(ArchiveError, match="expected a ZIP archive, got"):
        unpack(tmp_path / "a.zip")
