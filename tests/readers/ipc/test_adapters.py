"""Adapters: what their files say, and whether a program that was built may be started."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path

import pytest

from conformance.readers.ipc import Unavailable, adapters
from conformance.readers.ipc.adapters import (
    RECORD,
    Adapter,
    AdapterError,
    build_directory,
    builds,
    load_adapter,
    ready_command,
    shipped,
)

FILE = 'name = "far"\ntitle = "Far Arrow"\nlanguage = "Far"\ncommand = ["far"]\n'


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Adapter:
    """An adapter, and an empty place for what is built."""
    monkeypatch.setenv("CONFORMANCE_ADAPTERS", str(tmp_path / "built"))
    here = tmp_path / "adapters" / "far"
    here.mkdir(parents=True)
    (here / "adapter.toml").write_text(FILE)
    return load_adapter(here / "adapter.toml")


def build(adapter: Adapter, tmp_path: Path, text: str) -> Path:
    """Leave the record of a build."""
    record = build_directory(adapter) / RECORD
    assert record.is_relative_to(tmp_path / "built")
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(text)
    return record


def test_file(adapter: Adapter, tmp_path: Path) -> None:
    """The file names the adapter; what it says on building is left to the builder."""
    assert adapter == Adapter("far", "Far Arrow", "Far", tmp_path / "adapters" / "far")


@pytest.mark.parametrize(
    ("text", "said"),
    [("name = ", "Invalid value"), ('name = "far"\n', "expected title to be a text but got None")],
)
def test_wrong_file(tmp_path: Path, text: str, said: str) -> None:
    """A file that says too little names the key."""
    file = tmp_path / "adapter.toml"
    file.write_text(text)

    with pytest.raises(AdapterError, match=said):
        load_adapter(file)


def test_built(adapter: Adapter, tmp_path: Path) -> None:
    """The record of the build has the command."""
    build(adapter, tmp_path, json.dumps({"command": ["/built/far", "--fast"]}))

    assert ready_command(adapter) == ["/built/far", "--fast"]


@pytest.mark.parametrize("text", [None, "", "[]", "{}"])
def test_not_built(adapter: Adapter, tmp_path: Path, text: str | None) -> None:
    """Without a record, or with one of an unfinished build, the reason says what to run."""
    if text is not None:
        build(adapter, tmp_path, text)

    with pytest.raises(Unavailable, match="run python -m adapters far, which says what is missing"):
        ready_command(adapter)


def test_built_of_something_else(adapter: Adapter, tmp_path: Path) -> None:
    """A build of other sources is not what would be judged; with the same content again, it is."""
    build(adapter, tmp_path, json.dumps({"command": ["/built/far"]}))
    file = adapter.here / "adapter.toml"

    file.write_text(FILE + "# changed\n")
    with pytest.raises(Unavailable, match=r"not built in .*: run python -m adapters far"):
        ready_command(adapter)
    file.write_text(FILE)

    assert ready_command(adapter) == ["/built/far"]


def test_built_of_shared_files_that_changed(adapter: Adapter, tmp_path: Path) -> None:
    """Shared files are a part of each adapter: a change of them makes a build outdated."""
    shared = tmp_path / "adapters" / "shared" / "frames.txt"
    shared.parent.mkdir()
    shared.write_text("old")
    sharing = dataclasses.replace(adapter, sources=("../shared/*.txt",))
    build(sharing, tmp_path, json.dumps({"command": ["/built/far"]}))

    assert ready_command(sharing) == ["/built/far"]
    shared.write_text("new")
    with pytest.raises(Unavailable, match="run python -m adapters far"):
        ready_command(sharing)


def test_checkouts_share_a_build(adapter: Adapter, tmp_path: Path) -> None:
    """The place of the sources does not matter, unless the command contains it; neither do their times."""
    other = tmp_path / "other"
    shutil.copytree(adapter.here, other, copy_function=shutil.copyfile)
    copied = load_adapter(other / "adapter.toml")

    assert build_directory(copied) == build_directory(adapter)
    for checkout in (adapter, copied):
        (checkout.here / "adapter.toml").write_text(FILE.replace('["far"]', '["{here}/far"]'))
    assert build_directory(copied) != build_directory(adapter)


@pytest.mark.parametrize("text", [FILE + 'build = ["{python}"]\n', FILE.replace('["far"]', '["{python}"]')])
def test_another_interpreter_has_a_build_of_its_own(
    adapter: Adapter, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that an interpreter built or runs is bound to its libraries."""
    (adapter.here / "adapter.toml").write_text(text)
    before = build_directory(adapter)
    monkeypatch.setattr("sys.executable", "/another/python")

    assert build_directory(adapter) != before


def test_builds_are_in_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Unless a variable names another directory."""
    monkeypatch.delenv("CONFORMANCE_ADAPTERS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert builds() == tmp_path / "arrow-conformance" / "adapters"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert builds() == tmp_path / ".cache" / "arrow-conformance" / "adapters"


def test_sources_are_a_list(tmp_path: Path) -> None:
    """Another form of ``sources`` is named."""
    file = tmp_path / "adapter.toml"
    file.write_text('name = "far"\ntitle = "Far Arrow"\nlanguage = "Far"\nsources = "adapter.go"\n')

    with pytest.raises(AdapterError, match=r"expected sources to be a list of texts but got 'adapter\.go'"):
        load_adapter(file)


def test_shipped() -> None:
    """The adapters that ship with the suite are found, each under the name that its file gives."""
    found = shipped()

    assert {name: adapter.name for name, adapter in found.items()} == {name: name for name in found}


def test_inside_an_installed_package(adapter: Adapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is given with the directory that Python would not find otherwise."""
    monkeypatch.setattr(adapters, "_PACKAGE", tmp_path)

    with pytest.raises(Unavailable, match=f"run PYTHONPATH={re.escape(str(tmp_path))} python -m adapters far"):
        ready_command(adapter)


@pytest.mark.parametrize("name", ["../far", "a/b", ".far", "far\\n", "a" * 101])
def test_a_name_is_no_path(tmp_path: Path, name: str) -> None:
    """Logs and reports are named after it."""
    file = tmp_path / "adapter.toml"
    file.write_text(FILE.replace('"far"', f'"{name}"', 1))

    with pytest.raises(AdapterError, match="expected a name of letters, digits"):
        load_adapter(file)
