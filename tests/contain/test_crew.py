"""Processes that share work end with the one that made them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest

from conformance.contain.crew import CrewError, crew
from tests.patience import still_running

_PREPARED: list[str] = []


def prepare(word: str) -> None:
    """The first action in each process."""
    _PREPARED.append(word)


def double(number: int) -> tuple[int, list[str]]:
    """The work."""
    return 2 * number, _PREPARED


def wait_forever(_: int) -> None:
    """A task that does not end."""
    signal.pause()


def test_work_is_shared_among_prepared_processes() -> None:
    """Each process is prepared before its first task."""
    with crew(2, prepare, "yes") as pool:
        asked = [pool.submit(double, number) for number in (1, 2)]

        assert [answer.result() for answer in asked] == [(2, ["yes"]), (4, ["yes"])]


def divide(number: int) -> float:
    """Work that fails."""
    return 1 / number


def end(code: int) -> None:
    """Work that ends its process."""
    os._exit(code)


def test_what_a_task_raises_is_raised_by_its_future() -> None:
    """The member goes on."""
    with crew(1, prepare, "yes") as pool:
        with pytest.raises(ZeroDivisionError) as raised:
            pool.submit(divide, 0).result()

        assert "in divide\n" in raised.value.__notes__[0]  # where it was raised, in another process
        assert pool.submit(divide, 2).result() == 0.5


def test_a_member_that_ends_is_an_error_of_its_task() -> None:
    """The error says how it ended."""
    with crew(1, prepare, "yes") as pool, pytest.raises(CrewError, match="the process exited with status 3"):
        pool.submit(end, 3).result()


def test_an_error_ends_the_crew_at_once() -> None:
    """Tasks in hand are not waited for, and no process is left."""
    before = psutil.Process().children()

    def fail() -> None:
        with crew(2, prepare, "yes") as pool:
            pool.submit(double, 1).result()
            pool.submit(wait_forever, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert psutil.Process().children() == before


def test_a_crew_ends_with_its_maker() -> None:
    """SIGKILL of the process that made them ends them."""
    script = """
import psutil, signal
from conformance.contain.crew import crew
from tests.contain.test_crew import double, prepare, wait_forever
if __name__ == "__main__":
    with crew(2, prepare, "yes") as pool:
        pool.submit(double, 1).result()
        pool.submit(wait_forever, 1)
        print(*[one.pid for one in psutil.Process().children(recursive=True)], flush=True)
        signal.pause()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as maker:
        assert maker.stdout is not None
        members = [psutil.Process(int(pid)) for pid in maker.stdout.readline().split()]
        maker.kill()

        assert len(members) >= 2
        assert still_running(members) == []
