"""Costs are summed by module, order the modules, and bound the processes that a run starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from publish.costs import by_module, written
from tests import costs
from tests.costs import COLLECTION, RECORD, Starts, grown, in_order, module_of, recorded
from tests.fixtures import ROOT

RECORDED: Final = {
    "tests/a.py": {"seconds": 2.0, "processes": 40},
    "tests/b.py": {"seconds": 9.0, "processes": 60},
}


def _row(test: str, own: float, processes: int = 0) -> str:
    return json.dumps({"test": test, "seconds": 2 * own, "own": own, "children": 1.0, "processes": processes})


def test_costs_are_summed_by_module() -> None:
    """Processor seconds are those of the process and of its children; collecting is no test."""
    found = by_module([_row("tests/a.py::x", 0.5, 2), _row("tests/a.py::y[::]", 1.5, 1), _row(COLLECTION, 3.0)])

    assert found == {
        COLLECTION: {"seconds": 6.0, "processor": 4.0, "items": 0, "processes": 0},
        "tests/a.py": {"seconds": 4.0, "processor": 4.0, "items": 2, "processes": 3},
    }


def test_a_record_has_a_line_for_each_module() -> None:
    """It is the JSON that was written, and a change of one module is a change of one line."""
    text = written(RECORDED)

    assert json.loads(text) == RECORDED
    assert text.count("\n") == 4


def test_expensive_modules_come_first() -> None:
    """A module without a record comes before all; the tests of a module stay in their order."""
    tests = ["tests/a.py::x", "tests/a.py::y", "tests/b.py::x", "tests/new.py::x", "tests/a.py::z"]

    assert [tests[place] for place in in_order(tests, RECORDED)] == [
        "tests/new.py::x", "tests/b.py::x", "tests/a.py::x", "tests/a.py::y", "tests/a.py::z",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("started", "sentence"),
    [
        ({}, ""),
        ({"tests/a.py": 40, "tests/b.py": 60}, ""),
        ({"tests/a.py": 50, "tests/b.py": 60}, ""),
        ({"tests/a.py": 10, "tests/b.py": 60, "tests/c.py": 40}, ""),
        (
            {"tests/a.py": 41, "tests/b.py": 50, "tests/c.py": 20},
            (
                "the tests started 111 processes, and costs.json records 100: "
                "tests/c.py 20 instead of 0, tests/a.py 41 instead of 40"
            ),
        ),
    ],
)
def test_more_processes_than_recorded_are_named(started: dict[str, int], sentence: str) -> None:
    """A tenth more in all is allowed; beyond that each module that grew is named."""
    assert grown(started, RECORDED) == sentence


def test_starts_of_processes_are_heard() -> None:
    """By the events of the interpreter, without starting one; a Popen that spawns is one start."""
    starts = Starts()

    for event in ("subprocess.Popen", "os.posix_spawn", "open", "os.fork", "import"):
        starts._heard(event, ())

    assert starts.total == 2


def test_without_a_record_nothing_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a source distribution, which leaves it out."""
    monkeypatch.setattr(costs, "RECORD", tmp_path / "costs.json")

    assert grown({"tests/a.py": 9}, recorded()) == ""
    assert in_order(["tests/b.py::x", "tests/a.py::y"], recorded()) == [0, 1]


@pytest.mark.skipif(not RECORD.exists(), reason="a source distribution has no record")
def test_the_record_is_of_modules_that_exist() -> None:
    """A module that was removed would allow its processes to others."""
    modules = [name for name in json.loads(RECORD.read_text(encoding="utf-8")) if name != COLLECTION]

    assert [name for name in modules if not RECORD.parents[1].joinpath(name).exists()] == []


def test_a_module_is_the_file_of_a_test() -> None:
    """Whatever its parameters contain."""
    assert module_of("tests/a.py::Class::test[x::y]") == "tests/a.py"


CONFTEST: Final = """
import json
from pathlib import Path

from tests import costs

costs.RECORD = Path(__file__).with_name("record.json")
"""
STARTING: Final = """
import subprocess
import pytest

@pytest.mark.parametrize("number", range(3))
def test_start(number):
    subprocess.run(["true"], check=True)
"""


def test_a_run_on_two_workers_is_bounded(tmp_path: Path) -> None:
    """Workers count, and the main process compares the sum."""
    record = {"few/test_a.py": {"seconds": 1, "processes": 3}, "few/test_b.py": {"seconds": 2, "processes": 2}}
    (tmp_path / "few").mkdir()
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "record.json").write_text(json.dumps(record))
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = few\naddopts = -m 'not slow'\nmarkers = slow\n")
    for name in "ab":
        (tmp_path / "few" / f"test_{name}.py").write_text(STARTING)
    options = "-n 2 --dist loadscope --costs costs -p tests.costs -p no:conformance -p no:cacheprovider"

    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert "the tests started 6 processes, and record.json records 5: few/test_b.py 3 instead of 2" in done.stdout
    measured = by_module((tmp_path / "costs").read_text().splitlines())
    assert {name: (row["items"], row["processes"]) for name, row in measured.items()} == {
        COLLECTION: (0, 0), "few/test_a.py": (3, 3), "few/test_b.py": (3, 3),
    }  # fmt: skip
