"""``conformance golden`` as a user types it: differences are reported, and each set has a folder of its own."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import click.testing
import pytest

import conformance
from conformance.cli._group import cli
from conformance.disk.archives import unpack
from conformance.disk.files import data_file
from conformance.generate.vectors import VectorSet
from tests.engine.ipc_standins import stream, vectors

MADE = vectors(one=stream("a"), two=stream("b"))


def golden(folder: Path, *arguments: str) -> click.testing.Result:
    """The result of one command line on the vectors in ``folder``."""
    return click.testing.CliRunner().invoke(cli, ["golden", "--set", "ipc", "--dir", str(folder), *arguments])


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two vectors are made instead of all."""
    monkeypatch.setattr("conformance.reference.vectors.make_vectors", lambda: MADE)


def test_what_was_written_is_as_it_would_be_written(tmp_path: Path) -> None:
    """Written once, the check holds, and the set can be loaded."""
    first, second = golden(tmp_path), golden(tmp_path, "--check")

    assert (first.exit_code, first.output) == (0, f"{tmp_path / 'ipc'}: written\n")
    assert (second.exit_code, second.output) == (0, f"{tmp_path / 'ipc'}: unchanged\n")
    assert VectorSet.load(tmp_path / "ipc").vectors == MADE.vectors


def test_what_differs_is_told_with_status_1(tmp_path: Path) -> None:
    """Vectors that are new, gone or other are named; nothing is written."""
    vectors(one=stream("other"), three=stream("c")).write(tmp_path / "ipc")

    result = golden(tmp_path, "--check")

    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "one: sha256 differs",
        "one: size differs",
        "one: the rows differ",
        "three: no longer there",
        "two: new",
    ]
    assert "three" in VectorSet.load(tmp_path / "ipc").vectors


def test_what_the_set_has_no_more_is_removed(tmp_path: Path) -> None:
    """Bytes and rows of vectors that are gone go with them."""
    vectors(three=stream("c")).write(tmp_path / "ipc")

    golden(tmp_path)

    assert len(unpack(tmp_path / "ipc" / "vectors" / "few.zip")) == 4


def archive(folder: Path, into: Path, *arguments: str) -> click.testing.Result:
    """The result of ``golden --archive`` on the vectors in ``folder``."""
    options = ["--dir", str(folder), "--archive", str(into), *arguments]
    return click.testing.CliRunner().invoke(cli, ["golden", *options])


def test_archive_has_the_name_of_the_version(tmp_path: Path) -> None:
    """The vectors stay as they are; the line that is printed has the archive's digest."""
    MADE.write(tmp_path / "ipc")
    for name in ("README.md", "ARCHIVE.md", "INVALID.md"):
        shutil.copy(data_file("golden", "ipc", name), tmp_path / "ipc")

    result = archive(tmp_path, tmp_path / "out")

    paths = [tmp_path / "out" / f"arrow-ipc-{name}-{conformance.__version__}.zip" for name in ("vectors", "invalid")]
    lines = [f"{path}: written, SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in paths]
    assert (result.exit_code, result.output) == (0, "".join(lines))
    assert golden(tmp_path, "--check").exit_code == 0


@pytest.mark.parametrize("option", [("--check",), ("--set", "ipc")])
def test_archive_takes_all_vectors_as_they_are(tmp_path: Path, option: tuple[str, ...]) -> None:
    """Options that choose or compare vectors are refused with it."""
    result = archive(tmp_path, tmp_path, *option)

    assert result.exit_code == 2
    assert "expected --archive without --check and --set" in result.output


def test_archive_of_a_folder_without_vectors_is_status_2(tmp_path: Path) -> None:
    """The text says where the vectors were looked for."""
    result = archive(tmp_path, tmp_path)

    assert result.exit_code == 2
    assert "expected golden vectors in" in result.output


def test_a_folder_without_the_set_is_status_2(tmp_path: Path) -> None:
    """The text says where the vectors were looked for."""
    result = golden(tmp_path, "--check")

    assert result.exit_code == 2
    assert "expected golden vectors in" in result.output


def test_a_set_behind_a_link_is_left_alone(tmp_path: Path) -> None:
    """What is not of the set would be removed there."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").write_text("mine")
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden" / "ipc").symlink_to(tmp_path / "elsewhere")

    result = golden(tmp_path / "golden")

    assert result.exit_code == 2
    assert "a symbolic link inside a folder of output is not followed" in result.output
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["mine"]


def test_a_vector_behind_a_link_is_left_alone(tmp_path: Path) -> None:
    """The file that the link leads to is not the set's."""
    (tmp_path / "ipc" / "vectors").mkdir(parents=True)
    for name in MADE.files():
        (tmp_path / "ipc" / name).symlink_to(tmp_path / "mine")

    result = golden(tmp_path)

    assert result.exit_code == 2
    assert not (tmp_path / "mine").exists()
