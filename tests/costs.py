"""The cost of each module of tests: measured on request, recorded in ``tests/costs.json``, and used in every run.

``pytest --costs FILE`` appends one JSON line for each test; ``python -m publish.costs FILE`` makes the record of it.
Two things follow from the record. Workers of xdist get the most expensive modules first, so that both are busy to the
end. And a run of the quick set may start only a tenth more processes than the record has: processes are
counted, because they cost the same on every machine, and times are not compared.

A process counts for the module whose test was running in the process that started it. A process that a started process
starts in turn does not count.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

RECORD: Final = Path(__file__).with_name("costs.json")
COLLECTION: Final = "collection"
"""The name under which each process counts its imports and the collection of tests."""
STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty"})
"""Audit events of a new process. Not ``os.posix_spawn``: from Python 3.13 on, ``Popen`` calls it, and no test does."""
ALLOWANCE: Final = 1.1
"""How many more processes than recorded a run may start: a pool replaces a worker now and then, and a test of hangs
starts another on a busy machine.
"""

_STARTED: Final = "processes by module"


def recorded() -> Mapping[str, Mapping[str, float]]:
    """The record: ``seconds``, ``processor`` seconds with children, ``items`` and ``processes`` of each module; none in
    a source distribution.
    """
    if not RECORD.exists():
        return {}
    made: dict[str, dict[str, float]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return made


def module_of(nodeid: str) -> str:
    """The file of a test."""
    return nodeid.partition("::")[0]


def in_order(nodeids: Sequence[str], record: Mapping[str, Mapping[str, float]]) -> list[int]:
    """The places of the tests, most expensive module first; one without a record could be long, and comes first."""
    unknown = {"seconds": float("inf")}
    return sorted(range(len(nodeids)), key=lambda place: -record.get(module_of(nodeids[place]), unknown)["seconds"])


def grown(started: Mapping[str, int], record: Mapping[str, Mapping[str, float]]) -> str:
    """A sentence naming the modules that start more processes than recorded; empty within the allowance."""
    before = {module: int(row["processes"]) for module, row in record.items()}
    total, most = sum(started.values()), sum(before.values())
    if not record or total <= most * ALLOWANCE:
        return ""
    more = sorted(((count - before.get(module, 0), module) for module, count in started.items()), reverse=True)
    named = ", ".join(f"{module} {started[module]} instead of {before.get(module, 0)}" for by, module in more if by > 0)
    return f"the tests started {total} processes, and {RECORD.name} records {most}: {named}"


class Starts:
    """Counts the processes that tests start, by module, in this process and, under xdist, in all workers."""

    def __init__(self) -> None:
        self.total = 0
        self.by_module: Counter[str] = Counter()
        self.grown = ""
        sys.addaudithook(self._heard)

    def _heard(self, event: str, _arguments: tuple[Any, ...]) -> None:
        if event in STARTS:
            self.total += 1

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Count what set-up, call and tear-down start."""
        before = self.total
        result = yield
        if self.total > before:
            self.by_module[module_of(item.nodeid)] += self.total - before
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the counts of a worker that ended; one that crashed has none."""
        self.by_module.update(getattr(node, "workeroutput", {}).get(_STARTED, {}))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Give the counts to the main process; there, fail a run of the quick set that passed and started too many.

        A part of the quick set starts less than the record allows.
        """
        config = session.config
        if hasattr(config, "workeroutput"):
            config.workeroutput[_STARTED] = dict(self.by_module)
        elif session.exitstatus == pytest.ExitCode.OK and config.option.markexpr == "not slow":
            self.grown = grown(self.by_module, recorded())
            if self.grown:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which modules start more, and how to record that."""
        if self.grown:
            terminalreporter.write_line(self.grown, red=True)
            terminalreporter.write_line("if they have to: pytest --costs FILE, then python -m publish.costs FILE")


class Costs:
    """Appends the cost of each test to a file."""

    def __init__(self, path: Path, starts: Starts) -> None:
        self.path = path
        self.starts = starts
        self.clock = time.perf_counter()

    def pytest_collection_finish(self) -> None:
        """Write what importing and collecting cost until now; workers that were started are no processes of tests."""
        self._write(COLLECTION, self.clock, 0.0, 0.0, self.starts.total)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure set-up, call and tear-down of one test together."""
        clock, (own, children), started = time.perf_counter(), _processor(), self.starts.total
        result = yield
        self._write(item.nodeid, clock, own, children, started)
        return result

    def _write(self, name: str, clock: float, own: float, children: float, started: int) -> None:
        own_now, children_now = _processor()
        row = {
            "test": name,
            "seconds": round(time.perf_counter() - clock, 4),
            "own": round(own_now - own, 4),
            "children": round(children_now - children, 4),
            "processes": self.starts.total - started,
            "worker": os.environ.get("PYTEST_XDIST_WORKER", ""),
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _processor() -> tuple[float, float]:
    """Processor seconds of this process, and of its children that ended and were waited for."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--costs FILE``."""
    parser.addoption("--costs", type=Path, help="append what each test costs to this file, one JSON line each")


def pytest_configure(config: pytest.Config) -> None:
    """Count in every process; measure on request; keep the order of :func:`pytest_collection_modifyitems` in xdist."""
    starts = Starts()
    config.pluginmanager.register(starts, "processes that tests start")
    if (path := config.getoption("--costs")) is not None:
        config.pluginmanager.register(Costs(path.absolute(), starts), "costs of tests")
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # otherwise xdist orders scopes by their number of tests


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a worker of xdist, put the most expensive modules first."""
    if hasattr(config, "workerinput"):
        items[:] = [items[place] for place in in_order([item.nodeid for item in items], recorded())]
