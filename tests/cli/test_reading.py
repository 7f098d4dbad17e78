"""A file that a user names is read to its end, or refused in one sentence."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from conformance.cli import _reading
from conformance.cli._group import Unusable
from conformance.cli._reading import read_named
from conformance.disk.files import TooLargeError


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    """A regular file has no bound."""
    file = tmp_path / "data"
    file.write_bytes(b"x" * 3_000_000)

    assert read_named(file) == b"x" * 3_000_000


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    """A pipe is read while another program writes to it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"one" * 100_000))
    writer.start()

    assert read_named(pipe) == b"one" * 100_000
    writer.join()


def test_a_pipe_without_a_writer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is waited for without a bound."""
    monkeypatch.setattr(_reading, "FIRST_SECONDS", 0.05)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(Unusable, match=r"nothing came through the pipe within 0\.05 s"):
        read_named(pipe)


def test_a_device_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Input that is not a regular file is read up to a bound."""
    monkeypatch.setattr(_reading, "MOST", 1 << 20)

    with pytest.raises(TooLargeError, match="/dev/zero: expected at most 1 MiB, because it is read into memory"):
        read_named(Path("/dev/zero"))


def test_a_file_larger_than_memory_is_refused(tmp_path: Path) -> None:
    """Its size says so, before any byte is read."""
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(3 << 30)

    with pytest.raises(TooLargeError, match="sparse: expected at most 1024 MiB, because it is read into memory"):
        read_named(path)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    """It is named with the system's reason."""
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        read_named(tmp_path)


def test_a_file_that_cannot_be_read_is_named() -> None:
    """Address 0 of this process is mapped to nothing: reading there is an input/output error."""
    with pytest.raises(OSError, match="Input/output error") as refused:
        read_named(Path("/proc/self/mem"))

    assert refused.value.filename == "/proc/self/mem"
