"""No output of any command replaces an input or another output."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.cli._group import COMMANDS, cli
from conformance.cli._options import WrittenFile
from tests.cli.typed import conformance_

KEPT = b"what the user has\n"


@pytest.mark.parametrize(
    "line",
    [
        "replay-server kept.jsonl --log kept.jsonl -- true",
        "record --upstream 127.0.0.1:1 --faults kept.jsonl --out kept.jsonl -- true",
        "matrix kept.jsonl --markdown kept.jsonl",
        "matrix kept.jsonl --html kept.jsonl",
        "statement kept.jsonl --markdown kept.jsonl",
        "gate kept.jsonl --out kept.jsonl",
        "gate kept.jsonl --out ./kept.jsonl",
        "gate kept.jsonl --out linked.jsonl",
        "gate kept.jsonl --out same.jsonl",
        "report kept.jsonl --json kept.jsonl",
        "run --target kept.jsonl --log kept.jsonl",
        "replay kept.jsonl --log kept.jsonl",
        "run --log new --junit new",
    ],
)
def test_an_output_has_a_file_of_its_own(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same path, another one, a symbolic link or a hard link."""
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "kept.jsonl"
    kept.write_bytes(KEPT)
    Path("linked.jsonl").symlink_to(kept)
    os.link(kept, "same.jsonl")

    result = conformance_(*line.split())

    assert result.exit_code == 2
    assert "expected a file of its own, got that of" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.jsonl", "linked.jsonl", "same.jsonl"]
    assert kept.read_bytes() == KEPT


def test_the_words_of_a_program_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that `record` starts may name the recording."""
    monkeypatch.chdir(tmp_path)

    result = conformance_("record", "--upstream", "127.0.0.1:1", "--out", "said.log", "--", "test", "-e", "said.log")

    assert (result.exit_code, "a file of its own" in result.stderr) == (0, False)
    assert Path("said.log").exists()


def test_a_device_may_be_named_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no use for a report writes it there; the input is what is wrong here."""
    monkeypatch.chdir(tmp_path)

    result = conformance_("statement", os.devnull, "--markdown", os.devnull)

    assert "a file of its own" not in result.stderr


def test_every_output_is_declared_as_one() -> None:
    """An option that says that it writes a file has the type that the check looks for."""
    undeclared = []
    for name in COMMANDS:
        command = cli.get_command(None, name)  # type: ignore[arg-type]  # it asks nothing of the context
        assert command is not None
        for option in command.params:
            said = getattr(option, "help", None) or ""
            if said.startswith(("Write ", "Save ", "Store ", "The log; ")) and "FILE" in (option.metavar or ""):
                undeclared += [] if isinstance(option.type, WrittenFile) else [f"{name} {option.opts[0]}"]
    assert undeclared == []
