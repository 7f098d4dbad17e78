"""Tests of ``conformance history``, on files and logs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli._group import cli
from tests.history.test_checker import ANOMALIES


def history(*arguments: str) -> tuple[int, str]:
    """The status and the output of the command."""
    ended = CliRunner().invoke(cli, ["history", *arguments])
    return ended.exit_code, ended.output


@pytest.fixture
def lost(tmp_path: Path) -> str:
    """A file with a history that loses a row."""
    from conformance.history.files import as_lines  # noqa: PLC0415

    path = tmp_path / "calls.jsonl"
    path.write_text("\n".join(map(json.dumps, as_lines(ANOMALIES["a row that was there does not come"][1]))))
    return str(path)


def test_an_anomaly_is_printed_with_its_calls(lost: str) -> None:
    """The name, the witness and what still holds; status 1."""
    status, printed = history(lost)

    assert status == 1
    assert printed.startswith("LOST ROW in a: row 3, which call 0 inserted before a was created, does not come\n")
    assert "     2  4..5  read a/0: 0-2\n" in printed
    assert "STILL HOLDS\n" in printed
    assert printed.endswith("1 anomaly in 3 calls with 3 rows\n")


def test_the_calls_can_be_printed(lost: str) -> None:
    """They are the lines of the file again; nothing is judged."""
    status, printed = history("--calls", lost)

    assert status == 0
    given = Path(lost).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in printed.splitlines()] == [json.loads(line) for line in given]


def test_printed_calls_move_no_cursor(tmp_path: Path) -> None:
    """A history may come from anybody, and so may the names in it."""
    call = {"op": "append", "begin": 0, "end": 1, "rows": [0], "table": "\x9b2J\u202e##[error]"}
    (tmp_path / "calls.jsonl").write_text(json.dumps(call))
    status, printed = history("--calls", str(tmp_path / "calls.jsonl"))

    assert status == 0
    assert printed.isascii()
    assert "##[" not in printed
    assert json.loads(printed) == call


def test_a_file_without_a_history_is_unusable(tmp_path: Path) -> None:
    """One sentence, and status 2."""
    path = tmp_path / "empty.jsonl"
    path.write_text("{}\n")

    status, printed = history(str(path))

    assert status == 2
    assert printed.startswith("Error: ")
    assert len(printed.splitlines()) == 1
