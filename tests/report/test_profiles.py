"""A report says for each part of the service what came of it, or that it is not offered."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import pytest

from conformance.contract.clause import load_chapters
from conformance.contract.profilerow import CORE
from conformance.engine.events import RunEnded
from conformance.engine.result import Result, fold
from conformance.records import Outcome, Verdict
from conformance.report.badges import write_badges
from conformance.report.document import document
from conformance.report.profiles import by_profile
from conformance.report.summary import Cell, header
from tests.engine.samples import failing, judged, passing, started


@pytest.fixture(autouse=True, scope="module")
def _chapters() -> None:
    load_chapters()


CLAUSES = ("framing.schema-prefix", "session.plain", "restriction.not", "restriction.like", "split.child-resumes")


def result_of(*verdicts: Verdict, not_offered: Iterable[str] = (), profile: str = "server") -> Result:
    """The result of a run on a server that leaves out ``not_offered``."""
    start = dataclasses.replace(started(*CLAUSES), not_offered=tuple(not_offered), profile=profile)
    return fold([start, judged("a", *verdicts), RunEnded(1.0)])


VERDICTS = (
    passing("a", "framing.schema-prefix"),
    failing("a", "restriction.not", "nothing"),
    Verdict("a", "split.child-resumes", Outcome.UNSUPPORTED, reason="the target does not offer splits"),
)


def test_each_profile_counts_its_clauses() -> None:
    """By their standing; one without a verdict is not judged. Profiles without a clause are left out."""
    counted = by_profile(started(*CLAUSES), result_of(*VERDICTS).standings)

    assert [(one.profile, one.clauses, one.counts) for one in counted] == [
        (CORE, 2, Cell(held=1, not_judged=1)),
        ("filters", 2, Cell(failed=1, not_judged=1)),
        ("splits", 1, Cell(not_offered=1)),
    ]


def test_what_is_not_offered_is_said_everywhere() -> None:
    """In the header, in the line of the profile and in the JSON report."""
    report = document(result_of(*VERDICTS, not_offered=["splits"]))

    assert ("profiles", "not offered: splits") in header(report.run, report.remarks)
    assert [(one.offered, one.in_words) for one in report.profiles] == [
        (True, "1 pass · 0 fail · 1 not judged"),
        (True, "0 pass · 1 fail · 1 not judged"),
        (False, "not offered: 1 clause is not judged"),
    ]


def test_a_clause_that_no_case_showed_is_not_offered_in_the_report_either() -> None:
    """The report counts it as the run does, so that badge, page and terminal agree."""
    result = result_of(not_offered=["filters", "splits"])

    assert document(result).standings == result.standings
    assert result.standings["restriction.not"].words == "not offered"


def test_a_run_on_something_else_has_no_profiles() -> None:
    """A serializer serves no requests."""
    assert document(result_of(*VERDICTS, profile="arrow")).profiles == ()


@pytest.mark.parametrize("profile", ["server", "arrow"])
def test_there_is_a_badge_for_each_profile_and_one_for_all(tmp_path: Path, profile: str) -> None:
    """A profile shows how many of its clauses pass, fail and were not judged."""
    write_badges(result_of(*VERDICTS, not_offered=["splits"], profile=profile), tmp_path / "badges")

    titles = {
        path.stem: path.read_text().partition("<title>")[2].partition("</title>")[0]
        for path in (tmp_path / "badges").iterdir()
    }
    # A serializer takes no requests, so it does not owe the clause on a restriction that no case shows.
    whole = {"all": f"storage read: 1 pass · 1 fail · {2 if profile == 'server' else 1} not judged"}
    assert titles == whole | (
        {
            "core": "storage read core: 1 pass · 0 fail · 1 not judged",
            "filters": "storage read filters: 0 pass · 1 fail · 1 not judged",
            "splits": "storage read splits: not offered",
        }
        if profile == "server"
        else {}
    )


def test_flight_has_profiles_and_badges_of_its_own(tmp_path: Path) -> None:
    """Of each part of the protocol, named as Flight."""
    verdicts = (passing("a", "flight-put.is-found"), failing("a", "flight-sql-metadata.rows-are-ordered", "nothing"))
    start = dataclasses.replace(
        started("flight-put.is-found", "flight-sql-metadata.rows-are-ordered", "flight-exchange.nothing-is-lost"),
        not_offered=("exchange",),
        profile="flight",
    )
    write_badges(fold([start, judged("a", *verdicts), RunEnded(1.0)]), tmp_path)

    titles = [path.read_text().partition("<title>")[2].partition("</title>")[0] for path in sorted(tmp_path.iterdir())]
    assert titles == [
        "arrow flight: 1 pass · 0 fail · 0 not judged",
        "arrow flight exchange: not offered",
        "arrow flight put: 1 pass · 0 fail · 0 not judged",
        "arrow flight sql-metadata: 0 pass · 1 fail · 0 not judged",
    ]


def test_a_badge_names_the_api_of_a_server(tmp_path: Path) -> None:
    """In two words, as the other one of BigQuery is named."""
    start = dataclasses.replace(started("storage-write-offset.none-on-default"), profile="storage-write")
    write_badges(
        fold([start, judged("a", passing("a", "storage-write-offset.none-on-default")), RunEnded(1.0)]), tmp_path
    )

    assert "<title>storage write: " in (tmp_path / "all.svg").read_text()
