"""The plugin gives a vendor's pytest one test per clause, and nothing at all unless it is asked to."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import conformance
from conformance.engine.events import RunEnded
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.pytest_plugin import WHOLE_RUN, _Suite, pytest_addoption
from tests.engine.samples import failing, judged, started

all_clauses()  # pytester forgets the modules that a test imports, and a chapter that is imported again is refused

pytest_plugins = ["pytester"]

ROOT = Path(conformance.__file__).parent.parent
# An installed package brings its plugin with it; a second registration would be an error.
INSTALLED = any(point.name == "conformance" for point in importlib.metadata.entry_points(group="pytest11"))
PLUGIN = (*(() if INSTALLED else ("-p", "conformance.pytest_plugin")), "-p", "no:cacheprovider")
CASES = ("--conformance-corpus=corpus", "--conformance-no-readers")
CASE = "id: one\ntitle: One column\ntable:\n  columns: [{name: a, type: INT64}]\n  rows: [{a: 1}, {a: null}]\n"

TARGET = """
name = "vendor"
kind = "serializer"

[serializer]
entry = "vendor:serializer"
path = ["."]
"""
WELL_BEHAVED = """
import pyarrow as pa

class Serializer:
    def serialize_schema(self, schema: pa.Schema) -> bytes:
        return schema.serialize().to_pybytes()

    def serialize_batch(self, batch: pa.RecordBatch) -> bytes:
        return batch.serialize().to_pybytes()

serializer = Serializer()
"""
TRAILING = WELL_BEHAVED.replace(
    "return batch.serialize().to_pybytes()", "return batch.serialize().to_pybytes() + bytes(8)"
)


@pytest.fixture
def vendor(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A vendor's repository with a test of its own and a serializer under test."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(test_own="def test_own(): pass", vendor=WELL_BEHAVED)
    pytester.makefile(".toml", vendor=TARGET)
    pytester.mkdir("corpus").joinpath("one.yaml").write_text(CASE)
    return pytester


def test_nothing_happens_unless_a_target_is_named(vendor: pytest.Pytester) -> None:
    """The vendor's own tests run as ever."""
    vendor.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


def test_the_plugin_imports_nothing_unless_a_target_is_named(vendor: pytest.Pytester) -> None:
    """The installed plugin costs other projects nothing."""
    vendor.makepyfile(
        test_own="""
        import sys

        def test_own():
            assert not [name for name in sys.modules if name.startswith("conformance.")
                        and name != "conformance.pytest_plugin"]
            assert "pyarrow" not in sys.modules
        """
    )

    vendor.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


def test_each_clause_is_a_test_named_after_it(vendor: pytest.Pytester) -> None:
    """The ids are those of the clauses, below the target's file."""
    result = vendor.runpytest_inprocess(*PLUGIN, *CASES, "--conformance-target=vendor.toml", "--collect-only", "-q")

    collected = [line for line in result.outlines if line.startswith("vendor.toml::")]
    assert collected == [f"vendor.toml::{clause}" for clause in (*_asked(), "whole-run")]
    assert "test_own.py::test_own" in result.outlines


def test_a_target_without_a_file_has_tests_too(vendor: pytest.Pytester) -> None:
    """They are named after the address, which is no file in the vendor's directory."""
    url = "--conformance-target=grpc://localhost:9060?rest=http://localhost:9050"
    result = vendor.runpytest_inprocess(*PLUGIN, *CASES, url, "--collect-only", "-q")

    collected = [line for line in result.outlines if line.startswith("localhost-9060::")]
    assert collected == [f"localhost-9060::{clause}" for clause in (*_asked(), "whole-run")]


def test_clauses_pass_or_are_skipped_with_their_reason(vendor: pytest.Pytester) -> None:
    """A serializer shows nothing of sessions: those clauses are skipped, not passed."""
    result = vendor.runpytest_inprocess(*PLUGIN, *CASES, "--conformance-target=vendor.toml", "-rs")

    outcomes = result.parseoutcomes()
    assert result.ret == 0
    assert outcomes["passed"] > 20
    assert outcomes["skipped"] > 20
    result.stdout.fnmatch_lines(["*no case of this run had anything to judge*"])


def test_a_deviation_fails_its_clause_with_the_report(vendor: pytest.Pytester) -> None:
    """The failure text is the report on the clause, not a traceback of the suite."""
    vendor.makepyfile(vendor=TRAILING)

    result = vendor.runpytest_inprocess(*PLUGIN, *CASES, "--conformance-target=vendor.toml")

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*framing.*", "  required  *", "  observed  *", "  replay    conformance replay *vendor.toml"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_an_expected_failure_is_an_xfail(vendor: pytest.Pytester) -> None:
    """Deviations that the vendor has listed do not break the build."""
    vendor.makepyfile(vendor=TRAILING)
    entry = '\n[[expected_failures]]\nclause = "*"\nreason = "fail: *"\n'
    vendor.makefile(".toml", vendor=TARGET + entry)

    result = vendor.runpytest_inprocess(*PLUGIN, *CASES, "--conformance-target=vendor.toml")

    assert result.ret == 0
    assert result.parseoutcomes()["xfailed"] >= 1


@pytest.mark.parametrize(("ended", "failed"), [((RunEnded(1.0),), 0), ((), 1)])
def test_a_may_clause_alone_fails_nothing_and_hides_no_broken_run(
    vendor: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ended: tuple[RunEnded, ...], failed: int
) -> None:
    """Its failure is an xfail; a run that was cut short fails as it would without the clause."""
    all_clauses()
    optional = "session.trace-id-is-echoed"
    result = fold([started(optional), judged("a", failing("a", optional, "absent")), *ended])
    monkeypatch.setattr(_Suite, "result", result)

    run = vendor.runpytest_inprocess(
        *PLUGIN, *CASES, "--conformance-target=vendor.toml", "-k", f"{optional} or {WHOLE_RUN}"
    )

    assert run.parseoutcomes().get("failed", 0) == failed
    assert run.parseoutcomes()["xfailed"] == 1


def test_clauses_are_selected_as_tests_are(vendor: pytest.Pytester) -> None:
    """``-k`` and node ids choose clauses; the rest is not judged."""
    clause = next(clause for clause in all_clauses() if clause.startswith("framing."))

    by_word = vendor.runpytest_inprocess(*PLUGIN, *CASES, "--conformance-target=vendor.toml", "-k", "framing")
    by_name = vendor.runpytest_inprocess(*PLUGIN, *CASES, "--conformance-target=vendor.toml", f"vendor.toml::{clause}")

    by_word.assert_outcomes(**{**by_word.parseoutcomes(), "deselected": len(_asked()) + 2 - _count("framing")})
    by_name.assert_outcomes(passed=1)


def _count(word: str) -> int:
    return sum(word in clause for clause in _asked())


def _asked() -> list[str]:
    """The clauses that a Storage Read server is judged by."""
    return [clause.id for clause in all_clauses().values() if "bq-arrow" in clause.profiles]


def test_a_wrong_target_file_is_a_usage_error(vendor: pytest.Pytester) -> None:
    """One sentence, before any test runs."""
    vendor.makefile(".toml", vendor="name = 3")

    result = vendor.runpytest_inprocess(*PLUGIN, "--conformance-target=vendor.toml")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: vendor.toml: *"])


def test_a_target_of_the_suite_is_found_by_its_name(vendor: pytest.Pytester) -> None:
    """As on the command line; an unknown name is refused with the nearest one."""
    found = vendor.runpytest_inprocess(*PLUGIN, *CASES, "--conformance-target=pyarrow", "-k", "framing")
    lost = vendor.runpytest_inprocess(*PLUGIN, *CASES, "--conformance-target=pyarow")

    assert found.ret == pytest.ExitCode.OK
    found.stdout.fnmatch_lines(["conformance: target pyarrow (*pyarrow.toml), *"])
    assert lost.ret == pytest.ExitCode.USAGE_ERROR
    lost.stderr.fnmatch_lines(["ERROR: no target is called 'pyarow'; did you mean pyarrow or flight-pyarrow or *"])


def test_a_dead_target_fails_each_clause_with_the_reason(vendor: pytest.Pytester) -> None:
    """Nothing is judged, so nothing passes."""
    vendor.makefile(".toml", vendor=TARGET.replace("vendor:serializer", "absent:serializer"))

    result = vendor.runpytest_inprocess(*PLUGIN, *CASES, "--conformance-target=vendor.toml", "vendor.toml")

    assert set(result.parseoutcomes()) == {"failed"}
    result.stdout.fnmatch_lines(["*absent*"])


def test_the_installed_entry_point_is_the_module_under_test() -> None:
    """The name in the package's metadata exists."""
    done = subprocess.run(
        [sys.executable, "-c", "import conformance.pytest_plugin as plugin; plugin.pytest_addoption"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0


@pytest.mark.parametrize(
    ("option", "refused"), [("cases", "-5"), ("cases", f"{10**30}"), ("seed", f"-{10**23}"), ("seed", "x")]
)
def test_a_number_out_of_range_is_refused(option: str, refused: str) -> None:
    """The ranges are those of the options of `conformance run`."""
    parser = pytest.Parser(_ispytest=True)
    pytest_addoption(parser)

    with pytest.raises(pytest.UsageError, match=f"argument --conformance-{option}: .* is not"):
        parser.parse([f"--conformance-{option}={refused}"])
    assert parser.parse([f"--conformance-{option}=7"]).__dict__[f"conformance_{option}"] == 7
