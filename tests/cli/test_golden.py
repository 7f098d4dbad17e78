"""``conformance golden`` as a user types it: differences are reported, and each set has a folder of its own."""

from __future__ import annotations

from pathlib import Path

import click.testing
import pytest

from conformance.cli._group import cli
from conformance.disk.archives import unpack
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


def test_a_folder_without_the_set_is_status_2(tmp_path: Path) -> None:
    """The text says where the vectors were looked for."""
    result = golden(tmp_path, "--check")

    assert result.exit_code == 2
    assert "expected golden vectors in" in result.output
