"""``conformance drift`` as a user types it: what it prints, writes, and the status it ends with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click.testing
import pyarrow as pa
import pytest

from conformance.cli._group import cli
from conformance.drift.versions import Version
from tests.drift import standins

FEW = ("--share", "0.01", "--mutants", "10")


@pytest.fixture(scope="module", autouse=True)
def _unchanged_once() -> Iterator[None]:
    """The version without a change answers each job once."""
    with standins.unchanged_once():
        yield


def drift(*arguments: str) -> click.testing.Result:
    """The result of one command line."""
    return click.testing.CliRunner().invoke(cli, ["drift", *arguments])


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two versions, of which the newer publishes memory from beyond its buffers in one case."""
    changes = {"1.0.0": standins.SAME, "2.0.0": standins.SPILLS}

    def find(name: str, **_: object) -> Version:
        return standins.version(tmp_path, name, changes[name])

    monkeypatch.setattr("conformance.cli.drift.find_version", find)


@pytest.mark.usefixtures("versions")
def test_drift_that_matters_is_status_1(tmp_path: Path) -> None:
    """A difference that matters is reported, saved and replayable; once it is known, the status is 0."""
    report, saved = tmp_path / "drift.json", tmp_path / "saved"
    one = ("--from", "1.0.0", "--to", "2.0.0", "--case", "primitive.001/stream")

    first = drift(*one, "--json", str(report), "--html", str(tmp_path / "drift.html"), "--save", str(saved))
    second = drift(*one, "--known", str(report))

    assert first.exit_code == 1, first.output
    assert "memory published: 1 case (write primitive)" in first.output
    assert json.loads(report.read_text(encoding="utf-8"))["groups"][0]["cases"] == ["primitive.001/stream"]
    assert (tmp_path / "drift.html").exists()
    assert sorted(path.name for path in saved.iterdir()) == [
        "primitive.001_stream.installed-1.0.0",
        "primitive.001_stream.installed-2.0.0",
    ]
    assert second.exit_code == 0, second.output
    assert second.output.endswith("1 more are known\n")


@pytest.mark.usefixtures("versions")
def test_one_case_without_drift_is_status_0() -> None:
    """Where nothing that matters changed, the status is 0."""
    result = drift("--versions", "1.0.0", "2.0.0", "--case", "primitive.000/stream")

    assert result.exit_code == 0, result.output
    assert result.output.startswith("SAFE: ")


@pytest.mark.usefixtures("versions")
def test_own_files_are_read_and_written_again(tmp_path: Path) -> None:
    """A user's file is a case of its own; what cannot be compared is named."""
    mine = tmp_path / "mine"
    mine.mkdir()
    table = pa.table({"n": [1, None, 3]})
    with pa.ipc.new_file(mine / "orders.arrow", table.schema) as file:
        file.write_table(table)
    (mine / "notes.csv").write_text("a,b\n1,2\n", encoding="utf-8")

    result = drift("--from", "1.0.0", "--to", "2.0.0", "--files", str(mine), "--case", "file.0000.orders/file")

    assert result.exit_code == 0, result.output
    assert result.output.startswith("SAFE: ")
    assert re.search(r"^write your files +=$", result.output, re.MULTILINE)
    assert "notes.csv: CSV, no Arrow data\n" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", "24.0.0"), "expected at least two versions"),
        (("--from", "soon", "--to", "24.0.0"), "expected a version of pyarrow such as 24.0.0"),
        (("--from", "24.0.0", "--to", "26.0.1", "--record", *FEW), "digests cover all cases"),
        (("--from", "24.0.0", "--to", "26.0.1", "--check", "--budget", "60s"), "digests cover all cases"),
        (("--from", "24.0.0", "--to", "26.0.1", "--budget", "soon"), "expected a time such as 60s, 2m or 1h"),
        (("--from", "24.0.0", "--to", "./pyarrow.whl"), "expected the path of a wheel of pyarrow"),
        (("--from", "24.0.0", "--to", "26.0.1", "--files", "nowhere"), "nowhere"),
    ],
)
def test_unusable_input_is_status_2(arguments: tuple[str, ...], said: str) -> None:
    """Input that cannot be compared is refused in one sentence."""
    result = drift(*arguments)

    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1
