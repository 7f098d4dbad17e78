"""Adapters: what their files say, and whether a program that was built may be started."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from pathlib import Path

import pytest

from conformance.readers.ipc import Unavailable, adapters
from conformance.readers.ipc.adapters import Adapter, AdapterError, load_adapter, ready_command, shipped

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
    record = tmp_path / "built" / "far" / "built.json"
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
    """A program older than its sources is not what would be judged."""
    record = build(adapter, tmp_path, json.dumps({"command": ["/built/far"]}))
    changed = (adapter.here / "adapter.toml").stat().st_mtime
    os.utime(record, (changed - 10, changed - 10))

    with pytest.raises(Unavailable, match=r"built before adapter\.toml changed: run python -m adapters far"):
        ready_command(adapter)


def test_built_of_shared_files_that_changed(adapter: Adapter, tmp_path: Path) -> None:
    """Shared files are a part of each adapter: a change of them makes a build outdated."""
    shared = tmp_path / "adapters" / "shared" / "frames.txt"
    shared.parent.mkdir()
    shared.write_text("new")
    record = build(adapter, tmp_path, json.dumps({"command": ["/built/far"]}))
    later = record.stat().st_mtime + 10
    os.utime(shared, (later, later))

    assert ready_command(adapter) == ["/built/far"]
    with pytest.raises(Unavailable, match=r"built before frames\.txt changed: run python -m adapters far"):
        ready_command(dataclasses.replace(adapter, sources=("../shared/*.txt",)))


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
