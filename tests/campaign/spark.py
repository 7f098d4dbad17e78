"""Campaigns as a user starts them: command lines, what they commit, and the processes that Spark starts for them."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

CASES = 300
PATIENCE = 240.0


def command(target: Path | str, out: Path, *more: str, master: str = "local[2]") -> list[str]:
    """A campaign's command line."""
    reported = ["--target", str(target), "--cases", str(CASES), "--seed", "3", "--no-shrink", "--out", str(out)]
    return [sys.executable, "-m", "conformance", "campaign", *reported, "--master", master, *more]


def run(arguments: list[str], *, status: int) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == status, done.stderr
    return done


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that another process does."""
    never, over = threading.Event(), time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < over, f"expected {what} within {PATIENCE} s"
        never.wait(0.05)


def commits(out: Path) -> int:
    """How many ranges are committed."""
    return len(list(out.glob("runs/*/commits/[0-9]*.json")))


def spark_workers(driver: int) -> list[psutil.Process]:
    """The Python workers that Spark has forked for a driver's tasks."""
    try:
        below = psutil.Process(driver).children(recursive=True)
    except psutil.Error:
        return []
    parents = {}
    for one in below:
        with contextlib.suppress(psutil.Error):  # one that has ended, and is still listed, hides no other
            if "pyspark.daemon" in " ".join(one.cmdline()):
                parents[one.pid] = one.ppid()
    return [one for one in below if parents.get(one.pid) in parents]


def commands_below(driver: int) -> set[str]:
    """The command lines of the processes that a driver has started, at whatever remove."""
    found = set()
    for one in psutil.Process(driver).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it may have ended since
            found.add(" ".join(one.cmdline()))
    return found
