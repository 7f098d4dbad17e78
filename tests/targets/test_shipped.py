"""Target files that ship with the suite have names; a path is still a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.disk.files import data_file
from conformance.protocol import protocol_files
from conformance.targets import TargetError, load_target
from conformance.targets.shipped import find_target, shipped_targets
from tests.targets.conftest import ROOT


def test_every_file_of_the_folder_has_its_name() -> None:
    """The stem of the file, which is also the name in it; a protocol may bring files in its own folder."""
    assert {name: load_target(name).name for name in shipped_targets()} == {
        path.stem: path.stem for path in (*(ROOT / "targets").glob("*.toml"), *protocol_files("*.toml"))
    }


def test_a_name_is_found_from_any_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From above the folder, the path is shown as one would type it there."""
    folder = data_file("targets")
    monkeypatch.chdir(folder.parent)
    near = find_target("reference")
    monkeypatch.chdir(tmp_path)

    assert near == Path("targets/reference.toml")
    assert find_target("reference") == folder / "reference.toml"


@pytest.mark.parametrize("path", ["reference.toml", "./reference", "targets/reference", "/dev/null"])
def test_a_path_is_not_a_name(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suffix or a directory makes a path, whether or not a file is there."""
    monkeypatch.chdir(tmp_path)

    assert find_target(path) == Path(path)


def test_a_file_without_a_suffix_wins_over_the_name_but_a_directory_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's file is the one that they name; a directory cannot be a target file."""
    monkeypatch.chdir(tmp_path)
    Path("pyarrow").mkdir()
    Path("reference").write_text("")

    assert find_target("reference") == Path("reference")
    assert find_target("pyarrow") == data_file("targets") / "pyarrow.toml"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("reverence", "did you mean reference or flight-reference or storage-write-reference?"),
        ("bqemulator", "did you mean bqemulator-1.4.0 or bqemulator-1.0.1 or bqemulator-1.0.0?"),
        ("xyzzy", "`conformance list targets` lists them all"),
    ],
)
def test_an_unknown_name_says_which_there_are(name: str, hint: str) -> None:
    """The nearest ones, else the command that lists them."""
    with pytest.raises(TargetError) as raised:
        find_target(name)

    assert str(raised.value) == f"no target is called {name!r}; {hint}"
