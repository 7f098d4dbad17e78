"""A file that a user names is read to its end, or refused in one sentence."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from conformance.cli import _reading
from conformance.cli._group import Unusable
from conformance.cli._reading import named_files, read_named
from conformance.disk import pipes
from conformance.disk.files import TooLargeError


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    """No byte is left out."""
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
    monkeypatch.setattr(pipes, "FIRST_SECONDS", 0.05)
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


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders with files, some hidden, and a link to the folder itself."""
    for name in ("a.arrow", "in/b.arrow", "in/c.txt", "in/deep/d.arrow", ".hidden/e.arrow", "in/.f.arrow"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "self").symlink_to(".")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("*.arrow", ["a.arrow"]),
        ("**/*.arrow", ["a.arrow", "in/b.arrow", "in/deep/d.arrow"]),
        ("**", ["a.arrow", "in/b.arrow", "in/c.txt", "in/deep/d.arrow"]),
        ("in/**/d.*", ["in/deep/d.arrow"]),
        ("./in/[bc].*", ["in/b.arrow", "in/c.txt"]),
        (".h*/*", [".hidden/e.arrow"]),
        ("in/.*", ["in/.f.arrow"]),
        ("self/*.arrow", ["self/a.arrow"]),
        ("/".join(["**"] * 8) + "/*.arrow", ["a.arrow", "in/b.arrow", "in/deep/d.arrow"]),
    ],
)
@pytest.mark.parametrize("absolute", [False, True])
def test_a_pattern_names_files(pattern: str, files: list[str], tree: Path, *, absolute: bool) -> None:
    """Each once, without what is hidden, and without an end where links lead back."""
    base = tree if absolute else Path()

    assert named_files([str(base / pattern)]) == [base / file for file in files]


def test_a_pattern_that_fits_too_much_is_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ``*`` fits the link to the folder itself, and then all that is in it."""
    monkeypatch.setattr(_reading, "MOST_FILES", 5)

    with pytest.raises(Unusable, match="expected a pattern of at most 5 files and directories, got more"):
        named_files(["*/*/*/*/*/*/*"])


@pytest.mark.parametrize("pattern", ["", "**/*.arrow"])
def test_a_folder_that_may_not_be_read_is_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    """It is named as what cannot be judged; without this, `check` on a folder would be clean without its files."""
    (tmp_path / "shut").mkdir()
    (tmp_path / "a.arrow").touch()
    real = os.listdir

    def listdir(path: Path) -> list[str]:
        if path.name == "shut":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)

    assert named_files([str(tmp_path / pattern)]) == [tmp_path / "a.arrow", tmp_path / "shut"]
    assert named_files([str(tmp_path / "shut"), str(tmp_path / "a.arrow")])[0] == tmp_path / "shut"


def test_what_the_system_keeps_secret_costs_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link into another user's folder: to ask what is there is refused, and to read it says so."""
    (tmp_path / "a.arrow").touch()
    (tmp_path / "link").symlink_to("/nobody/secret")
    real = Path.stat

    def stat(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path.name == "link" and follow_symlinks:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", stat)

    assert named_files([str(tmp_path)]) == [tmp_path / "a.arrow", tmp_path / "link"]
    assert named_files([str(tmp_path / "link")]) == [tmp_path / "link"]
