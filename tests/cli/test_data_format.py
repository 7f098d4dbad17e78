"""``conformance run --data-format``: the same cases in Arrow and in Avro, under ids that other commands know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.engine.events import CaseJudged, RunStarted
from conformance.engine.log import read_log
from conformance.engine.recount import recount
from tests.cli.typed import conformance_


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for what the commands write."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_both_put_each_case_twice(folder: Path) -> None:
    """Written and drawn cases: the log and the reports name each form, and the log is that of the run as it says."""
    done = conformance_(
        "run", "--data-format", "both", "--select", "rows.one-row", "--cases", "1", "--scenarios", "1", "--no-readers",
        "--log", "run.jsonl", "--json", "run.json",
    )  # fmt: skip

    assert done.exit_code == 0, done.output
    assert "[--data-format both --select rows.one-row]" in done.output
    events = list(read_log(folder / "run.jsonl"))
    assert isinstance(events[0], RunStarted)
    assert [event.case_id for event in events if isinstance(event, CaseJudged)] == [
        f"{name}{form}"
        for name in ("rows.one-row", "generated.server.s0.i0", "scenario.s0.i0")
        for form in ("", "@avro")
    ]
    assert not list(recount(events))
    assert json.loads((folder / "run.json").read_text())["run"]["form"] == "both"


def test_without_the_option_a_run_is_in_arrow(folder: Path) -> None:
    """The results of earlier runs can be compared with it."""
    conformance_("run", "--select", "rows.one-row", "--no-readers", "--log", "run.jsonl")

    start = next(iter(read_log(folder / "run.jsonl")))
    assert isinstance(start, RunStarted)
    assert (start.cases, start.form) == (("rows.one-row",), "arrow")


@pytest.mark.parametrize("name", ["rows.one-row@avro", "scenario.s0.i1@avro"])
def test_a_case_is_replayed_by_its_id(name: str) -> None:
    """The command that a report prints for a failure."""
    done = conformance_("replay", name, "--no-readers")

    assert done.exit_code == 0, done.output
    assert "avro" in done.output
    assert "PASSED" in done.output


def test_a_case_is_shown_by_its_id() -> None:
    """Its steps ask for Avro."""
    assert 'data_format="AVRO"' in conformance_("show", "rows.one-row@avro").output


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("pyarrow", "expected --data-format with a server, got it with pyarrow, which takes no requests"),
        ("flight-reference", "expected no --data-format avro with flight-reference: cases of flight have no such form"),
    ],
)
def test_a_target_whose_cases_have_no_such_form_is_refused(target: str, said: str) -> None:
    """Nothing would be asked."""
    done = conformance_("run", "--target", target, "--data-format", "avro")

    assert done.exit_code == 2
    assert said in done.output + done.stderr
