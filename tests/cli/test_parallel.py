"""``conformance run --parallel``: shards at the same time give the same report as one process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import conformance
from conformance.cli._group import cli

SELECT = ("--select", "types.int64", "--select", "types.string", "--select", "types.bool*", "--no-readers")


def judged(path: Path) -> dict[str, Any]:
    """The clauses and deviations of a JSON report."""
    report = json.loads(path.read_text())
    return {key: report[key] for key in ("clauses", "deviations", "outcomes", "failed", "complete")}


def run(*words: str) -> tuple[int, str]:
    """Status and everything printed."""
    done = CliRunner().invoke(cli, ["run", *words])
    return done.exit_code, done.output + done.stderr


def test_parts_beside_each_other_judge_as_one_run_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes with a server each come to the report of one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(conformance.__file__).parents[1]))  # for servers, in a working copy

    one = run(*SELECT, "--json", "one.json")
    two = run(*SELECT, "--parallel", "2", "--json", "two.json")

    assert (one[0], two[0]) == (0, 0), one[1] + two[1]
    assert judged(tmp_path / "two.json") == judged(tmp_path / "one.json")
    assert len(json.loads((tmp_path / "two.json").read_text())["run"]["cases"]) > 2


def test_what_a_part_cannot_use_is_told_as_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unusable input is refused once, with status 2."""
    monkeypatch.chdir(tmp_path)

    status, said = run("--select", "no.such", "--parallel", "2")

    assert status == 2
    assert "no case matches 'no.such'" in said


def test_a_part_is_not_parted_again() -> None:
    """``--parallel`` with ``--shard`` is a mistake, and named."""
    status, said = run("--shard", "1/2", "--parallel", "2")

    assert status == 2
    assert "expected --parallel or --shard, got both" in said
