"""Files of JSON lines that grow."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.disk import pipes
from conformance.disk.files import DiskError
from conformance.disk.jsonlines import LineFile, line_of
from conformance.disk.locks import InUseError


def test_lines_are_appended_to_what_is_there(tmp_path: Path) -> None:
    """Each is in the file as soon as it was appended."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"1\n")

    with LineFile(path, advice="wait") as file:
        file.append(line_of({"b": "ä"}))

        assert path.read_bytes() == b'1\n{"b":"\xc3\xa4"}\n'


def test_a_lone_surrogate_is_written_as_json_writes_it() -> None:
    """Foreign texts have some."""
    assert json.loads(line_of("\ud800")) == "\ud800"


def test_what_was_left_of_a_line_is_cut_off(tmp_path: Path) -> None:
    """The next line does not continue it."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'1\n{"hal')

    with LineFile(path, advice="wait") as file:
        file.truncate(2)
        file.append(b"2\n")

    assert path.read_bytes() == b"1\n2\n"


def test_a_pipe_is_not_cut(tmp_path: Path) -> None:
    """It has no bytes to cut off: what follows arrives."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as end, LineFile(pipe, advice="wait") as file:
        file.truncate(0)
        file.append(b"1\n")

        assert end.readline() == b"1\n"


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening it would otherwise take as long as nobody comes."""
    monkeypatch.setattr(pipes, "FIRST_SECONDS", 0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(DiskError, match="nobody read from the pipe"), LineFile(pipe, advice="wait"):
        pytest.fail("opened")


def test_one_process_at_a_time_writes(tmp_path: Path) -> None:
    """A second process gets an error that says what to do."""
    path = tmp_path / "a.jsonl"

    with (
        LineFile(path, advice="wait for it"),
        pytest.raises(InUseError, match="wait for it"),
        LineFile(path, advice="wait for it"),
    ):
        pass


def test_a_full_disk_is_named() -> None:
    """The error names the file."""
    with LineFile(Path("/dev/full"), advice="wait") as file, pytest.raises(DiskError, match="/dev/full"):
        file.append(b"1\n")


def test_what_a_file_held_is_set_aside(tmp_path: Path) -> None:
    """It keeps its bytes under another name, and the file goes on empty; of an empty one nothing is kept."""
    path, aside = tmp_path / "log", tmp_path / "before"
    path.write_bytes(b"old\n")

    with LineFile(path, advice="") as file:
        kept = file.set_aside(aside), file.set_aside(tmp_path / "none")
        file.append(b"new\n")

    assert kept == (True, False)
    assert (aside.read_bytes(), path.read_bytes()) == (b"old\n", b"new\n")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda path: path.write_bytes(b""), "another program has cut it meanwhile"),
        (lambda path: path.unlink(), "another program has removed or replaced it meanwhile"),
        (lambda path: path.unlink() or path.symlink_to("/dev/null"), "removed or replaced"),
        (lambda path: path.rename(path.with_name("b")) and path.write_bytes(b"1\n2\n"), "removed or replaced"),
    ],
)
def test_lines_that_are_no_longer_there_are_noticed(tmp_path: Path, harm: Callable[[Path], object], said: str) -> None:
    """The path of the file is what a command prints at its end."""
    path = tmp_path / "a.jsonl"
    with LineFile(path, advice="wait") as file:
        file.append(b"1\n")
        file.check()

        harm(path)

        with pytest.raises(DiskError, match=said):
            file.check()


def test_a_file_that_others_write_to_as_well_is_whole(tmp_path: Path) -> None:
    """A log may go to standard output, which a shell has sent to a file."""
    path = tmp_path / "a.jsonl"
    with LineFile(path, advice="wait") as file:
        file.append(b"1\n")
        with path.open("ab") as other:
            other.write(b"2\n")

        file.check()


def test_a_device_is_not_asked_for_its_lines() -> None:
    """It keeps none."""
    with LineFile(Path("/dev/null"), advice="wait") as file:
        file.append(b"1\n")

        file.check()
