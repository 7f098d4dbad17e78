"""A pytest plugin that records which lines each test reaches, and how long the test takes.

Coverage.py measures every process, started through the environment variable ``COVERAGE_PROCESS_START``. The name of
its context is the test, or the fixture of a module or session, whose lines count for each test that uses it.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from coverage import Coverage

# Set by the one who records: the folder for what is recorded.
FOLDER = "MUTATION_RECORD"


def _switch(context: str) -> None:
    measured = Coverage.current()
    if measured is not None:
        measured.switch_context(context)


def _seconds() -> float:
    """The processor time of this process and of those that it has waited for: a busy machine does not count."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Recorder:
    """Writes a line of JSON for each test into the folder that the environment names, one file for each process."""

    def __init__(self) -> None:
        self._path = Path(os.environ[FOLDER]) / f"tests-{os.getpid()}.jsonl"
        self._context = ""
        self._failed = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """The test is the context; its seconds are those of set-up, call and tear-down together."""
        self._context, self._failed = item.nodeid, False
        _switch(item.nodeid)
        start = _seconds()
        try:
            return (yield)
        finally:
            seconds = _seconds() - start
            _switch("")
            self._write(item, seconds)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[object]:
        """A fixture that lives longer than one test is a context of its own."""
        if fixturedef.scope == "function":
            return (yield)
        _switch(_name(fixturedef))
        try:
            return (yield)
        finally:
            _switch(self._context)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails, or is skipped, says nothing of a mutant."""
        self._failed |= not report.passed

    def _write(self, item: pytest.Item, seconds: float) -> None:
        info = getattr(item, "_fixtureinfo", None)
        fixtures = [defined[-1] for defined in info.name2fixturedefs.values()] if info is not None else []
        row = {
            "test": item.nodeid,
            "seconds": round(seconds, 4),
            "passed": not self._failed,
            "fixtures": sorted(_name(fixture) for fixture in fixtures if fixture.scope != "function"),
        }
        with self._path.open("a") as lines:
            lines.write(json.dumps(row) + "\n")


def _name(fixture: pytest.FixtureDef[object]) -> str:
    return f"fixture {fixture.baseid}::{fixture.argname}"


def pytest_configure(config: pytest.Config) -> None:
    """Every process of pytest that runs tests records; the one that only hands them out has none to record."""
    config.pluginmanager.register(Recorder(), "mutation-recorder")
