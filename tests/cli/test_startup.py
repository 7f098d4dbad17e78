"""Modules that a command does not import: start-up is counted in modules, so a busy machine changes nothing."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import pytest

from conformance.cli._group import cli
from conformance.disk.files import data_file
from tests.cli.startup import imported_by

GOLDEN = data_file("golden") / "bq-arrow"
PAIR = ("--schema", str(GOLDEN / "timestamp-nullable.schema"), "--batch", str(GOLDEN / "timestamp-nullable.batch"))
BYTES = frozenset({"numpy", "pyarrow"})
SERVERS = frozenset({"grpc", "google.protobuf", "h11", "psutil"})
CASES = frozenset({"yaml", "hypothesis"})
REPORTS = frozenset({"rich", "jinja2", "jsonschema"})
READERS = frozenset({"pandas", "polars", "arro3", "nanoarrow", "google.cloud", "requests"})
REFERENCE = frozenset({"sqlglot", "fastavro", "conformance.reference"})

_COMMANDS = """
import shlex, sys
from conformance.cli import main
for line in sys.stdin.read().splitlines():
    sys.argv[1:] = shlex.split(line)
    try:
        main()
    except SystemExit as end:
        assert not end.code, (line, end.code)
    print("", *sorted(sys.modules), sep="\\nimported ", file=sys.stderr)
    print("ended", file=sys.stderr)
"""
_MODULES = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
    print("", *sorted(sys.modules), sep="\\nimported ", file=sys.stderr)
    print("ended", file=sys.stderr)
"""


def _imported(code: str, *arguments: str, directory: Path, lines: str = "") -> list[set[str]]:
    """The modules that a process has imported at the end of each of its parts: none is forgotten in a later one."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=directory, input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [
        {line.removeprefix("imported ") for line in part.splitlines() if line.startswith("imported ")}
        for part in done.stderr.split("\nended\n")[:-1]
    ]


_ARROW = BYTES
_TARGETS = _ARROW | {"google", "psutil"}
_REPORTED = _TARGETS | {"yaml"}
_SHOWN = _REPORTED | {"rich"}
_REFERENCE = _TARGETS | {"grpc"}
_HEAVY = frozenset(
    {
        *("arro3", "duckdb", "fastavro", "google", "grpc", "h11", "hypothesis", "jinja2", "jsonschema", "nanoarrow"),
        *(
            "numpy",
            "packaging",
            "pandas",
            "polars",
            "psutil",
            "pyarrow",
            "pyspark",
            "requests",
            "rich",
            "sqlglot",
            "yaml",
        ),
    }
)
"""Packages that take long to import."""

ALLOWED: Mapping[str, frozenset[str]] = {
    "campaign": _REFERENCE | {"rich", "yaml"},
    "cases": _ARROW,
    "check": _ARROW,
    "clauses": _ARROW,
    "clients": _SHOWN,
    "compare": _ARROW | {"psutil", "rich"},
    "diff": _REPORTED,
    "dissect": _ARROW,
    "drift": _ARROW | {"jinja2", "packaging", "psutil"},
    "expect": _REPORTED,
    "completion": frozenset(),
    "explain": _ARROW,
    "extract": _TARGETS,
    "freeze": _ARROW,
    "gate": _SHOWN,
    "golden": frozenset(),
    "history": frozenset({"pyarrow"}),
    "init": _ARROW | {"psutil"},
    "judge": _SHOWN,
    "list": _TARGETS,
    "matrix": _REPORTED | {"jinja2"},
    "prepare": _ARROW | {"psutil"},
    "prove": _TARGETS,
    "read": _SHOWN,
    "record": _REFERENCE | {"rich", "yaml"},
    "replay": _SHOWN,
    "replay-server": _REFERENCE | {"yaml"},
    "report": _SHOWN,
    "run": _SHOWN,
    "serve": _ARROW | {"google", "grpc", "psutil"},
    "show": _ARROW | {"yaml"},
    "statement": _REPORTED | {"jinja2"},
    "tables": _TARGETS,
    "truth": _REPORTED,
    "verify": _REPORTED | {"jinja2"},
    "write": _SHOWN,
}
"""The packages of :data:`_HEAVY` that the module of each command imports; no other command imports another one."""


def _module(command: str) -> str:
    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    assert found.callback is not None
    return found.callback.__module__


def test_every_command_has_a_line_in_the_table() -> None:
    """A new command says what it imports."""
    assert set(ALLOWED) == set(cli.list_commands(click.Context(cli)))


@pytest.mark.parametrize("command", sorted(ALLOWED))
def test_the_module_of_a_command_imports_what_the_table_says(command: str) -> None:
    """Every import that a command's start needs is in the sources, in its module or in one that this imports."""
    found = {name.partition(".")[0] for name in imported_by(_module(command))}

    assert found & _HEAVY == ALLOWED[command]


_EVERY = """
import sys
from conformance.cli._group import cli
import click
for command in sys.argv[1:]:
    cli.get_command(click.Context(cli), command)
print("", *sorted(sys.modules), sep="\\nimported ", file=sys.stderr)
print("ended", file=sys.stderr)
"""


def test_the_start_of_a_command_imports_no_reader_and_no_pandas(tmp_path: Path) -> None:
    """No source says that pyarrow imports pandas: only a process that has imported the commands can show it."""
    (imported,) = _imported(_EVERY, *sorted(ALLOWED), directory=tmp_path)

    assert "pyarrow" in imported
    assert not imported & (READERS | {"hypothesis", "pyspark", "duckdb"})


def test_commands_on_results_read_them_without_pandas(tmp_path: Path) -> None:
    """A run on the reference, and each command that reads its results; the one that may import jinja2 comes last."""
    run = "run --no-readers --select types.int64 --log run.jsonl --json run.json"
    lines = [run, "report run.jsonl", "diff run.json run.json", "gate run.jsonl", "matrix run.json"]

    every = _imported(_COMMANDS, directory=tmp_path, lines="\n".join(lines))

    for line, imported in zip(lines, every, strict=True):
        assert "conformance.report" in imported
        assert not imported & (READERS | REFERENCE | {"hypothesis", "jsonschema"}), line
        assert "jinja2" not in imported or line == lines[-1]


def test_a_command_imports_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    """Each command starts without the libraries of the others; those that use the least come first."""
    pair = shlex.join(PAIR)
    bytes_alone = SERVERS | CASES | REPORTS | READERS | REFERENCE
    absent: Mapping[str, frozenset[str]] = {
        "--help": BYTES | bytes_alone | {"conformance.contract"},
        "--version": BYTES | bytes_alone | {"conformance.contract"},
        f"check {pair}": bytes_alone | {"conformance.targets"},
        f"dissect {shlex.quote(PAIR[1])}": bytes_alone,
        "explain framing.batch-single-message": bytes_alone,
        "clauses": bytes_alone,
    }

    every = _imported(_COMMANDS, directory=tmp_path, lines="\n".join(absent))

    for line, imported in zip(absent, every, strict=True):
        assert "conformance.cli" in imported
        assert not imported & absent[line], line


def test_servers_start_without_what_few_requests_need(tmp_path: Path) -> None:
    """Mutants, the SQL parser, Avro and pandas are imported when they are asked for, or never. The reference drives no
    targets and draws no cases.

    The server of Flight and the stand-in of its client convert values while they are imported; mutants of BigQuery's
    service are no business of theirs.
    """
    flight = "conformance.protocols.flight"
    read = "conformance.protocols.storage_read"
    modules = (f"{read}.reference.serving", f"{flight}.reference.serving", f"{flight}.clients.standin")

    every = _imported(_MODULES, *modules, directory=tmp_path)

    for module, imported in zip(modules, every, strict=True):
        assert "grpc" in imported
        absent = READERS | {"conformance.reference.mutants", "sqlglot", "fastavro", "hypothesis"}
        assert not imported & absent, module
    assert not every[0] & {
        "conformance.targets",
        "conformance.wire",
        "conformance.protocols.storage_read.model",
        "yaml",
        "psutil",
    }
