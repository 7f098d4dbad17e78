"""The table of packages in the documentation, names that stand for one thing, and what judging bytes needs.

The imports themselves are checked by import-linter (``[tool.importlinter]`` in pyproject.toml).
"""

from __future__ import annotations

import ast
import collections
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from conformance.protocol import protocol_names

ROOT = Path(__file__).resolve().parents[1]


def test_the_documented_order_is_the_checked_one() -> None:
    """The table of docs/architecture.md lists the packages, from the lowest up, in the order that is checked."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(one["layers"] for one in settings["contracts"] if one["type"] == "layers")
    checked = [set(re.findall(r"\w+", layer)) for layer in reversed(layers)]
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    documented = [name for row in rows for name in re.findall(r"`(\w+)(?:/|\.py)`", row)]

    places = [next(number for number, layer in enumerate(checked) if name in layer) for name in documented]

    assert places == sorted(places)
    hidden = {name for layer in checked for name in layer if name.startswith("_")}
    assert set(documented) == {name for layer in checked for name in layer} - hidden


def test_a_public_class_name_stands_for_one_thing() -> None:
    """Only the folders of two protocols, or two modules of mutants, may use the same name for their own things."""
    homes = collections.defaultdict(list)
    for path in sorted((ROOT / "conformance").rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(ROOT)))

    twice = {name: places for name, places in homes.items() if len(places) > 1 and not name.startswith("_")}
    kernel = {name for name, places in twice.items() if any("protocols/" not in place for place in places)}
    folders = {
        name: [place.split("/")[2] for place in places if "/mutants/" not in place] for name, places in twice.items()
    }
    within = {name for name, found in folders.items() if len(found) > len(set(found))}
    assert {name: twice[name] for name in sorted(kernel | within)} == {}


def test_only_the_folder_of_a_protocol_names_it() -> None:
    """Storage Read, the first of them, lends its name to the suite's commands and its defaults."""
    for name in protocol_names()[1:]:
        folder = ROOT / "conformance" / "protocols" / name.replace("-", "_")
        others = (path for path in (ROOT / "conformance").rglob("*.py") if folder not in path.parents)
        assert [str(path) for path in others if name in path.read_text().lower()] == []


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
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
