"""The published reports: whole, small, free of the machine that made them, and saying what is known to be true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from conformance.records import Outcome
from conformance.report.document import Report
from conformance.report.reading import read_report
from publish import emulators
from publish.emulators import MATRICES, complaints

REPORTS = Path(__file__).parent.parent / "reports"
MACHINE = re.compile(r"(?<![\w.])/(?:tmp|root|home|work|var|Users|private)/|127\.0\.0\.1:\d|localhost:\d")
"""Paths and ports of one machine: they would differ in every run, and are nobody's business."""


PUBLISHED: Final = [f"{folder}/{name}".lstrip("/") for folder, names in MATRICES.items() for name in names]
"""The reports on targets, below the folder of reports."""


def published(name: str) -> Report:
    """The published JSON report on one target."""
    return read_report(REPORTS / f"{name}.json")


def outcome(name: str, clause: str) -> Outcome:
    """One clause in a published report."""
    return next(item.outcome for item in published(name).clauses if item.id == clause)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_report_is_whole(name: str) -> None:
    """The run reached its end, the suite did not break, and every failure has its replay."""
    report = published(name)

    assert report.complete
    assert report.broke == ()
    assert all(item.replay.startswith("conformance replay ") for item in report.deviations)


@pytest.mark.parametrize(
    "path", sorted(path for path in REPORTS.rglob("*") if path.is_file()), ids=lambda path: path.name
)
def test_a_published_file_names_no_machine(path: Path) -> None:
    """The same run elsewhere makes the same report."""
    assert MACHINE.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_report_is_small(name: str) -> None:
    """Evidence belongs to the first case of a deviation alone."""
    assert (REPORTS / f"{name}.json").stat().st_size < 1_000_000


@pytest.mark.parametrize("name", ["reference", "flight/flight-reference"])
def test_the_reference_passes(name: str) -> None:
    """The suite can be passed."""
    assert not published(name).failed


@pytest.mark.parametrize(
    ("name", "clause", "expected"),
    [
        ("bqemulator-1.0.0", "framing.batch-single-message", Outcome.FAIL),
        ("bqemulator-1.0.1", "framing.batch-single-message", Outcome.PASS),
        ("bqemulator-1.4.0", "framing.batch-single-message", Outcome.PASS),
        ("bqemulator-1.0.0", "framing.schema-without-end-of-stream", Outcome.FAIL),
        ("bqemulator-1.0.1", "framing.schema-without-end-of-stream", Outcome.FAIL),
    ],
)
def test_known_defects_and_repairs_show(name: str, clause: str, expected: Outcome) -> None:
    """Version 1.0.1 sends one message per batch; the end marker behind its schema stayed."""
    assert outcome(name, clause) is expected


def test_the_latest_emulator_is_judged_completely() -> None:
    """No error of the suite, no hang, and far more deviations than a glance finds."""
    report = published("bqemulator-1.4.0")
    outcomes = {item.outcome for item in report.outcomes}

    assert not outcomes & {Outcome.ERROR, Outcome.HANG}
    assert sum(item.outcome is Outcome.FAIL for item in report.deviations) > 20


@pytest.mark.parametrize("folder", MATRICES)
def test_the_matrix_has_them_all(folder: str) -> None:
    """One page for every published report."""
    text = (REPORTS / folder / "index.html").read_text(encoding="utf-8")

    assert all(f'href="{name}.json"' in text for name in MATRICES[folder])


def test_an_unfit_report_is_not_published() -> None:
    """Cut short, broken, or a reference that deviates."""
    report: dict[str, object] = {"complete": False, "failed": True, "broke": ["Traceback"]}

    assert complaints(report, perfect=True) == [
        "the run was cut short",
        "the suite itself broke on a case",
        "the suite's own server deviates",
    ]
    assert complaints(report | {"complete": True, "broke": []}, perfect=False) == []


class Commands:
    """Commands whose runs leave logs, and whose reports are ``reports`` in their order; all end with ``status``."""

    def __init__(self, *reports: str, status: int = 1) -> None:
        self._reports = list(reports)
        self._status = status

    def __call__(self, *arguments: str) -> tuple[int, str]:
        """One command."""
        if arguments[0] == "run" and self._reports:
            emulators.STATE.mkdir(exist_ok=True)
            (emulators.STATE / "mine.jsonl").touch()
        if arguments[0] == "report":
            Path(arguments[-1]).write_text(self._reports.pop(0))
        return (0, DIFFERENCE) if arguments[0] == "diff" else (self._status * (arguments[0] == "run"), "")


FIT: Final = '{"complete": true, "failed": true, "clauses": []}'
CUT: Final = '{"complete": false, "failed": true, "clauses": []}'
OTHER: Final = (
    '{"complete": true, "failed": true, "clauses": [{"id": "a.x", "verdicts": [{"outcome": "fail", "count": 1}]}]}'
)
DIFFERENCE: Final = '{"clauses": [], "new_deviations": [], "gone_deviations": []}'


@pytest.mark.parametrize(
    ("ran", "wrong"),
    [
        ((), ["mine: the run ended with status 1 and without a report"]),
        ((CUT,), ["mine: the run was cut short"]),
        ((FIT, CUT), ["mine, second run: the run was cut short"]),
        ((FIT, OTHER), ["mine, second run: a.x had the verdicts None and has {'fail': 1}"]),
        ((FIT, FIT), []),
    ],
    ids=["no-report", "cut-short", "second-cut-short", "unequal", "equal"],
)
def test_a_report_stays_until_two_runs_agree(
    ran: tuple[str, ...], wrong: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a log nor a report of an earlier run replaces it, nor is either taken for that of this run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(emulators, "conformance", Commands(*ran))
    emulators.STATE.mkdir()
    (emulators.STATE / "mine.jsonl").write_text("of an earlier run")
    (tmp_path / "mine.json").write_text("published")

    assert emulators.judge("mine", tmp_path) == wrong
    assert (tmp_path / "mine.json").read_text() == ("published" if wrong else FIT)


def test_an_environment_that_cannot_be_made_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the last line of the command that failed."""
    monkeypatch.setattr(emulators, "conformance", lambda *_: (2, "installing\nno compiler\n"))

    assert emulators.judge("mine", tmp_path) == ["mine: its environment cannot be made here (status 2): no compiler"]


def test_a_second_run_has_the_verdicts_of_the_first() -> None:
    """Two reports on one run are equal; another version of the target is not, and every difference is named."""
    one, other = REPORTS / "bqemulator-1.0.1.json", REPORTS / "bqemulator-1.0.0.json"

    assert emulators.unequal(one, one) == []
    assert "offsets.last-row was failed and is not-judged" in emulators.unequal(one, other)


@pytest.mark.parametrize("name", ["reference", "flight/flight-reference"])
def test_the_reference_holds_every_clause(name: str) -> None:
    """No clause is owed that no case of a run on a server can show."""
    levels = published(name).counted()

    assert {level: cell.total - cell.held for level, cell in levels.items()} == dict.fromkeys(levels, 0)
