"""The published reports: whole, small, free of the machine that made them, and saying what is known to be true."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from conformance.records import Outcome
from conformance.report.document import Report
from conformance.report.reading import read_report
from publish.emulators import MATRICES

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


NOT_SHOWN: Final[Mapping[str, set[str]]] = {
    "reference": set(),
    # Its endpoints name no location, stay under one ticket when they are renewed, and are one for each info, which has
    # no order; it refuses to read the options of a session that was closed, and stores nothing of a DoPut that is given
    # up, unless gRPC ends that one as after a half-close.
    "flight/flight-reference": {
        "flight-data.order-stays",
        "flight-expiry.renewed-is-the-same-data",
        "flight-listed.order-stays",
        "flight-location.each-is-reached",
        "flight-location.host-is-specified",
        "flight-location.places-are-equivalent",
        "flight-put.given-up-is-what-was-sent",
        "flight-rows.order-is-said",
        "flight-location.is-a-uri",
        "flight-location.reuse-has-one-form",
        "flight-location.says-where",
        "flight-session.closed-is-gone",
    },
}
"""The clauses that only servers with another behaviour show; the mutants and legal variations do."""


@pytest.mark.parametrize("name", sorted(NOT_SHOWN))
def test_the_reference_holds_every_clause(name: str) -> None:
    """No clause is owed that no case of a run on a server can show, but for those of other behaviour."""
    report = json.loads((REPORTS / f"{name}.json").read_text("utf-8"))

    assert {one["id"] for one in report["clauses"] if one["standing"] != "held"} == NOT_SHOWN[name]
