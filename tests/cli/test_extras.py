"""Commands load what they use: bytes are judged without servers, and a missing extra is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

ABSENT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from conformance.cli import main
main({arguments!r})
"""


def without(absent: set[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process where some packages are not installed."""
    script = ABSENT.format(absent=absent, arguments=list(arguments))
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


SERVERS = {"grpc", "hypothesis", "google", "requests", "h11", "sqlglot", "pandas", "jinja2", "yaml", "jsonschema"}


@pytest.fixture
def schema(tmp_path: Path) -> str:
    """A schema message in a file."""
    path = tmp_path / "schema.bin"
    path.write_bytes(pa.schema([pa.field("a", pa.int64())]).serialize().to_pybytes())
    return str(path)


def test_checking_files_needs_no_server_and_no_generator(schema: str) -> None:
    """Judging bytes imports no optional library except click."""
    done = without(SERVERS | {"rich"}, "check", "--schema", schema)

    assert (done.returncode, done.stderr) == (0, "")


def test_dissecting_needs_no_server_and_no_generator(schema: str) -> None:
    """As checking."""
    done = without(SERVERS | {"rich"}, "dissect", schema)

    assert (done.returncode, done.stderr) == (0, "")
    assert "continuation" in done.stdout


@pytest.mark.parametrize("command", ["check", "dissect"])
def test_findings_are_shown_without_any_extra(command: str, tmp_path: Path) -> None:
    """The bytes around a finding are annotated with what judging needs."""
    path = tmp_path / "cut.bin"
    path.write_bytes(pa.schema([pa.field("a", pa.int64())]).serialize().to_pybytes()[:40])

    done = without(SERVERS | {"rich", "psutil", "fastavro", "polars", "nanoarrow", "arro3"}, command, str(path))

    assert (done.returncode, done.stderr) == (1, "")
    assert "metadata" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["clauses"], ["explain", "framing.batch-single-message"], ["--help"]], ids=" ".join
)
def test_reading_the_contract_needs_no_server_and_no_generator(arguments: list[str]) -> None:
    """The text of the clauses is there for everybody."""
    done = without(SERVERS | {"rich"}, *arguments)

    assert (done.returncode, done.stderr) == (0, "")


def test_without_an_extra_of_the_command_it_is_named() -> None:
    """The package that is missing, and what to install."""
    done = without({"rich"}, "run")

    assert done.returncode == 2
    assert done.stderr.startswith(
        "Error: this command needs rich, which is not installed; install it with: pip install "
    )


def test_a_campaign_without_spark_names_its_extra() -> None:
    """Which is another than that of all other commands."""
    done = without({"pyspark"}, "campaign", "--target", "targets/pyarrow.toml", "--cases", "1", "--out", "unused")

    assert done.returncode == 2
    assert "needs pyspark" in done.stderr
    assert "pip install 'arrow-conformance[run,readers,spark]', or " in done.stderr
    assert done.stderr.endswith("in a checkout: pip install '.[run,readers,spark]'\n")
