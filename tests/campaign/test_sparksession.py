from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conformance.campaign.sparksession import JavaMissing, check_java, package_archive, settled_conf


def java(directory: Path, version: str) -> None:
    """Put a program named java into a directory that says it is of a version."""
    program = directory / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2021-09-14' >&2\n")
    program.chmod(0o755)


def test_a_missing_java_is_told_with_the_way_to_get_it(tmp_path: Path) -> None:
    """One sentence on standard error, status 2, no traceback."""
    environment = {**os.environ, "PATH": str(tmp_path)}
    environment.pop("JAVA_HOME", None)
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "campaign", "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr == (
        "Error: no java in PATH; a campaign runs on Spark, which needs Java 17 or newer: install one"
        " (apt install openjdk-17-jre-headless, dnf install java-17-openjdk-headless, brew install openjdk@17)"
        " or point JAVA_HOME at it\n"
    )


@pytest.mark.parametrize(("version", "number"), [("11.0.2", "11"), ("1.8.0_302", "8")])
def test_an_old_java_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, number: str) -> None:
    """Spark would fail later with less clear words."""
    java(tmp_path, version)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("JAVA_HOME", raising=False)

    with pytest.raises(JavaMissing, match=f"is Java {number}; a campaign runs on Spark, which needs Java 17 or newer"):
        check_java()


def test_java_17_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So does any newer one, in JAVA_HOME as well."""
    (tmp_path / "bin").mkdir()
    java(tmp_path / "bin", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")

    check_java()  # raises for any other


def test_the_package_travels_whole(tmp_path: Path) -> None:
    """A sandbox starts from the archive alone, on a machine where the package is not installed."""
    archive = package_archive(tmp_path)
    script = "import conformance, conformance.campaign.sandbox, conformance.readers; print(conformance.__file__)"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**environment, "PYTHONPATH": str(archive)},
        cwd=tmp_path,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(str(archive))
    assert zipfile.ZipFile(archive).testzip() is None


def test_spark_keeps_its_warehouse_in_the_run(tmp_path: Path) -> None:
    """Its default is a folder in the current directory; who wants another place says so."""
    name = "spark.sql.warehouse.dir"

    assert settled_conf(tmp_path, "local[1]", "python", {})[name] == (tmp_path / "spark-warehouse").as_uri()
    assert settled_conf(tmp_path, "local[1]", "python", {name: "/elsewhere"})[name] == "/elsewhere"
