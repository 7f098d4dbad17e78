"""The run: one worker for each core, each in a copy of the checkout, and one line of JSON for each mutant."""

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.mutation.mutants import Mutant

# A mutant's tests may take so many times what they took when they were recorded, and so many seconds more.
LIMIT_FACTOR = 5.0
LIMIT_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Job:
    """A mutant, or the code as it is, and the tests to run on it, with the seconds that each took."""

    mutant: Mutant | None
    tests: Mapping[str, float]

    def line(self) -> str:
        """The line of JSON that the worker reads."""
        document = {
            "mutant": None if self.mutant is None else asdict(self.mutant),
            "tests": list(self.tests),
            "slowest": max(self.tests.values(), default=0.0),
            "limit": sum(self.tests.values()) * LIMIT_FACTOR + LIMIT_SECONDS,
        }
        return json.dumps(document) + "\n"


def outcome(answer: Mapping[str, Any]) -> str:
    """How a mutant ended: `killed`, `timeout` (killed as well), `survived`, or `gone` with the code that it changed."""
    if answer.get("gone"):
        return "gone"
    if answer["hung"]:
        return "timeout"
    # Without a status, the process ended by itself; 5 says that none of the tests exists, which no test noticed.
    return "survived" if answer["status"] in {0, 5} else "killed"


def copied(root: Path, target: Path) -> None:
    """A copy of the files that git knows of or would add; nothing that was built."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)


class Worker:
    """A process that runs the tests of mutants in its own copy."""

    def __init__(self, copy: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.mutation.worker", str(copy.parent / f"{copy.name}-log" / "log")],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def asked(self, job: Job) -> dict[str, Any]:
        """The answer to one job."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(job.line())
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("a worker of the mutation run ended")
        return dict(json.loads(answer))

    def close(self) -> None:
        """The worker ends with its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def workers(root: Path, folder: Path, count: int) -> Iterator[list[Worker]]:
    """Workers in fresh copies of the checkout below `folder`."""
    made = []
    try:
        for number in range(count):
            copy = folder / f"copy{number}"
            shutil.rmtree(copy, ignore_errors=True)
            copy.mkdir(parents=True)
            (folder / f"copy{number}-log").mkdir(exist_ok=True)
            copied(root, copy)
            # Mutants write no bytecode: what they do not change is compiled here, once; pytest compiles tests itself.
            _finished([sys.executable, "-m", "compileall", "-q", "conformance"], copy)
            _finished([sys.executable, "-m", "pytest", "-qq", "--collect-only", "-p", "no:cacheprovider"], copy)
            made.append(Worker(copy))
        yield made
    finally:
        for worker in made:
            worker.close()


def _finished(command: Sequence[str], copy: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    subprocess.run(command, cwd=copy, check=True, stdout=subprocess.DEVNULL, env=environment)


def run(jobs: Sequence[Job], among: Sequence[Worker], tell: Callable[[Job, dict[str, Any]], None]) -> None:
    """Give the jobs to the workers, and call ``tell`` with each answer as it arrives, one at a time."""
    left: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        left.put(job)
    lock = threading.Lock()
    failures: list[BaseException] = []

    def serve(worker: Worker) -> None:
        try:
            while not failures:
                job = left.get_nowait()
                answer = worker.asked(job)
                with lock:
                    tell(job, answer)
        except queue.Empty:
            return
        except BaseException as error:  # noqa: BLE001  # raised again by the one who waits
            failures.append(error)

    threads = [threading.Thread(target=serve, args=(worker,)) for worker in among]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
