"""Records the lines that each test reaches, in one run of all tests, and chooses the tests for a mutant from it."""

import ast
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from coverage import Coverage, CoverageData

from tests.mutation.mutants import Mutant
from tests.mutation.recorder import FOLDER

# The tests that apply changes to a copy of the checkout, or drive the built adapters, take minutes each.
NOT_USED = ("tests/docs", "tests/adapters", "tests/hostile", "tests/mutation")
# The seconds of a mutant's budget that one file of tests may use, at first and in all. The file that mirrors the module
# may use the full budget.
FIRST_SECONDS = 0.4
FILE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Test:
    """One test that passed, and what it took."""

    name: str
    seconds: float
    fixtures: tuple[str, ...]

    @property
    def file(self) -> str:
        """The file that it is in."""
        return self.name.split("::", maxsplit=1)[0]

    @property
    def function(self) -> str:
        """Its name without its parameters."""
        return self.name.split("[", maxsplit=1)[0]


def record(root: Path, folder: Path, arguments: Sequence[str]) -> int:
    """Runs the tests of the copy `root` under coverage, and returns pytest's exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "PYTHONHASHSEED": "0",
        FOLDER: str(folder),
        "COVERAGE_PROCESS_START": str(root / "tests/mutation/coverage.ini"),
    }
    ignored = [f"--ignore={path}" for path in NOT_USED]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutation.recorder", "-p", "no:cacheprovider",
               "--hypothesis-profile=ci", *ignored, *arguments]  # fmt: skip
    status = subprocess.run(command, cwd=root, env=environment, check=False).returncode
    kept = Coverage(data_file=folder / "lines", config_file=False)
    if (folder / "lines").exists():
        kept.load()
    kept.combine([str(path) for path in folder.glob("lines.*")], keep=False)
    return status


class Recording:
    """The tests, and which of them reach a line of a module."""

    def __init__(self, folder: Path) -> None:
        self._data = CoverageData(str(folder / "lines"))
        self._data.read()
        self.tests = {test.name: test for test in _tests(folder)}

    @cached_property
    def _users(self) -> Mapping[str, Sequence[str]]:
        users: dict[str, list[str]] = defaultdict(list)
        for test in self.tests.values():
            for fixture in test.fixtures:
                users[fixture].append(test.name)
        return users

    def lines(self, path: str) -> dict[int, frozenset[str]]:
        """The tests that reach each line of a module; a line that runs at import has none."""
        found: dict[int, set[str]] = defaultdict(set)
        # Tests that run the suite in a copy of its own reach the same lines of another file.
        for measured in self._data.measured_files():
            if measured.endswith(f"/{path}"):
                for line, contexts in self._data.contexts_by_lineno(measured).items():
                    found[line].update(self._named(contexts))
        return {line: frozenset(names) for line, names in found.items()}

    def _named(self, contexts: Iterable[str]) -> Iterator[str]:
        for context in contexts:
            # Of `static|dynamic`; the static one is the environment variable, which says the phase as well.
            for part in context.split("|"):
                name = re.sub(r" \((setup|call|teardown)\)$", "", part)
                if name in self.tests:
                    yield name
                yield from self._users.get(name, ())


def _tests(folder: Path) -> Iterator[Test]:
    for path in sorted(folder.glob("tests-*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            if row["passed"]:
                yield Test(row["test"], row["seconds"], tuple(row["fixtures"]))


class Choice:
    """Chooses the tests for the mutants of one module."""

    def __init__(self, recording: Recording, path: str, source: str) -> None:
        self._tests = recording.tests
        self._path = path
        self._lines = recording.lines(path)
        package = f"tests/{PurePosixPath(path).parts[1]}/"
        # A change of code that runs at import may fail a test that calls nothing of the module, such as a test that
        # lists all clauses.
        self._every = frozenset().union(
            *self._lines.values(),
            (test.name for test in self._tests.values() if test.file.startswith(package) or test.file.count("/") == 1),
        )
        self._source = source
        self._statements, self._bodies = _spans(source)

    def tests(self, mutant: Mutant, seconds: float) -> list[str]:
        """The tests to run, first those that mirror the module; together within `seconds`, or the cheapest one alone.

        They are the tests that reach a changed line. Code that runs at import belongs to no single test: for it, they
        are the tests that reach any line of the module, the tests of its package, and those of no package.
        """
        reaching = self._reaching(mutant)
        return _within([self._tests[name] for name in (reaching or self._every)], self._path, seconds)

    def _reaching(self, mutant: Mutant) -> frozenset[str]:
        line = mutant.found(self._source)
        # One-line functions are bodies and heads at once, and count as bodies.
        if line is None or not any(line in body for body in self._bodies):
            return self._every
        changed = range(line, line + len(mutant.old))
        first = frozenset().union(*(self._lines.get(line, frozenset()) for line in changed))
        if first:
            return first
        spans = [span for span in self._statements if line in span]
        narrow = min(spans, key=len, default=changed)
        return frozenset().union(*(self._lines.get(line, frozenset()) for line in narrow))


def _spans(source: str) -> tuple[list[range], list[range]]:
    """The lines of each simple statement and of each head of a compound one; the lines of each function's body."""
    statements, bodies = [], []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = node.end_lineno or node.lineno
            statements.append(range(node.lineno, max(body[0].lineno - 1 if body else last, node.lineno) + 1))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                bodies.append(range(node.body[0].lineno, last + 1))
    return statements, bodies


def _within(tests: Sequence[Test], path: str, seconds: float) -> list[str]:
    files: dict[str, list[Test]] = defaultdict(list)
    for test in tests:
        files[test.file].append(test)
    ranked = sorted(files, key=lambda file: (_distance(file, path), min(test.seconds for test in files[file]), file))
    chosen: dict[str, None] = {}
    spent = 0.0
    # Every file is heard before any has its full share: what many cheap tests miss, another file may be there for.
    for share in (FIRST_SECONDS, FILE_SECONDS):
        for file in ranked:
            in_file = 0.0
            for test in _in_turn(files[file]):
                if in_file and in_file + test.seconds > share and _distance(file, path):
                    break
                in_file += test.seconds
                if test.name not in chosen and spent + test.seconds <= seconds:
                    chosen[test.name] = None
                    spent += test.seconds
    return list(chosen) or [test.name for test in sorted(tests, key=lambda test: (test.seconds, test.name))[:1]]


def _in_turn(tests: Sequence[Test]) -> list[Test]:
    """The cheapest parameters of each function, then the second cheapest of each, and so on."""
    functions: dict[str, list[Test]] = defaultdict(list)
    for test in sorted(tests, key=lambda test: (test.seconds, test.name)):
        functions[test.function].append(test)
    turns = [(turn, test.seconds, test.name, test) for group in functions.values() for turn, test in enumerate(group)]
    return [test for *_, test in sorted(turns, key=lambda row: row[:3])]


def _distance(file: str, path: str) -> int:
    """How far a file of tests is from the module: 0 mirrors it, 1 its folder, 2 its package or none, 3 another."""
    module = PurePosixPath(path).relative_to("conformance")
    test = PurePosixPath(file).relative_to("tests")
    tested = test.stem.removeprefix("test_")
    names = {*module.parts[1:-1], module.stem.strip("_")}
    if len(test.parts) == 1:
        return 2
    if test.parts[0] != module.parts[0]:
        return 3
    if tested == module.stem.strip("_"):
        return 0
    return 1 if tested in names or names & set(test.parts[1:-1]) else 2
