"""The programs of the README's findings show them, with the libraries that are here in the version of the finding."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from adapters.building import cache_directory, find
from adapters.spec import placeholders, shipped
from conformance.targets.environment import environments
from publish.tables.ipc import DRIFT_FINDINGS, IPC_FINDINGS, PROGRAMS, DriftFinding, IpcFinding
from tests.fixtures import ROOT

pytestmark = pytest.mark.slow(env="adapters")

SECONDS: Final = 300
"""Wall-clock time of one program on a busy machine; a compiler may run in it. This is no test of speed."""
PACKAGES: Final = {"arro3": "arro3-io"}
"""The package of a library in Python, if it has another name."""


def _run(command: list[str], directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=directory,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )


def _needs(found: str | None, version: str, library: str) -> None:
    """Skip unless the library is here in the version of the finding."""
    if found is None:
        pytest.skip(f"{library} is not installed here")
    if found != version:
        pytest.skip(f"{library} is {found} here, and the finding is on {version}")


def _python(program: Path, version: str, _scratch: Path) -> list[str]:
    library = program.name.partition("-")[0]
    package = PACKAGES.get(library, library)
    found = importlib.metadata.version(package) if importlib.util.find_spec(library) else None
    if library == "pyarrow" and found != version:
        # The last file of a complete environment is its record.
        made = sorted(environments().glob(f"pyarrow-{version}-*/made.json"))
        if made:
            return [str(made[-1].parent / "venv" / "bin" / "python"), str(program)]
    _needs(found, version, package)
    return [sys.executable, str(program)]


def _node(program: Path, version: str, scratch: Path) -> list[str]:
    name, package = ("flechette", "@uwdata/flechette") if "flechette" in program.name else ("arrow-js", "apache-arrow")
    modules = cache_directory(shipped()[name]) / "node_modules"
    manifest = modules / package / "package.json"
    found = json.loads(manifest.read_text(encoding="utf-8"))["version"] if manifest.exists() else None
    _needs(found, version, package)
    (scratch / "node_modules").symlink_to(modules)
    return ["node", str(shutil.copy(str(program), scratch))]


def _java(program: Path, version: str, scratch: Path) -> list[str]:
    # Either has the jars: pyspark, or the client of BigQuery that is built here.
    pyspark = placeholders(shipped("adapter.toml")["arrow-java"], scratch).get("pyspark_jars")
    folders = [Path(pyspark)] if pyspark else []
    for jars in (*folders, cache_directory(shipped()["bigquery-java"]) / "jars"):
        if (jars / f"arrow-vector-{version}.jar").exists() and shutil.which("javac"):
            done = _run(["javac", "-d", str(scratch), "-cp", f"{jars}/*", str(program)], scratch)
            assert done.returncode == 0, done.stderr
            opened = "--add-opens=java.base/java.nio=ALL-UNNAMED"
            return ["java", opened, "-cp", f"{scratch}:{jars}/*", program.stem]
    pytest.skip(f"arrow-vector {version} is not here: install pyspark, or run python -m adapters bigquery-java")


def _go(program: Path, version: str, scratch: Path) -> list[str]:
    built = find(shipped("adapter.toml")["arrow-go"])
    _needs(built.version.removeprefix("v") if built else None, version, "arrow-go")
    for file in ("go.mod", "go.sum"):
        shutil.copyfile(ROOT / "adapters" / "arrow-go" / file, scratch / file)
    shutil.copyfile(program, scratch / "main.go")
    done = _run(["go", "build", "-o", "built", "main.go"], scratch, GOFLAGS="-mod=mod", GOPROXY="off")
    assert done.returncode == 0, done.stderr
    return [str(scratch / "built")]


COMMANDS: Final[dict[str, Callable[[Path, str, Path], list[str]]]] = {
    ".py": _python,
    ".mjs": _node,
    ".java": _java,
    ".go": _go,
}


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("finding", [*IPC_FINDINGS, *DRIFT_FINDINGS], ids=lambda each: each.program)
def test_a_program_shows_its_finding(finding: IpcFinding | DriftFinding, tmp_path: Path) -> None:
    """It prints what the row of the finding says, and ends as the row says."""
    program = PROGRAMS / finding.program

    done = _run(COMMANDS[program.suffix](program, finding.version, tmp_path), tmp_path)

    said = done.stdout.removesuffix("\n")
    assert re.search(finding.prints, said), said + done.stderr[-2000:]
    assert done.returncode == (-signal.Signals[finding.ends] if finding.ends else 0), done.stderr[-2000:]
