"""A campaign over mutated bytes as a user starts it: its figures, its rows, and an input replayed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.campaign.mutated import InputSteps
from conformance.campaign.results import load_results
from conformance.campaign.runfolders import Stage
from conformance.campaign.runs import find_run
from conformance.records import Outcome
from tests.campaign.jobs import found
from tests.campaign.spark import CASES, command, run

pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
pytestmark = [pytest.mark.slow(env="campaign"), pytest.mark.timeout(900)]


def test_a_campaign_over_mutated_bytes(tmp_path: Path) -> None:
    """It says what became of its inputs, the slowest and the hungriest; its rows are those of its steps."""
    reported = run(command("mutated", tmp_path), status=0).stdout
    layout, job = find_run(str(tmp_path))
    rows = found(layout)
    results = load_results(layout)
    alone = list(InputSteps(job, mark=lambda _index, _what: None).steps(range(CASES), ended={}))

    assert job.version == results.target.removeprefix("mutated ")
    assert [row["bytes_digest"] for row in rows[Stage.JUDGE]] == [done.judge["bytes_digest"] for done in alone]
    assert [row["failed"] for row in rows[Stage.JUDGE]] == [done.judge["failed"] for done in alone]
    assert [row["covers"] for row in rows[Stage.PLAN]] == [done.plan["covers"] for done in alone]
    assert rows[Stage.VERDICTS] == []
    rejected = sum(done.judge["outcome"] == Outcome.EXPECTED_FAIL for done in alone)
    assert f"{CASES} inputs: {rejected} rejected by a clause, {CASES - rejected} clean\n" in reported
    assert "0 crashes, 0 hangs, 0 errors of the suite, 0 above a limit\n" in reported
    assert re.search(r"^slowest: mutated\.s3\.i\d+, \d+ bytes, 0\.\d{3} s of processor time$", reported, re.MULTILINE)
    assert re.search(
        r"^peak memory: [\d.]+ MiB more than at the start of a runner, mutated\.s3\.i\d+$", reported, re.MULTILINE
    )
    assert sum(one.outcomes.get("expected-fail", 0) for one in results.clauses) == sum(
        len(done.judge["failed"]) for done in alone
    )
