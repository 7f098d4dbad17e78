"""Files are written whole or not at all, and what keeps one from it is said with its name."""

from __future__ import annotations

import os
import pickle
import resource
from pathlib import Path

import pytest

from conformance.disk.files import DiskError, TooLargeError, read_text, read_whole, write_inside, write_whole
from conformance.disk.locks import held

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="/dev/full is Linux's")


def names(folder: Path) -> list[str]:
    """The contents of a directory."""
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_with_its_directory(tmp_path: Path) -> None:
    """Missing directories are made, and no other file is left."""
    path = tmp_path / "a" / "b.json"

    write_whole(path, "ä\n", durable=True)

    assert path.read_bytes() == "ä\n".encode()
    assert names(path.parent) == ["b.json"]


def test_a_text_that_has_no_utf8_form_is_written_all_the_same(tmp_path: Path) -> None:
    """A lone surrogate becomes an escape, which is what JSON has for it as well."""
    write_whole(tmp_path / "a", "\ud800")

    assert (tmp_path / "a").read_bytes() == b"\\ud800"


def test_what_was_there_stays_where_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that does not fit leaves the old one and no half of itself."""
    path = tmp_path / "report.json"
    path.write_text("before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(DiskError) as raised:
            write_whole(path, bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert str(raised.value) == f"{path}: cannot be written: File too large"
    assert path.read_text() == "before"
    assert names(tmp_path) == ["report.json"]


@needs_full
def test_a_device_is_written_to_as_it_is() -> None:
    """``/dev/full`` is not replaced by a file, and ``/dev/stdout`` would not be either."""
    with pytest.raises(DiskError, match=r"^/dev/full: cannot be written: No space left on device$"):
        write_whole(FULL, "text")

    assert FULL.is_char_device()


def test_a_link_stays_one(tmp_path: Path) -> None:
    """The file that a link names is replaced, not the link."""
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to("real")

    write_whole(tmp_path / "link", "after")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "after"


@pytest.mark.parametrize("linked", ["a", "a/b.json"])
def test_a_link_inside_a_folder_of_output_is_not_followed(linked: str, tmp_path: Path) -> None:
    """The folder itself may be one: it is what the user named."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.json").write_text("kept")
    (tmp_path / "real").mkdir()
    folder = tmp_path / "folder"
    folder.symlink_to(tmp_path / "real")
    (folder / linked).parent.mkdir(exist_ok=True)
    (folder / linked).symlink_to(elsewhere if linked == "a" else elsewhere / "b.json")

    with pytest.raises(DiskError, match=f"{linked}: cannot be written: a symbolic link inside"):
        write_inside(folder, "a/b.json", "lost")

    write_inside(folder, "c.json", "written")
    assert (elsewhere / "b.json").read_text() == "kept"
    assert (tmp_path / "real" / "c.json").read_text() == "written"


def test_a_name_that_is_too_long_is_named(tmp_path: Path) -> None:
    """As any other place that cannot be written."""
    with pytest.raises(DiskError, match="aaa: cannot be written: File name too long"):
        write_inside(tmp_path, "a" * 300, "x")


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    """The permissions of a report do not change when it is written again."""
    path = tmp_path / "a"
    path.write_text("before")
    path.chmod(0o640)

    write_whole(path, "after")

    assert path.stat().st_mode & 0o777 == 0o640


def test_a_place_below_a_file_is_named(tmp_path: Path) -> None:
    """A directory that cannot be made is the file's own failure."""
    (tmp_path / "file").touch()

    with pytest.raises(DiskError, match=r"file/report\.json: cannot be written: "):
        write_whole(tmp_path / "file" / "report.json", "")


def test_the_error_travels_between_processes() -> None:
    """A worker of Spark's hands it to the driver."""
    error = pickle.loads(pickle.dumps(DiskError(28, "No space left on device", "a/b")))

    assert str(error) == "a/b: cannot be written: No space left on device"


@pytest.mark.parametrize("size", [1, 4096, 3 << 20])
def test_a_file_is_read_up_to_the_limit(size: int, tmp_path: Path) -> None:
    """One byte more is refused, and the sentence names the file."""
    path = tmp_path / "a"
    path.write_bytes(b"x" * size)

    assert read_whole(path, size) == b"x" * size
    with pytest.raises(
        TooLargeError, match=r"a: expected at most [02] MiB, because it is read into memory, and it has"
    ):
        read_whole(path, size - 1)


def test_a_file_that_declares_no_size_is_read_to_its_end() -> None:
    """The files of ``/proc`` have none."""
    assert "Name:" in read_text(Path("/proc/self/status"))


def test_a_file_that_declares_no_size_has_a_limit() -> None:
    """Bytes beyond it are not kept."""
    with pytest.raises(TooLargeError):
        read_whole(Path("/proc/self/status"), 10)


def test_an_error_of_reading_names_the_file() -> None:
    """Python's own error of a read has no name: the command would blame standard output."""
    with pytest.raises(OSError, match="Input/output error") as raised:
        read_whole(Path("/proc/self/mem"))

    assert raised.value.filename == "/proc/self/mem"


def test_a_link_of_the_kernel_to_a_pipe_is_written_through() -> None:
    """/dev/stdout of a command in a pipe: the text of the link is no path."""
    read, write = os.pipe()
    try:
        write_whole(Path(f"/dev/fd/{write}"), "text")
        assert os.read(read, 10) == b"text"
        with held(Path(f"/dev/fd/{write}")):
            pass
    finally:
        os.close(read)
        os.close(write)
