"""The targets for software of others: the files are complete, and the programs around serializers work."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from conformance.cli._group import cli
from conformance.targets import load_target
from conformance.targets.environmentspec import is_path
from conformance.targets.shipped import shipped_targets
from publish.emulators import SERIALIZERS, SERVERS, TARGETS
from tests.targets.conftest import ROOT

NEEDS = {"nanoarrow": "nanoarrow", "arro3": "arro3.io", "polars": "polars"}
"""The module that the program of each target imports."""
CASES = ("types.int64", "types.string", "types.numeric", "types.string-repeated", "shapes.one-row")
"""Cases that every library of the control group can write."""


def judged(target: Path, cases: Sequence[str]) -> tuple[int, str]:
    """Exit status and output of a run on the bytes alone."""
    chosen = [part for case in cases for part in ("--select", case)]
    log = target.with_suffix(".jsonl")
    done = CliRunner().invoke(
        cli, ["run", "--target", str(target), "--no-readers", "--no-smoke", "--log", str(log), *chosen]
    )
    return done.exit_code, done.output


def with_this_interpreter(name: str, folder: Path) -> Path:
    """The target file ``name`` without an environment of its own: its program runs where the tests run."""
    text = (ROOT / "targets" / f"{name}.toml").read_text("utf-8")
    program = tomllib.loads(text)["start"]["command"][1].replace("{here}", str(ROOT / "targets"))
    file = folder / f"{name}.toml"
    file.write_text(f'name = "{name}"\nkind = "program"\n[start]\ncommand = ["{sys.executable}", "{program}"]\n')
    return file


def test_every_published_target_has_a_file() -> None:
    """The program that makes the reports names no target that does not exist."""
    assert set(TARGETS) <= set(shipped_targets())


@pytest.mark.parametrize("name", [*SERIALIZERS[1:], *SERVERS])
def test_a_target_pins_what_it_installs(name: str) -> None:
    """A new installation is the one that was judged: exact versions, and sums of a Go module's requirements."""
    spec = load_target(name)
    wanted = spec.environment
    assert wanted is not None

    assert all("==" in entry for entry in (*wanted.python, *wanted.constraints))
    assert all(entry.rpartition("@")[2].replace(".", "").isdigit() for entry in wanted.npm)
    assert all(entry.count(":") == 2 for entry in wanted.maven)
    assert all(is_path(entry) and (spec.here / entry / "go.sum").is_file() for entry in wanted.go)
    for entry in wanted.crate:
        required = tomllib.loads((spec.here / entry / "Cargo.toml").read_text("utf-8"))["dependencies"].values()
        assert all((one if isinstance(one, str) else one["version"]).startswith("=") for one in required)


@pytest.mark.parametrize("name", NEEDS)
def test_a_serializer_writes_what_bigquery_would(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two libraries write tables unchanged; polars has types of its own, and the suite says which."""
    pytest.importorskip(NEEDS[name], exc_type=ImportError)
    monkeypatch.chdir(tmp_path)

    status, said = judged(with_this_interpreter(name, tmp_path), CASES)

    if name == "polars":
        assert status == 1
        assert "large-list<item: large-utf8>" in said
    else:
        assert status == 0, said
        assert "nothing unexpected" in said


def test_a_stream_is_cut_into_its_messages() -> None:
    """The schema and the batch are the bytes that pyarrow writes for them; without a batch nothing is left."""
    table = pa.table({"a": [1, 2]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from messages import cut\n"
        "schema, batch = cut(sys.stdin.buffer.read()); sys.stdout.write(schema.hex() + ' ' + batch.hex())"
    )

    cut = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "targets" / "serializers")],
        input=sink.getvalue().to_pybytes(),
        capture_output=True,
        check=True,
    ).stdout.decode()

    schema, batch = (bytes.fromhex(part) for part in cut.split(" "))
    assert schema == table.schema.serialize().to_pybytes()
    assert batch == table.to_batches()[0].serialize().to_pybytes()


@pytest.mark.slow(env="environments")
@pytest.mark.parametrize("name", ["arrow-go", "arrow-java"])
def test_a_compiled_serializer_writes_what_bigquery_would(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The programs in Go and Java are built with the pinned versions, and write tables unchanged."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))
    prepared = CliRunner().invoke(cli, ["prepare", "--target", name])
    if prepared.exit_code:
        pytest.skip(prepared.output)

    done = CliRunner().invoke(
        cli, ["run", "--target", name, "--no-readers", *(part for case in CASES for part in ("--select", case))]
    )

    assert done.exit_code == 0, done.output
