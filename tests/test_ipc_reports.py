"""The published reports on readers and writers of Arrow IPC, and the program that makes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.readers.ipc.implementations import IPC_READERS, IPC_WRITERS
from conformance.records import Outcome
from conformance.report.document import Report
from conformance.report.escaping import in_markdown
from conformance.report.reading import read_report
from publish import ipc
from tests.test_reports import MACHINE, REPORTS

PUBLISHED = sorted([*(REPORTS / "readers").glob("*.json"), *(REPORTS / "writers").glob("*.json")])
NAMES = [path.relative_to(REPORTS).as_posix() for path in PUBLISHED]


def published(role: str, name: str) -> Report:
    """The published report on one implementation."""
    return read_report(REPORTS / role / f"{name}.json")


def test_every_implementation_has_its_report() -> None:
    """One for each reader and writer that ships."""
    assert (
        sorted([f"readers/{name}.json" for name in IPC_READERS] + [f"writers/{name}.json" for name in IPC_WRITERS])
        == NAMES
    )


@pytest.mark.parametrize("path", PUBLISHED, ids=NAMES)
def test_a_published_report_is_whole(path: Path) -> None:
    """The run reached its end, the suite did not break, and every finding has its replay."""
    report = read_report(path)
    command = "read --reader" if path.parent.name == "readers" else "write --writer"

    assert report.complete
    assert report.broke == ()
    assert report.run.select in ((), ("*",)), "every input"
    assert all(item.replay.startswith(f"conformance {command} {path.stem} ") for item in report.deviations)


@pytest.mark.parametrize("path", PUBLISHED, ids=NAMES)
def test_a_published_report_is_small(path: Path) -> None:
    """The ids of the cases, and evidence for the first of each deviation alone."""
    assert path.stat().st_size < 1_000_000


@pytest.mark.parametrize("role", ["readers", "writers"])
def test_the_published_files_name_no_machine(role: str) -> None:
    """The same run elsewhere makes the same reports."""
    for path in (REPORTS / role).iterdir():
        assert MACHINE.findall(path.read_text(encoding="utf-8")) == [], path.name


@pytest.mark.parametrize("role", ["readers", "writers"])
def test_the_matrix_has_them_all(role: str) -> None:
    """A table in Markdown."""
    table = (REPORTS / role / "README.md").read_text(encoding="utf-8")

    for path in (REPORTS / role).glob("*.json"):
        assert f"| {in_markdown(read_report(path).run.target)} |" in table


def test_validated_pyarrow_survives_everything() -> None:
    """The reader that the project fuzzes continuously dies of none of the inputs."""
    outcomes = {item.id: item.outcome for item in published("readers", "pyarrow-validated").clauses}

    assert outcomes["reader.survives"] is Outcome.PASS


def test_reports_of_an_earlier_run_do_not_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a command leaves none, that is said, and the old ones are gone."""
    (tmp_path / "readers").mkdir()
    (tmp_path / "readers" / "pyarrow.json").write_text("{}")
    monkeypatch.setattr(ipc, "run", lambda *_arguments, **_options: 2)

    assert ipc.judge("read", tmp_path, ()) == ["read ended with status 2 and 0 reports"]
    assert list((tmp_path / "readers").iterdir()) == []


def test_an_unfit_report_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was cut short is named with its implementation."""
    report = {"complete": False, "failed": True, "broke": []}

    def run(*arguments: str, **_: str) -> int:
        if arguments[0] == "read":
            (tmp_path / "readers" / "polars.json").write_text(json.dumps(report))
        return 0

    monkeypatch.setattr(ipc, "run", run)
    monkeypatch.setattr(ipc, "write_badges", lambda _shown: None)

    assert ipc.judge("read", tmp_path, ()) == ["polars: the run was cut short"]
