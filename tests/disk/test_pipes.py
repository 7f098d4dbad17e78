"""Pipes where a user names a file: nobody on the other side ends in an error, and somebody there is served."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from conformance.disk import pipes
from conformance.disk.files import DiskError, write_whole


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A pipe."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is waited for."""
    monkeypatch.setattr(pipes, "FIRST_SECONDS", 0)


@pytest.mark.usefixtures("at_once")
def test_a_pipe_without_a_writer_is_not_waited_for(pipe: Path) -> None:
    """The error says what is missing."""
    with pytest.raises(OSError, match="nothing came through the pipe"):
        pipes.kept(pipe)


@pytest.mark.usefixtures("at_once")
def test_a_pipe_without_a_reader_is_not_waited_for(pipe: Path) -> None:
    """As with a full disk."""
    with pytest.raises(DiskError, match="nobody read from the pipe"):
        write_whole(pipe, b"report")


@pytest.mark.usefixtures("at_once")
def test_a_reader_that_stops_is_not_waited_for(pipe: Path) -> None:
    """A pipe holds some kilobytes, then writing waits for the reader."""
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(DiskError, match="nobody read from the pipe"):
            write_whole(pipe, bytes(1 << 22))
    finally:
        os.close(reader)


def test_what_comes_through_a_pipe_can_be_read_again(pipe: Path) -> None:
    """By its writer's end, everything is in a file."""
    content = bytes(range(256)) * 1024
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()

    file = pipes.kept(pipe)
    writer.join()

    assert file.read_bytes() == file.read_bytes() == content


def test_what_is_written_to_a_pipe_arrives(pipe: Path) -> None:
    """Whatever its length."""
    content = bytes(range(256)) * 1024
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()

    write_whole(pipe, content)
    reader.join()

    assert found == [content]


def test_another_file_stays_as_it_is(tmp_path: Path) -> None:
    """So does a path at which nothing is."""
    (tmp_path / "file").touch()

    assert [pipes.kept(tmp_path / name) for name in ("file", "none")] == [tmp_path / "file", tmp_path / "none"]


def test_a_device_is_read_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """``/dev/zero`` has no end, and would fill the memory."""
    monkeypatch.setattr(pipes, "MOST", 1 << 20)

    with pytest.raises(OSError, match="more than 1048576 bytes came through the device"):
        pipes.kept(Path("/dev/zero"))


@pytest.mark.parametrize("length", [0, 1])
def test_only_a_file_without_a_length_can_keep_a_reader_waiting(tmp_path: Path, length: int) -> None:
    """The files of the kernel have none, and to read some of them, such as ``/proc/kmsg``, is to wait."""
    path = tmp_path / "file"
    path.write_bytes(bytes(length))

    assert pipes.has_no_length(path) is not bool(length)


@pytest.mark.usefixtures("at_once")
def test_a_file_of_the_kernel_in_which_nothing_comes_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence says that it is a file."""
    path = tmp_path / "kmsg"
    path.touch()
    monkeypatch.setattr(pipes, "something_came", lambda _: False)

    with pytest.raises(OSError, match="nothing came through the file"):
        pipes.kept(path)


def test_a_file_of_the_kernel_is_read_to_its_end() -> None:
    """It has more bytes than its length says, and may be read again."""
    kept = pipes.kept(Path("/proc/self/status"))

    assert kept.read_bytes().startswith(b"Name:")


def test_a_file_of_the_kernel_whose_end_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The messages of the kernel begin, and then a reader would wait for the next one."""
    came = iter([True, False])
    monkeypatch.setattr(pipes, "something_came", lambda _: next(came))

    with pytest.raises(OSError, match="no end came through the file"):
        pipes.kept(Path("/proc/self/status"))
