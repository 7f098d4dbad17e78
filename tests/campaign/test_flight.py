"""Campaigns on servers of Arrow Flight: what a step keeps of a case, and small campaigns on Spark."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.campaign.done import Done
from conformance.campaign.job import CampaignJob
from conformance.campaign.layout import Stage
from conformance.campaign.results import load_results
from conformance.campaign.runs import find_run
from conformance.campaign.sandbox import done_frame, frame_done
from conformance.campaign.step import Stepper
from conformance.contain.channel import Frame
from conformance.engine.owed import reference_target
from conformance.engine.selection import of_protocol
from conformance.records import ProtocolName
from conformance.reference.flight.deviations import flight_service
from conformance.reference.flight.server import FlightServer
from conformance.targets import load_target
from conformance.targets.flightspec import FlightSpec
from conformance.targets.spec import TargetKind
from tests.campaign.jobs import found
from tests.campaign.spark import command, run

CLAUSES = tuple(one.id for one in of_protocol(ProtocolName.FLIGHT))
CASES = 32
FLIGHT = '[flight]\nseeding = "put"\necho = "echo"\n'


def job(**others: Any) -> CampaignJob:
    """A job of drawn cases for the reference, which keeps every exchange."""
    spec = load_target("flight-reference")
    made = CampaignJob(spec, CASES, 3, profile="flight", clauses=CLAUSES, readers=(), sample=1_000_000)
    return dataclasses.replace(made, **others)


def done(mutant: str | None = None, of: CampaignJob | None = None) -> list[Done]:
    """The rows of the cases on the reference in this process, or on a mutant of it."""
    with reference_target(TargetKind.FLIGHT, mutant=mutant) as target:
        stepper = Stepper(of or job(), target, weights=None, mark=lambda *_: None)
        ended: dict[int, dict[str, Any]] = {index: {} for index in range(CASES)}
        return [*stepper.steps(range(16), ended=ended), *stepper.steps(range(16, CASES), ended=ended)]


@pytest.fixture(scope="module")
def passed() -> list[Done]:
    """What the reference comes to."""
    return done()


def test_the_reference_passes_and_its_rows_come_back(passed: list[Done]) -> None:
    """Every stream has the rows of the case, and a digest of its bytes; an exchange of nothing has no stream."""
    streams = [one for one in passed if one.judge["bytes_digest"] is not None]

    assert {one.judge["outcome"] for one in passed} == {"pass"}
    assert {one.judge["values_digest"] for one in streams} == {0}
    assert all(one.plan["rows"] == 0 for one in passed if one not in streams)
    assert len(streams) > CASES - 4


def test_a_second_run_has_the_same_digests(passed: list[Done]) -> None:
    """Only what a server sends is in them, and nothing of its names."""
    again = done()

    digests = [[(one.judge["bytes_digest"], one.judge["values_digest"]) for one in made] for made in (passed, again)]
    assert digests[0] == digests[1]


def test_a_loss_is_found_and_changes_the_values() -> None:
    """By the clause that a run finds it by."""
    lost = done("flight-put.last-row-lost")

    failing = [one for one in lost if one.judge["outcome"] == "fail"]
    assert failing
    assert "flight-put.nothing-is-lost" in {row["clause"] for one in failing for row in one.verdicts}
    assert all(one.judge["values_digest"] not in (0, None) for one in failing)


def test_calls_with_many_requests_pass_between_processes(passed: list[Done]) -> None:
    """A DoPut has more than one message, and a call may have initial metadata."""
    some = [one for one in passed if one.exchange is not None]
    assert any(call["more_requests"] for one in some for call in (one.exchange or {})["calls"])

    header, blobs = done_frame(some)

    assert frame_done(Frame(header, blobs)) == some


def test_a_server_that_stores_nothing_is_not_asked() -> None:
    """The cases are unsupported, as in a run."""
    spec = dataclasses.replace(load_target("flight-reference"), flight=FlightSpec())

    assert {one.judge["outcome"] for one in done(of=job(spec=spec))} == {"unsupported"}


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """The target file of a server that loses rows, which runs already."""
    with FlightServer(flight_service("flight-put.last-row-lost")()) as server:
        path = tmp_path / "losing.toml"
        path.write_text(f'name = "losing"\nkind = "flight"\n[endpoint]\ngrpc = "{server.endpoint}"\n{FLIGHT}')
        yield path


@pytest.mark.slow
@pytest.mark.timeout(900)
class TestSpark:
    """Small campaigns, as a user types them."""

    def test_the_reference_is_started_by_each_task(self, tmp_path: Path) -> None:
        """It passes, with rows in Parquet as any campaign has them; judging again and comparing change nothing."""
        pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
        arguments = ("flight-reference", tmp_path / "one", "--cases", "26", "--keep", "1000000")
        run(command(*arguments), status=0)
        run(command("flight-reference", tmp_path / "two", "--cases", "26"), status=0)

        layout, kept = find_run(str(tmp_path / "one"))
        rows = found(layout)[Stage.JUDGE]
        assert [row["outcome"] for row in rows] == ["pass"] * 26
        assert {row["values_digest"] for row in rows} <= {0, None}
        assert kept.profile == "flight"
        assert set(kept.clauses) == set(CLAUSES)
        again = typed("judge", str(tmp_path / "one"))
        assert "26 stored exchanges" in again.stdout
        assert "changed" not in again.stdout
        compared = typed("compare", str(tmp_path / "one"), str(tmp_path / "two"))
        assert "26 cases in both" in compared.stdout

    def test_a_server_at_an_endpoint_that_loses_rows_is_found(self, tmp_path: Path, running: Path) -> None:
        """By tasks that share it, and the first failing case is shrunk."""
        pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
        arguments = command(running, tmp_path / "out", "--cases", "26", "--concurrency", "2")
        arguments.remove("--no-shrink")
        run(arguments, status=1)

        layout, _ = find_run(str(tmp_path / "out"))
        failures = {failure.clause: failure for failure in load_results(layout).failures}
        assert "flight-put.nothing-is-lost" in failures
        assert failures["flight-put.nothing-is-lost"].file
        assert typed("judge", str(tmp_path / "out"), status=1).stdout.count("flight-put.nothing-is-lost") == 1


@pytest.mark.parametrize(("target", "profile"), [("flight-reference", "arrow"), ("reference", "flight")])
def test_a_profile_of_another_protocol_is_refused(tmp_path: Path, target: str, profile: str) -> None:
    """In one sentence, before Spark starts."""
    pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
    arguments = command(target, tmp_path, "--profile", profile)

    assert "expected the profile flight with a Flight server alone" in run(arguments, status=2).stderr


def typed(*arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """A command of the suite."""
    return run([sys.executable, "-m", "conformance", *arguments], status=status)
