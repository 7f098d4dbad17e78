"""Reports are read back as they were written, and anything else is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.report import reading
from conformance.report.reading import ReportError, read_report
from tests.engine.samples import failing, passing
from tests.report.samples import report_of, save_report


def test_a_report_reads_back(tmp_path: Path) -> None:
    """Nothing is lost on the way."""
    verdicts = [failing("a", "framing.x", "3 messages"), passing("b", "rows.x")]

    assert read_report(save_report(tmp_path / "r.json", *verdicts)) == report_of(*verdicts)


def test_a_deviation_of_no_clause_is_refused(tmp_path: Path) -> None:
    """Pages show each one under its clause."""
    path = save_report(tmp_path / "r.json", failing("a", "framing.x", "3 messages"))
    data = json.loads(path.read_text())
    data["deviations"][0]["clauses"] = []
    path.write_text(json.dumps(data))

    with pytest.raises(ReportError, match="expected at least one clause"):
        read_report(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected a JSON report, as `conformance run --json` writes it"),
        ("[]", "expected a JSON report of schema version 1, but got None"),
        (json.dumps({"schema_version": 9}), "expected a JSON report of schema version 1, but got 9"),
        (json.dumps({"schema_version": 1}), "make the report again from the run's log"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """With the file's name."""
    path = tmp_path / "r.json"
    path.write_text(text)

    with pytest.raises(ReportError) as error:
        read_report(path)

    assert message in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("surplus", [1, 1000])
def test_a_report_is_read_up_to_a_bound(tmp_path: Path, surplus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of just that size is read; a larger one is not taken into memory to find that it is none."""
    monkeypatch.setattr(reading, "LARGEST", 1 << 20)
    path = save_report(tmp_path / "r.json", passing("a", "framing.x"))
    path.write_text(path.read_text().ljust(1 << 20))

    assert read_report(path) == report_of(passing("a", "framing.x"))
    with path.open("a") as file:
        file.write(" " * surplus)
    with pytest.raises(ReportError, match="expected a JSON report of at most 1 MiB, but got more"):
        read_report(path)
