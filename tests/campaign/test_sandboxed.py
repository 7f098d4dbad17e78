from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import pytest

from conformance.campaign.done import Done
from conformance.campaign.phases import Stepper
from conformance.campaign.sandboxed import Sandbox
from conformance.records import Outcome
from conformance.targets import TargetUnavailable, open_target
from tests.campaign.jobs import job

SHORT = "[deadlines]\ncall = 0.5\ncase = 0.5\n"


def outcomes(rows: list[Done]) -> Counter[str]:
    """How many cases ended in what."""
    return Counter(done.judge["outcome"] for done in rows)


def test_rows_come_for_every_case_in_order(tmp_path: Path) -> None:
    """And are those of the same loop in this process."""
    one = job(tmp_path)
    with open_target(one.spec) as target:
        stepper = Stepper(one, target, weights=None, mark=lambda index, what: None)
        here = [stepper.step(index, ended={}) for index in range(20)]
    with Sandbox(one) as sandbox:
        there = list(sandbox.run(0, 20))

    def reported(done: Done) -> tuple[object, ...]:
        judged = {name: value for name, value in done.judge.items() if not name.endswith("_seconds")}
        return done.plan, judged, done.verdicts, done.readings

    assert [reported(done) for done in there] == [reported(done) for done in here]
    assert outcomes(there)["fail"] > 0


def test_a_target_that_ends_its_process_costs_its_case(tmp_path: Path) -> None:
    """The cases after it are judged as if nothing had been."""
    cases = 24, 44  # case 32 has a batch of five rows
    with Sandbox(job(tmp_path, "Dying")) as sandbox:
        rows = list(sandbox.run(*cases))
    with Sandbox(job(tmp_path, "Trailing")) as sandbox:
        undisturbed = list(sandbox.run(*cases))

    died = {done.judge["index"] for done in rows if done.judge["outcome"] == Outcome.CRASH}
    assert 0 < len(died) < 20
    assert all(
        "the target ended its process: SIGSEGV" in done.verdicts[0]["reason"]
        for done in rows
        if done.judge["index"] in died
    )
    assert [done.judge["passed"] for done in rows if done.judge["index"] not in died] == [
        done.judge["passed"] for done in undisturbed if done.judge["index"] not in died
    ]


def test_a_target_that_does_not_come_back_costs_its_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its deadline, and no more."""
    monkeypatch.setattr("conformance.campaign.sandboxed.MARGIN", 1.0)
    with Sandbox(job(tmp_path, "Hanging", more=SHORT)) as sandbox:
        rows = list(sandbox.run(0, 12))

    hung = [done for done in rows if done.judge["outcome"] == Outcome.HANG]
    assert 0 < len(hung) < 12
    assert len(rows) == 12
    assert all("the target did not come back: no answer within 1.5 s" in done.verdicts[0]["reason"] for done in hung)


def test_a_decoder_that_ends_the_process_costs_its_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The case is still judged."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    dying = tmp_path / "sitecustomize.py"
    dying.write_text(
        "import sys\n"
        "if any('campaign.sandbox' in argument for argument in sys.orig_argv):\n"
        "    import os, arro3.io\n"
        "    arro3.io.read_ipc_stream = lambda source: os.abort()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with Sandbox(job(tmp_path)) as sandbox:
        (done,) = sandbox.run(1, 2)

    readings = {reading["reader"]: reading["outcome"] for reading in done.readings}
    assert readings["arro3.stream"] == "crash"
    assert done.judge["outcome"] != Outcome.ERROR
    assert any(verdict["clause"].startswith("readers.") for verdict in done.verdicts)


def test_a_lab_that_is_killed_is_replaced(tmp_path: Path) -> None:
    """Its owner sees no difference."""
    with Sandbox(job(tmp_path, cases=10)) as sandbox:
        undisturbed = [done.judge["passed"] for done in sandbox.run(0, 10)]
        rows = []
        for done in sandbox.run(0, 10):
            rows.append(done)
            if len(rows) == 3:
                assert sandbox._worker is not None
                sandbox._worker.kill()

    assert [done.judge["passed"] for done in rows] == undisturbed


def test_a_target_that_cannot_run_says_so(tmp_path: Path) -> None:
    """The text is that of the targets package."""
    one = job(tmp_path)
    assert one.spec.serializer is not None
    spec = dataclasses.replace(one.spec, serializer=dataclasses.replace(one.spec.serializer, entry="absent:Nobody"))
    with (
        Sandbox(dataclasses.replace(one, spec=spec)) as sandbox,
        pytest.raises(TargetUnavailable, match="cannot import 'absent'"),
    ):
        sandbox.open()
