"""The rooms' order: a room imports only from rooms below it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import conformance

PACKAGE = Path(conformance.__file__).parent
FLOORS = (
    ("contain", "disk"),
    ("_codec",),
    ("records",),
    ("_jsonschema",),
    ("wire",),
    ("contract",),
    ("generate",),
    ("targets",),
    ("readers",),
    ("reference",),
    ("engine",),
    ("drift",),
    ("campaign",),
    ("report",),
    ("cli", "pytest_plugin"),
    ("__main__",),
)
FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "_data" not in path.relative_to(PACKAGE).parts)
"""Every module; what an installed package carries as data, adapters among it, is no room."""


def room_of(path: Path) -> str:
    """The room that a module of the package stands in."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported_rooms(path: Path) -> Iterator[str]:
    """Every room that a module imports anything from, at run time or for its annotations."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "conformance":
            yield from (alias.name for alias in node.names if alias.name in FLOOR)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("conformance."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            names = (alias.name.split(".") for alias in node.names)
            yield from (parts[1] for parts in names if parts[0] == "conformance" and len(parts) > 1)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downward(path: Path) -> None:
    """A module imports only from its own room and from rooms on lower floors."""
    room = room_of(path)
    if room == "__init__":
        assert list(imported_rooms(path)) == []
        return

    upward = {other for other in imported_rooms(path) if other != room and FLOOR[other] >= FLOOR[room]}

    assert upward == set()


def test_every_room_has_a_floor() -> None:
    """No room stands outside the order."""
    rooms = {room_of(path) for path in MODULES} - {"__init__"}

    assert rooms <= set(FLOOR)


def test_judging_bytes_needs_pyarrow_and_numpy_only() -> None:
    """Judging messages works in a process where every optional dependency is missing."""
    script = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"google", "grpc", "hypothesis", "click", "rich", "jinja2", "yaml", "jsonschema",
                                  "requests", "h11", "sqlglot", "pandas", "nanoarrow", "arro3", "polars", "fastavro"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import pyarrow as pa
from conformance.contract.files import judge_bytes
schema = pa.schema([pa.field("a", pa.int64())])
batch = pa.record_batch([pa.array([1, None], pa.int64())], schema=schema)
verdicts = judge_bytes(schema.serialize().to_pybytes(), [batch.serialize().to_pybytes()])
assert {verdict.outcome for verdict in verdicts} == {"pass"}, verdicts
assert len(verdicts) > 20
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, "")
