"""Runs the tests of one mutant after another, each in a fork of a process that has already imported the libraries.

The program works in a copy of the checkout, its working directory. It reads a mutant and its tests as one line of JSON,
and answers with one line: how the tests ended, and which test failed first.
"""

import ctypes
import importlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.mutation.mutants import Mutant

# Nothing of the suite is among them: the mutated module is imported after the fork.
LIBRARIES = (
    *("hypothesis", "numpy", "pyarrow.compute", "pyarrow.ipc", "pyarrow.parquet", "grpc", "fastavro", "jsonschema"),
    *("google.protobuf.json_format", "yaml", "click.testing", "rich.console", "rich.table", "jinja2", "h11", "sqlglot"),
)
# A test that hangs is ended after so many seconds, or after so many times its usual ones.
HANGS_SECONDS = 60.0
HANGS_FACTOR = 10.0
# Bytes that a mutant may allocate: a mutant that allocates without end fails before the machine does.
MEMORY = 12 << 30
# How often the processes are reaped that outlive their parent.
REAP_SECONDS = 0.05
_SUBREAPER = 36


class Chosen:
    """A pytest plugin that runs these tests in this order, and writes how they ended and which failed first."""

    def __init__(self, tests: list[str], out: int) -> None:
        self._out = out
        self._order = {name: at for at, name in enumerate(tests)}
        self.failed: str | None = None
        self.hung = False
        self.ran = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Other tests of the same files are left out."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self._order), key=lambda item: self._order[item.nodeid]
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The first failure decides."""
        self.ran += report.when == "call"
        if report.failed and self.failed is None:
            self.failed = report.nodeid
            self.hung = "Timeout (>" in str(report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported any more is a failure as well."""
        if report.failed and self.failed is None:
            self.failed = report.nodeid

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """All is known now; what pytest finds as it ends belongs to no test."""
        answer = {"status": int(exitstatus), "failed": self.failed, "hung": self.hung, "ran": self.ran}
        os.write(self._out, json.dumps(answer).encode())


def _run(tests: list[str], slowest: float, log: Path, out: int) -> None:
    """The fork: runs the tests and writes what came of it."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, sink), (2, sink)):
        os.dup2(source, target)
    files = list(dict.fromkeys(name.split("::", maxsplit=1)[0] for name in tests))
    limit = max(HANGS_SECONDS, slowest * HANGS_FACTOR)
    # Pytest cannot rewrite the assertions of a plugin that was imported before the fork, and says so.
    unheard = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
    options = ["-q", "-x", "--tb=short", "-p", "no:cacheprovider", "--hypothesis-profile=ci", "-W", unheard]
    pytest.main(
        [*options, f"--timeout={limit}", f"--basetemp={log.parent / 'tmp'}", *files], plugins=[Chosen(tests, out)]
    )


def _forked(job: dict[str, Any], log: Path) -> dict[str, Any]:
    """The answer that the fork wrote: a hang if it wrote none until the limit, a crash if it ended without one."""
    mine, its = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(mine)
            _run(job["tests"], job["slowest"], log, its)
            code = 0
        except BaseException:  # noqa: BLE001  # a fork must not return into its parent's program
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(its)
    deadline = time.monotonic() + job["limit"]
    ready = False
    while not ready and time.monotonic() < deadline:
        # Tests wait for the end of processes whose parent is gone; this one inherits them, and has to bury them.
        while _reaped():
            pass
        ready = bool(select.select([mine], [], [], REAP_SECONDS)[0])
    text = os.read(mine, 1 << 16) if ready else b""
    os.close(mine)
    _end_descendants()
    if text:
        return dict(json.loads(text))
    return {"status": None, "failed": None, "hung": not ready, "ran": 0}


def _end_descendants() -> None:
    """Whatever a mutant started, and the fork itself; this process inherits the orphans."""
    for _ in range(20):
        left = psutil.Process().children(recursive=True)
        for process in left:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        while _reaped():
            pass
        if not left:
            return


def _reaped() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


class Changed:
    """The mutated file, for as long as its tests run."""

    def __init__(self, mutant: Mutant) -> None:
        self._path = Path(mutant.path)
        self._original = self._path.read_text()
        self._times = self._path.stat()
        self._new = mutant.applied(self._original)

    @property
    def gone(self) -> bool:
        """Whether the code that the mutant changes is no longer there."""
        return self._new is None

    def __enter__(self) -> None:
        assert self._new is not None
        self._path.write_text(self._new)
        # Bytecode is valid for one time of change: that of a mutant is none that any other one had.
        later = time.time_ns() + 1_000_000_000 * os.getpid()
        os.utime(self._path, ns=(later, later))

    def __exit__(self, *_: object) -> None:
        self._path.write_text(self._original)
        os.utime(self._path, ns=(self._times.st_atime_ns, self._times.st_mtime_ns))


def answers(jobs: Iterator[str], log: Path) -> Iterator[dict[str, Any]]:
    """An answer for each job; a job without a mutant runs its tests on the code as it is."""
    for line in jobs:
        job = json.loads(line)
        start = time.perf_counter()
        if job["mutant"] is None:
            answer = _forked(job, log)
        else:
            kept = Changed(
                Mutant(**{**job["mutant"], "old": tuple(job["mutant"]["old"]), "new": tuple(job["mutant"]["new"])})
            )
            if kept.gone:
                answer = {"status": None, "failed": None, "hung": False, "ran": 0, "gone": True}
            else:
                with kept:
                    answer = _forked(job, log)
        shutil.rmtree(log.parent / "tmp", ignore_errors=True)
        yield {**answer, "seconds": round(time.perf_counter() - start, 2)}


def main(log: Path) -> None:
    """Serves standard input and output until the former ends."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.dont_write_bytecode = True
    for library in LIBRARIES:
        importlib.import_module(library)
    for answer in answers(iter(sys.stdin.readline, ""), log):
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
