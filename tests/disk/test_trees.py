"""Folders of somebody else: searched and removed without recursion, without links and without mounts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.disk import trees
from conformance.disk.trees import DEEPEST, TooDeepError, remove_tree, walk


def deep(top: Path, levels: int) -> None:
    """Make ``levels`` folders below ``top``, each in the one before; the path of the last may be longer than any."""
    top.mkdir()
    opened = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=opened)
        below = os.open("d", os.O_RDONLY, dir_fd=opened)
        os.close(opened)
        opened = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=opened))
    os.close(opened)


def test_a_walk_is_that_of_the_library(tmp_path: Path) -> None:
    """Also with links, and if the caller leaves folders out; the order of folders is that of their list."""
    for name in ("a/b/c", "a/d", "e", "left/out"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").touch()
    (tmp_path / "e" / "loop").symlink_to(tmp_path)
    (tmp_path / "e" / "nowhere").symlink_to("nothing")

    def seen(walked: object) -> list[tuple[Path, list[str], list[str]]]:
        found = []
        for parent, folders, files in walked:  # type: ignore[attr-defined]
            folders[:] = sorted(name for name in folders if name != "left")
            found.append((Path(parent), list(folders), sorted(files)))
        return found

    assert seen(walk(tmp_path)) == seen(os.walk(tmp_path))


@pytest.mark.parametrize("levels", [DEEPEST + 1, 3000])
def test_folders_that_nest_too_deep_are_refused(tmp_path: Path, levels: int) -> None:
    """The error has a sentence of its own; no more levels are searched."""
    deep(tmp_path / "top", levels)
    with pytest.raises(TooDeepError, match=f"expected folders that nest at most {DEEPEST} times: '{tmp_path}/top'"):
        list(walk(tmp_path / "top"))
    remove_tree(tmp_path / "top")


def test_a_deep_tree_is_removed_with_all_in_it(tmp_path: Path) -> None:
    """Whatever its names and permissions are; what its links lead to stays as it is."""
    home, other = tmp_path / "home", tmp_path / "other"
    deep(home, 3000)
    (other / "folder").mkdir(parents=True)
    (other / "file").touch()
    other.chmod(0o755)
    (home / "link").symlink_to(other)
    Path(os.fsdecode(os.fsencode(home) + b"/\xff")).touch()
    (home / "shut" / "below").mkdir(parents=True)
    (home / "shut").chmod(0)
    os.mkfifo(home / "fifo")
    remove_tree(home)

    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert sorted(path.name for path in other.iterdir()) == ["file", "folder"]


def test_a_link_and_a_file_in_the_place_of_a_folder_are_removed_themselves(tmp_path: Path) -> None:
    """A program may put them there; nothing behind a link is touched, not even permissions."""
    other = tmp_path / "other"
    (other / "below").mkdir(parents=True)
    (other / "below").chmod(0o755)
    (tmp_path / "link").symlink_to(other)
    (tmp_path / "file").touch()
    for name in ("link", "file", "nothing"):
        remove_tree(tmp_path / name)

    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert (other / "below").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("mounted", ["top", "top/a/b"])
def test_what_is_mounted_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounted: str) -> None:
    """A rename that the system refuses is taken for a mount; all else is removed."""
    place = tmp_path / mounted
    place.mkdir(parents=True)
    (place / "precious").touch()
    (tmp_path / "top" / "other").mkdir(exist_ok=True)
    number = place.stat().st_ino
    rename = Path.rename

    def renamed(path: Path, target: Path) -> Path:
        if path.stat().st_ino == number:
            raise OSError(16, "Device or resource busy")
        return rename(path, target)

    monkeypatch.setattr(trees.Path, "rename", renamed)
    remove_tree(tmp_path / "top")

    (left,) = tmp_path.rglob("precious")
    assert mounted == "top" or not list(tmp_path.rglob("other"))
    assert left.parent.stat().st_ino == number


def test_a_folder_that_may_not_be_read_is_no_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in it must not be lost without a word; a folder that is gone by now has nothing in it."""
    (tmp_path / "top" / "shut").mkdir(parents=True)
    real = os.scandir

    def scandir(path: Path) -> object:
        if path.name == "shut":
            raise error
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    error: OSError = PermissionError(13, "Permission denied", str(tmp_path / "top" / "shut"))
    with pytest.raises(PermissionError, match="shut"):
        list(walk(tmp_path / "top"))
    error = FileNotFoundError(2, "No such file or directory", str(tmp_path / "top" / "shut"))
    assert [path for path, _, _ in walk(tmp_path / "top")] == [tmp_path / "top"]


@pytest.mark.parametrize("kind", ["missing", "pipe"])
def test_what_is_no_folder_cannot_be_searched(tmp_path: Path, kind: str) -> None:
    """A pipe in the place of a folder of cases is no folder without cases."""
    if kind == "pipe":
        os.mkfifo(tmp_path / kind)
    with pytest.raises(OSError, match=kind):
        list(walk(tmp_path / kind))
