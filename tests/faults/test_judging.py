"""A fault is judged by the command itself, up to the first case that fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.protocols.storage_read.reference.service import ReadService
from tests.faults.catalogue import FAULTS
from tests.faults.judging import Judged, costs, first_cause, judge

_TWO = ["--no-readers", "--select", "session.plain", "--select", "types.int64"]


class _Empty(ReadService):
    """A server that finds no stream."""

    def plan_streams(self, *_: object) -> list[tuple[int, int]]:
        """No stream."""
        return []


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_reference_passes_all_cases(tmp_path: Path) -> None:
    """The reference survives, and its log has the time of each case."""
    result = judge("reference", ReadService, _TWO, folder=tmp_path, cost={})

    log = tmp_path / "reference.jsonl"
    assert (result.died, result.cases, result.broke) == (False, 2, "")
    assert set(costs(log, map(json.loads, log.read_text().splitlines()))) == {"session.plain", "types.int64"}


def test_the_first_failing_case_ends_the_run(tmp_path: Path) -> None:
    """A server without rows dies in the case that was the cheapest."""
    cost = {"session.plain": 2.0, "types.int64": 1.0}

    result = judge("empty", _Empty, [*_TWO, "--no-smoke"], folder=tmp_path, cost=cost)

    assert (result.died, result.case, result.cases, result.broke) == (True, "types.int64", 1, "")
    assert result.clauses


def test_a_fault_that_does_not_act_survives(tmp_path: Path) -> None:
    """Two plain cases do not find a fault of splits."""
    service = FAULTS["splits.remainder-split-from-root"].service

    assert not judge("split", service, _TWO, folder=tmp_path, cost={}).died


def test_the_first_cause_is_that_of_a_whole_run(tmp_path: Path) -> None:
    """A server without rows fails by what a developer would call missing rows, and a correct one has no cause."""
    options = [*_TWO, "--no-smoke"]

    first = first_cause("empty", _Empty, options, folder=tmp_path)

    assert first is not None
    assert first.clause == "session.rows-have-a-stream"
    assert first_cause("reference", ReadService, options, folder=tmp_path) is None


def test_a_run_without_causes_for_a_wrong_option_is_an_error(tmp_path: Path) -> None:
    """It is not taken for a server without faults."""
    with pytest.raises(ValueError, match="--no-such-option"):
        first_cause("wrong", ReadService, ["--no-such-option"], folder=tmp_path)


def test_a_run_that_cannot_start_does_not_count(tmp_path: Path) -> None:
    """A wrong option is no survival: the result says what went wrong."""
    result = judge("wrong", ReadService, ["--no-such-option"], folder=tmp_path, cost={})

    assert isinstance(result, Judged)
    assert not result.died
    assert "--no-such-option" in result.broke


def test_costs_of_an_empty_log_are_refused() -> None:
    """A log without cases cannot order a run."""
    with pytest.raises(ValueError, match=r"judged cases in empty\.jsonl"):
        costs(Path("empty.jsonl"), [])
