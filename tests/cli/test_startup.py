"""Modules that a command does not import: start-up is counted in modules, so a busy machine changes nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.disk.files import data_file

GOLDEN = data_file("golden") / "bq-arrow"
PAIR = ("--schema", str(GOLDEN / "int64-nullable.schema"), "--batch", str(GOLDEN / "int64-nullable.batch"))
BYTES = frozenset({"numpy", "pyarrow"})
SERVERS = frozenset({"grpc", "google.protobuf", "h11", "psutil"})
CASES = frozenset({"yaml", "hypothesis"})
REPORTS = frozenset({"rich", "jinja2", "jsonschema"})
READERS = frozenset({"pandas", "polars", "arro3", "nanoarrow", "google.cloud", "requests"})
REFERENCE = frozenset({"sqlglot", "fastavro", "conformance.reference"})

_COMMAND = """
import sys
from conformance.cli import main
try:
    main()
finally:
    print("", *sorted(sys.modules), sep="\\nimported ", file=sys.stderr)
"""
_SERVER = """
import sys
import conformance.reference.__main__
print("", *sorted(sys.modules), sep="\\nimported ", file=sys.stderr)
"""


def _imported(code: str, *arguments: str, directory: Path) -> set[str]:
    """The modules that a process has imported in the end."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {line.removeprefix("imported ") for line in done.stderr.splitlines() if line.startswith("imported ")}


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (("--help",), BYTES | SERVERS | CASES | REPORTS | READERS | REFERENCE | {"conformance.contract"}),
        (("--version",), BYTES | SERVERS | CASES | REPORTS | READERS | REFERENCE | {"conformance.contract"}),
        (("check", *PAIR), SERVERS | CASES | REPORTS | READERS | REFERENCE | {"conformance.targets"}),
        (("explain", "framing.batch-single-message"), SERVERS | CASES | REPORTS | READERS | REFERENCE),
        (("clauses",), SERVERS | CASES | REPORTS | READERS | REFERENCE),
        (("dissect", PAIR[1]), SERVERS | CASES | REPORTS | READERS | REFERENCE),
        (
            ("run", "--no-readers", "--select", "types.int64", "--log", "run.jsonl"),
            REFERENCE | {"hypothesis", "jinja2", "jsonschema", "polars", "arro3", "nanoarrow", "google.cloud"},
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_command_imports_nothing_that_it_does_not_use(
    arguments: tuple[str, ...], absent: frozenset[str], tmp_path: Path
) -> None:
    """Each command starts without the libraries of the others."""
    imported = _imported(_COMMAND, *arguments, directory=tmp_path)

    assert "conformance.cli" in imported
    assert not imported & absent


def test_the_reference_server_starts_without_what_few_requests_need(tmp_path: Path) -> None:
    """Mutants, the SQL parser, Avro and pandas are imported when they are asked for, or never. Nothing drives targets
    or draws cases.
    """
    imported = _imported(_SERVER, directory=tmp_path)

    assert "grpc" in imported
    assert not imported & {"conformance.reference.mutants", "sqlglot", "fastavro", "hypothesis", "pandas"}
    assert not imported & {"conformance.targets", "conformance.wire", "conformance.model", "yaml", "psutil"}
