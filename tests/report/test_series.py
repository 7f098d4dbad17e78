"""Over a series of reports, each failure has a first version, and a version that repairs it if there is one."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract.clause import load_chapters
from conformance.records import Level, Outcome, Verdict
from conformance.report.document import Report
from conformance.report.series import Series, Span, series_of
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, passing
from tests.report.samples import report_of

load_chapters()

CLAUSE = "framing.x"
MAY = "session.trace-id-is-echoed"
HOLDS = report_of(passing("a", CLAUSE))
FAILS = report_of(failing("a", CLAUSE, "3 messages"))
EXCUSED = report_of(failing("a", CLAUSE, "3 messages"), expectations=[ExpectedFailure(CLAUSE, "fail: *")])
SILENT = report_of(Verdict("a", CLAUSE, Outcome.UNTESTABLE, reason="cannot seed"), passing("a", "rows.x"))


def series(*reports: Report) -> Series:
    """The reports as versions 1, 2, …"""
    return series_of(
        [
            dataclasses.replace(report, run=dataclasses.replace(report.run, target=f"v{number}"))
            for number, report in enumerate(reports, 1)
        ]
    )


def span(first: str, repaired: str = "", passed: str = "") -> Span:
    """A failure of the clause."""
    return Span(CLAUSE, Level.MUST, first, repaired, passed)


@pytest.mark.parametrize(
    ("reports", "spans", "fails"),
    [
        ((HOLDS, HOLDS, HOLDS), (), False),
        ((FAILS, FAILS, FAILS), (span("v1"),), False),
        ((FAILS, HOLDS, HOLDS), (span("v1", "v2"),), False),
        ((HOLDS, FAILS, FAILS), (span("v2", passed="v1"),), True),
        ((HOLDS, HOLDS, FAILS), (span("v3", passed="v2"),), True),
        ((HOLDS, FAILS, HOLDS), (span("v2", "v3", "v1"),), False),
        ((FAILS, HOLDS, FAILS), (span("v1", "v2"), span("v3", passed="v2")), True),
        ((FAILS, SILENT, FAILS), (span("v1"),), False),
        ((FAILS, SILENT, HOLDS), (span("v1", "v3"),), False),
        ((HOLDS, SILENT, FAILS), (span("v3", passed="v1"),), True),
        ((SILENT, FAILS, SILENT), (span("v2"),), False),
        ((HOLDS, EXCUSED, HOLDS), (span("v2", "v3", "v1"),), False),
    ],
)
def test_each_failure_has_its_versions(reports: tuple[Report, ...], spans: tuple[Span, ...], *, fails: bool) -> None:
    """A version that could not judge the clause neither repairs nor breaks it."""
    found = series(*reports)

    assert found.spans == spans
    assert found.fails is fails


def test_a_may_clause_that_is_no_longer_met_fails_no_series() -> None:
    """The table has it, with the version in which it passed."""
    found = series(report_of(passing("a", MAY), clauses=[MAY]), report_of(failing("a", MAY, "no"), clauses=[MAY]))

    assert found.spans == (Span(MAY, Level.MAY, "v2", passed="v1", optional=True),)
    assert not found.fails


def test_versions_of_one_name_are_numbered() -> None:
    """Reports of a target without a version can be told apart."""
    assert series_of([HOLDS, FAILS, HOLDS]).versions == ("fake 1.0 (1)", "fake 1.0 (2)", "fake 1.0 (3)")
