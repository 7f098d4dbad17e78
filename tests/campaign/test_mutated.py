"""A campaign over mutated bytes: what counts against the suite, what it costs, and whom a death is blamed on."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.campaign import mutated
from conformance.campaign.done import Done
from conformance.campaign.exercise import judge_input, look_at
from conformance.campaign.inputs import make_input
from conformance.campaign.mutated import InputSteps, mutated_job
from conformance.campaign.sandboxed import Sandbox
from conformance.records import Outcome, Verdict
from conformance.wire.compression import FLOOR
from tests.patience import patiently
from tests.studies import sample

BASE: Final = 1 << 20
"""Bytes of memory that any input may cost."""
PER_BYTE: Final = 4096
"""Bytes of memory that one input byte may cost: a region of the dump is an object, and describes as few as one byte."""


@pytest.fixture(autouse=True)
def _held_apart() -> None:
    """The collector leaves out what the process of all tests held before, which would count as the cost of an input."""
    gc.collect()
    gc.freeze()


def steps(count: int, *, seed: int = 1) -> list[Done]:
    """The rows of the first inputs of a seed, worked on in this process."""
    return list(
        InputSteps(mutated_job(cases=count, seed=seed), mark=lambda _index, _what: None).steps(range(count), ended={})
    )


def untimed(done: Done) -> tuple[Any, ...]:
    """The rows of an input without what it cost."""
    judged = {name: value for name, value in done.judge.items() if name not in ("judge_seconds", "memory")}
    return done.plan, judged, done.verdicts


@pytest.mark.parametrize("seed", sample(range(4), ("1",), env="thorough"))
def test_mutated_bytes_do_nothing(seed: int) -> None:
    """They are judged, decoded and dissected, or refused: no exception, and a dump of every byte."""
    found = [verdict for done in steps(150, seed=seed) for verdict in done.verdicts if verdict["outcome"] != "fail"]

    assert found == []


@pytest.mark.parametrize("count", sample((8, 25), ("8",), env="thorough"))
def test_memory_is_in_proportion(count: int) -> None:
    """To the bytes of an input, and to what it may decompress to."""
    appetites = []
    for number in range(count):
        made = make_input(11, number)
        tracemalloc.start()
        judge_input(made)
        look_at(made, dumped=True)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        appetites.append((peak, BASE + PER_BYTE * made.size + 2 * FLOOR * ("zstd" in made.subject.name), number))

    assert [each for each in appetites if each[0] > each[1]] == []


def test_rows_say_what_became_of_an_input() -> None:
    """Clauses that fail are named and counted in place of their findings; the cost is given with them."""
    rows = steps(60)
    rejected = [done.judge for done in rows if done.judge["outcome"] == Outcome.EXPECTED_FAIL]
    clean = [done.judge for done in rows if done.judge["outcome"] == Outcome.PASS]

    assert len(rejected) + len(clean) == 60
    assert all(judge["failed"] and judge["findings"] >= len(judge["failed"]) for judge in rejected)
    assert clean
    assert all(not judge["failed"] and any(judge["passed"]) for judge in clean)
    assert all(done.judge["received"] == make_input(1, done.judge["index"]).size for done in rows)


def test_an_exception_is_an_error_of_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Said with its place, in one line; the inputs after it are worked on."""

    def broken(made: object) -> list[Any]:
        raise KeyError(f"a name\nof {type(made).__name__}")

    undisturbed = InputSteps(mutated_job(cases=3, seed=1), mark=lambda _index, _what: None)
    monkeypatch.setattr(mutated, "judge_input", broken)

    rows = list(undisturbed.steps(range(3), ended={}))

    assert [done.judge["outcome"] for done in rows] == ["error"] * 3
    assert rows[0].verdicts[0]["reason"].startswith("KeyError in test_mutated.py, broken: 'a name\\nof MutatedInput'")


def test_a_clause_that_cannot_be_judged_is_an_error_of_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the input's name, whatever the other clauses say."""
    verdicts = [Verdict("ipc", "a.b", Outcome.ERROR, reason="no"), Verdict("ipc", "c.d", Outcome.PASS)]
    with monkeypatch.context() as patched:
        patched.setattr(mutated, "judge_input", lambda _made: verdicts)
        (done,) = steps(1)

    assert done.judge["outcome"] == Outcome.ERROR
    assert [(each["case_id"], each["clause"], each["reason"]) for each in done.verdicts] == [
        ("mutated.s1.i0", "a.b", "no")
    ]


@pytest.mark.parametrize(
    ("bar", "value", "reason"),
    [("SECONDS", 0.0, "expected at most 0 s of processor time"), ("MEMORY", -1, "expected the process to hold")],
)
def test_what_is_above_a_bar_fails(monkeypatch: pytest.MonkeyPatch, bar: str, value: float, reason: str) -> None:
    """Whatever its verdicts are."""
    monkeypatch.setattr(mutated, bar, value)

    rows = steps(3)

    assert [done.judge["outcome"] for done in rows] == ["fail"] * 3
    assert all(done.verdicts[0]["reason"].startswith(reason) for done in rows)


def disturb(directory: Path, monkeypatch: pytest.MonkeyPatch, index: int, what: str) -> None:
    """Have the judge do ``what`` on one input of seed 1, in every sandbox that is started."""
    (directory / "sitecustomize.py").write_text(
        "import sys\n"
        "if any('campaign.sandbox' in argument for argument in sys.orig_argv):\n"
        "    import os, signal, threading\n"
        "    from conformance.campaign import inputs, mutated\n"
        "    judge = mutated.judge_input\n"
        f"    doomed = inputs.make_input(1, {index}).parts\n"
        "    def disturbed(made):\n"
        "        if made.parts == doomed:\n"
        f"            {what}\n"
        "        return judge(made)\n"
        "    mutated.judge_input = disturbed\n"
    )
    monkeypatch.syspath_prepend(str(directory))


def test_a_death_costs_its_input_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is blamed on the input that was being worked on, and all others have the rows that they have without it."""
    disturb(tmp_path, monkeypatch, 7, "os.kill(os.getpid(), signal.SIGSEGV)")
    with Sandbox(mutated_job(cases=14, seed=1)) as sandbox:
        rows = list(sandbox.run(0, 14))

    assert Counter(done.judge["outcome"] for done in rows)["crash"] == 1
    assert rows[7].judge["outcome"] == "crash"
    assert "SIGSEGV" in rows[7].verdicts[0]["reason"]
    assert rows[7].plan["case_id"] == "mutated.s1.i7"
    assert [untimed(done) for done in rows if done.judge["index"] != 7] == [
        untimed(done) for done in steps(14) if done.judge["index"] != 7
    ]


def test_an_input_that_does_not_come_back_costs_its_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no other input."""
    disturb(tmp_path, monkeypatch, 2, "threading.Event().wait()")

    def hung(multiplier: float) -> list[bool]:
        with Sandbox(mutated_job(cases=5, seed=1, multiplier=multiplier)) as sandbox:
            return [done.judge["outcome"] == Outcome.HANG for done in sandbox.run(0, 5)]

    assert patiently(hung, lambda found: sum(found) == 1, seconds=0.05) == [False, False, True, False, False]


def test_memory_beyond_the_limit_is_not_to_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An allocation that fails is an error of the suite, on its input."""
    disturb(tmp_path, monkeypatch, 1, "bytearray(1 << 30)")
    with Sandbox(mutated_job(cases=3, seed=1)) as sandbox:
        rows = list(sandbox.run(0, 3))

    assert rows[1].judge["outcome"] == Outcome.ERROR
    assert rows[1].verdicts[0]["reason"].startswith("MemoryError")
    assert {rows[0].judge["outcome"], rows[2].judge["outcome"]} <= {"pass", "expected-fail"}
