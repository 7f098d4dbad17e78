"""``conformance gate`` and ``run --gate``: what held in each of several runs is not lost unnoticed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import click.testing
import pytest

from conformance.report.gatefile import read_gate
from tests.cli.typed import conformance_, run

READERS = ("--reader", "pyarrow.slots", "--reader", "pyarrow.stream")
SERVER = """\
name = "mine"
kind = "server"

[start]
command = ["{python}", "-m", "conformance.reference", "--host", "{host}", "--project", "{project}"MORE]

[ready]
grpc_event = "grpc.listen"
rest_event = "rest.listen"
"""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a correct server, the gate of two runs of it, and a run of its faulty successor."""
    place = tmp_path_factory.mktemp("gate")
    (place / "good.toml").write_text(SERVER.replace("MORE", ""))
    (place / "faulty.toml").write_text(SERVER.replace("MORE", ', "--mutant", "batch.end-of-stream"'))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for name in ("1.jsonl", "2.jsonl"):
            assert judged("good.toml", "--log", name).exit_code == 0
        assert conformance_("gate", "1.jsonl", "2.jsonl").exit_code == 0
        assert judged("faulty.toml", "--log", "faulty.jsonl").exit_code == 1
    return place


def judged(target: str, *arguments: str) -> click.testing.Result:
    """Two cases, read by two readers, of which one stops at an end-of-stream marker."""
    cases = ("--select", "session.plain", "--select", "types.int64")
    return conformance_("run", "--target", target, "--quiet", "--no-smoke", *cases, *READERS, *arguments)


@pytest.fixture
def here(good: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, as the current directory."""
    monkeypatch.chdir(good)
    return good


def test_an_equal_run_passes(here: Path) -> None:  # it is the current directory
    """Every cell holds, and the status is 0."""
    result = judged("good.toml", "--gate", "gate.toml", "--log", "3.jsonl")

    assert result.exit_code == 0, result.output
    assert "GATE PASSED: all " in result.output


def test_a_faulty_server_fails(here: Path) -> None:
    """Its clauses that hold no longer are named, and those of the reader that loses rows; the other reader's hold."""
    result = conformance_("report", "faulty.jsonl", "--gate", "gate.toml")
    broken = [line for line in result.output.splitlines() if line.startswith("no longer")]

    assert result.exit_code == 1
    assert any(line.startswith("no longer  target: framing.batch-without-end-of-stream: failed: ") for line in broken)
    assert any(line.startswith("no longer  pyarrow.stream: readers.find-the-values: failed: ") for line in broken)
    assert not any("pyarrow.slots: " in line.partition("failed")[0] for line in broken)
    assert "GATE FAILED: " in result.output
    assert {(cell.by, cell.clause) for cell in read_gate(here / "gate.toml").cells} >= {
        (by, "readers.find-the-values") for by in ("pyarrow.slots", "pyarrow.stream")
    }


def test_a_failure_outside_the_gate_passes(here: Path) -> None:
    """A gate of a faulty server holds what that server is right about, and no more."""
    made = conformance_("gate", "faulty.jsonl", "--out", "of-faulty.toml")
    left_out = tomllib.loads((here / "of-faulty.toml").read_text())["left_out"]

    assert made.exit_code == 0
    assert conformance_("report", "faulty.jsonl").exit_code == 1
    assert conformance_("report", "faulty.jsonl", "--gate", "of-faulty.toml").exit_code == 0
    assert {"framing.batch-without-end-of-stream", "readers.find-the-values"} <= {
        clause for item in left_out if item["reason"].startswith("failed in run 1: ") for clause in item["clauses"]
    }


def test_a_clause_that_is_no_longer_judged_fails(user: Path) -> None:  # it is the current directory
    """A run that leaves something out does not pass by that."""
    assert run("--target", "honest.toml", "--log", "1.jsonl").exit_code == 0
    assert conformance_("gate", "1.jsonl").exit_code == 0
    whole = run("--target", "honest.toml", "--gate", "gate.toml")
    narrow = run("--target", "honest.toml", "--gate", "gate.toml", "--clause", "framing.*")

    assert (whole.exit_code, narrow.exit_code) == (0, 1)
    assert "not judged: not chosen: " in narrow.output


def test_input_that_is_no_gate_is_one_sentence(here: Path) -> None:
    """Before anything is judged; and no gate is made of one run given twice."""
    (here / "no.toml").write_text("x = 1\n")
    wrong: Mapping[str, click.testing.Result] = {
        "no.toml: expected a gate file, as `conformance gate` writes it": judged("good.toml", "--gate", "no.toml"),
        "expected different runs, but 1.jsonl and 1.jsonl": conformance_("gate", "1.jsonl", "1.jsonl"),
    }

    for said, result in wrong.items():
        assert result.exit_code == 2
        assert said in result.output
        assert len(result.output.strip().splitlines()) == 1


def test_a_gate_of_another_target_is_refused(here: Path, user: Path) -> None:
    """The sentence names the file and both targets."""
    result = run("--target", str(user / "honest.toml"), "--gate", str(here / "gate.toml"))

    assert result.exit_code == 2
    assert "expected a run of mine, of which the gate is, got one of honest" in result.output


def test_a_file_that_is_no_report_is_not_read_to_its_end(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be hundreds of gigabytes long: its digest is made after its content was accepted."""
    (user / "log.jsonl").write_bytes(b"\0" * 1000)
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("all of it was read"))

    result = conformance_("gate", "log.jsonl")

    assert result.exit_code == 2
    assert result.output.startswith("Error: ")


def test_a_reader_that_goes_away_does_not_change_the_status(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate decides, as where its lines are read."""

    def unread(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("conformance.cli._outputs.click.echo", unread)

    assert conformance_("report", "1.jsonl", "--gate", "gate.toml").exit_code == 0
    assert conformance_("report", "faulty.jsonl", "--gate", "gate.toml").exit_code == 1


def test_a_file_of_the_user_under_the_default_name_stays(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody named it; a gate is made again, and so is a file that is named."""
    (here / "own").mkdir()
    monkeypatch.chdir(here / "own")
    Path("gate.toml").write_text("mine = 1\n", encoding="utf-8")

    refused = conformance_("gate", "../faulty.jsonl")

    assert refused.exit_code == 2
    assert refused.stderr.endswith("name another file with --out, or this one to replace it\n")
    assert Path("gate.toml").read_text(encoding="utf-8") == "mine = 1\n"
    assert conformance_("gate", "../faulty.jsonl", "--out", "gate.toml").exit_code == 0
    assert conformance_("gate", "../faulty.jsonl").exit_code == 0
