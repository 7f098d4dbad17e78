"""Where a library gets its bytes: the file objects and files are what Python and the system say that they are."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest

from conformance.readers.ipc.sources import in_pieces, on_disk

DATA = bytes(range(256)) * 3


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_file_object_gives_what_is_asked_for(size: int) -> None:
    """However small the pieces of the raw file: reads are complete, and seeking works from both ends."""
    file = in_pieces(DATA, size)

    assert file.read(20) == DATA[:20]
    assert file.read() == DATA[20:]
    assert file.seek(-10, io.SEEK_END) == len(DATA) - 10
    assert file.read() == DATA[-10:]
    assert len(in_pieces(DATA, size).raw.read(500)) == min(size, 500)


def test_a_file_has_the_bytes_while_it_is_open() -> None:
    """Its path can be opened and mapped."""
    with on_disk(DATA) as path:
        assert Path(path).read_bytes() == DATA
        with pa.memory_map(path) as mapped:
            assert mapped.read() == DATA


def test_what_was_mapped_outlives_the_file() -> None:
    """The buffers of a library keep the mapping, so values can be looked at afterwards."""
    with on_disk(DATA) as path, pa.memory_map(path) as mapped:
        buffer = mapped.read_buffer()

    assert buffer.to_pybytes() == DATA


def test_without_files_in_memory_a_file_on_disk_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Systems other than Linux have none."""
    monkeypatch.delattr("os.memfd_create", raising=False)

    with on_disk(DATA) as path:
        assert Path(path).read_bytes() == DATA
    assert not Path(path).exists()
