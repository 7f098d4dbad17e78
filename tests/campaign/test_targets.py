"""Campaigns on other targets: servers at an endpoint, Spark itself, targets with expected failures."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.campaign.commits import committed
from conformance.campaign.results import load_results
from conformance.campaign.runfolders import Stage
from conformance.campaign.runs import find_run
from tests.campaign.jobs import found, target_file
from tests.campaign.spark import command, run

pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
pytestmark = [pytest.mark.slow(env="campaign"), pytest.mark.timeout(900)]


@contextlib.contextmanager
def endpoint(directory: Path, *more: str) -> Iterator[Path]:
    """A target file for a reference server that runs already."""
    served = subprocess.Popen(
        [sys.executable, "-m", "conformance", "serve", *more], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert served.stdout is not None
        said = [json.loads(served.stdout.readline()) for _ in range(2)]
        ports = {one["event"].partition(".")[0]: one["port"] for one in said}
        path = directory / "endpoint.toml"
        path.write_text(
            'name = "endpoint"\nkind = "server"\n[endpoint]\n'
            f'grpc = "127.0.0.1:{ports["grpc"]}"\nrest = "http://127.0.0.1:{ports["rest"]}"\n'
        )
        yield path
    finally:
        served.kill()
        served.communicate()


def test_tasks_share_a_server_at_an_endpoint(tmp_path: Path) -> None:
    """As many at a time as is asked for, and with the verdicts that one alone comes to."""
    with endpoint(tmp_path) as target:
        for concurrency in ("1", "3"):
            more = ("--cases", "60", "--concurrency", concurrency, "--profile", "server")
            run(command(target, tmp_path / concurrency, *more, master="local[3]"), status=0)
    one, other = (find_run(str(tmp_path / concurrency))[0] for concurrency in ("1", "3"))

    assert [row["outcome"] for row in found(one)[Stage.JUDGE]] == ["pass"] * 60
    assert [row["passed"] for row in found(one)[Stage.JUDGE]] == [row["passed"] for row in found(other)[Stage.JUDGE]]


def test_a_lying_server_at_an_endpoint_is_found(tmp_path: Path) -> None:
    """By tasks that talk to it at the same time."""
    with endpoint(tmp_path, "--mutant", "rows.first-twice") as target:
        run(command(target, tmp_path / "out", "--cases", "40", "--profile", "server"), status=1)

    failures = {failure.clause for failure in load_results(find_run(str(tmp_path / "out"))[0]).failures}
    assert "rows.none-is-repeated" in failures


def test_spark_itself_is_judged(tmp_path: Path) -> None:
    """Each of its ways out is taken by every case that Spark has types for."""
    arguments = [sys.executable, "-m", "conformance", "campaign", "--target", "spark", "--cases", "6"]
    done = run([*arguments, "--out", str(tmp_path), "--master", "local[2]"], status=0)

    counts = re.findall(r"^(\w+): (\d+) clean", done.stdout, re.MULTILINE)
    paths = {path: sum(int(count) for name, count in counts if name == path) for path, _ in counts}
    assert paths == dict.fromkeys(("toArrowBatchRdd", "collectAsArrowToPython", "toArrow", "mapInArrow"), 6)


EXPECTED = """
[[expected_failures]]
clause = "framing.batch-without-end-of-stream"
reason = "fail: *"
case = "{case}"
note = "Appends a marker to batches of four rows."
"""


def test_an_expected_failure_fails_nothing(tmp_path: Path) -> None:
    """It is counted, and a case that has no other failure is expected to fail; the same run, summed up again."""
    run(
        command(target_file(tmp_path, "Trailing"), tmp_path / "out", "--clause", "framing.*", "--cases", "90"), status=1
    )
    before = find_run(str(tmp_path / "out"))[0]
    commits, results = committed(before), load_results(before)
    target = target_file(tmp_path, "Trailing", more=EXPECTED.format(case="*"))
    run(command(target, tmp_path / "out", "--clause", "framing.*", "--cases", "90"), status=0)
    after = load_results(find_run(str(tmp_path / "out"))[0])

    assert committed(before) == commits
    assert (after.failing, after.failures) == (0, ())
    assert after.outcomes["expected-fail"] == results.outcomes["fail"] > 0


def test_an_expected_failure_that_no_drawn_case_shows_is_told(tmp_path: Path) -> None:
    """Where it names drawn cases; others may be needed by cases that a campaign does not draw."""
    target = target_file(
        tmp_path, "Trailing", more=EXPECTED.format(case="generated.*").replace("fail: *", "fail: no *")
    )
    done = run(command(target, tmp_path / "out", "--clause", "body.*", "--cases", "60"), status=1)

    assert (
        "the expected failure of 'framing.batch-without-end-of-stream' on 'generated.*' excuses nothing" in done.stdout
    )


def test_a_guided_case_is_replayed_by_its_id(tmp_path: Path) -> None:
    """Whose failure a campaign has found."""
    target = target_file(tmp_path, "Trailing")
    run(command(target, tmp_path / "out", "--cases", "200", "--guided", "60"), status=1)
    rows = found(find_run(str(tmp_path / "out"))[0])[Stage.VERDICTS]
    case_id = next(row["case_id"] for row in rows if row["case_id"].startswith("guided."))
    reported = run([sys.executable, "-m", "conformance", "replay", case_id, "--target", str(target)], status=1)

    assert "framing.batch-without-end-of-stream" in reported.stdout
