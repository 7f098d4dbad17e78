"""Containment: what kills or stalls a worker's child costs one job."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from conformance.drift import worker
from tests.patience import LONG, patiently


@pytest.fixture
def doing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A way to say what the children do for an operation."""

    def patch(**operations: Callable[[Mapping[str, Any]], dict[str, Any]]) -> None:
        monkeypatch.setattr(worker, "_OPERATIONS", operations)

    return patch


def fine(_: Mapping[str, Any]) -> dict[str, Any]:
    """An answer without anything special."""
    return {"status": "rows"}


def dies(_: Mapping[str, Any]) -> dict[str, Any]:
    """No answer: the process is gone."""
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def statuses(*operations: str, seconds: float = LONG) -> list[tuple[str, bool | None]]:
    """Status and ``alone`` of the answers to one job for each of the operations."""
    jobs = [{"id": str(number), "op": name} for number, name in enumerate(operations)]
    answers = worker.answers(jobs, seconds=seconds)
    assert [answer["id"] for answer in answers] == [job["id"] for job in jobs]
    return [(answer["status"], answer.get("alone")) for answer in answers]


def test_a_crash_costs_one_job(doing: Callable[..., None]) -> None:
    """The jobs before and after a crash are answered."""
    doing(fine=fine, dies=dies)

    assert statuses("fine", "dies", "fine", "dies") == [("rows", None), ("died", True)] * 2


def test_a_crash_that_needs_company_is_told_as_such(doing: Callable[..., None]) -> None:
    """A job that kills only a used process is distinguished from one that kills a fresh one."""
    before: list[int] = []

    def fragile(job: Mapping[str, Any]) -> dict[str, Any]:
        return dies(job) if before else fine(job)

    def spoils(_: Mapping[str, Any]) -> dict[str, Any]:
        before.append(1)
        return {"status": "rows"}

    doing(fragile=fragile, spoils=spoils)

    assert statuses("spoils", "fragile", "fragile") == [("rows", None), ("died", False), ("rows", None)]


def test_a_hang_ends_at_its_deadline(doing: Callable[..., None]) -> None:
    """A job that does not end is given up, and the next is answered."""

    def stuck(_: Mapping[str, Any]) -> dict[str, Any]:
        while True:
            pass

    doing(fine=fine, stuck=stuck)

    found = patiently(lambda seconds: statuses("stuck", "fine", seconds=seconds), lambda found: found[1][0] != "hung")

    assert found == [("hung", True), ("rows", None)]


def test_a_greedy_job_fails_within_its_limit(doing: Callable[..., None]) -> None:
    """Memory beyond the limit cannot be had, and the error is the answer."""
    doing(greedy=lambda _: {"status": "rows", "text": len(bytes(worker.MEMORY * 4))})

    assert statuses("greedy") == [("refused", None)]


def test_an_error_is_an_answer() -> None:
    """Bytes that are no stream are refused with class and text."""
    answer = worker.do({"id": "a", "op": "read", "container": "stream", "data": "AAAA"})

    assert (answer["status"], answer["stage"]) == ("refused", "open")
    assert answer["class"].startswith("Arrow")
