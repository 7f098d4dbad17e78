"""The wheel and the source distribution: their contents, their metadata, and the installed suite in an empty folder."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
from packaging.metadata import Metadata

import conformance
from tests.fixtures import ROOT

pytest.importorskip("hatchling", reason="hatchling builds the distributions; the extra `test` has it")

MIB: Final = 1 << 20
DATA: Final = ("adapters", "cases", "golden", "targets")
"""Folders of the repository that the installed package carries in ``conformance/_data``."""
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

studies = pytest.mark.slow(env="studies")
"""The quick set builds the wheel and looks into it; the rest builds more, and installs."""


def ran(command: Sequence[str | Path], cwd: Path, environment: Mapping[str, str] | None = None) -> str:
    """The output of a command that succeeds."""
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def built(source: Path, target: str, into: Path) -> Path:
    """The distribution that hatchling builds of ``source``; it downloads nothing."""
    ran([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", into], cwd=source)
    (path,) = into.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this working copy."""
    return built(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of this working copy."""
    return built(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


def files(folder: Path) -> Iterator[str]:
    """The files below a folder of the repository, as paths from its root."""
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT).as_posix()


def test_wheel_holds_the_package_and_its_data(wheel: Path) -> None:
    """Every module, and every adapter, case, golden file and target; no test and no report."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert archive.testzip() is None

    package = set(files(ROOT / "conformance"))
    data = {f"conformance/_data/{name}" for folder in DATA for name in files(ROOT / folder)}
    about = {name for name in names if name.startswith(f"arrow_conformance-{conformance.__version__}.dist-info/")}
    assert names == package | data | about
    assert {Path(name).name for name in about} == {"METADATA", "WHEEL", "entry_points.txt", "LICENSE", "RECORD"}


@studies
def test_source_distribution_builds_the_same_wheel(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    """Byte for byte: a build takes nothing from the machine, and the sources are complete."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()

    again = built(source, "wheel", tmp_path / "dist")

    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


@studies
def test_source_distribution_holds_the_tests(sdist: Path) -> None:
    """A packager of the suite can test the build; reports to maintainers stay in the repository until they are sent."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {"tox.ini", "constraints.txt", "CHANGELOG.md", "LICENSE", "tests/test_distribution.py"} <= names
    unsent = {path for path in files(ROOT / "docs") if path.startswith("docs/disclosure/")}
    assert set(files(ROOT / "docs")) - unsent <= names
    assert unsent
    assert not unsent & names


@studies
def test_distributions_are_small(wheel: Path, sdist: Path) -> None:
    """They stay small enough to install in a build of an emulator's own."""
    assert wheel.stat().st_size < 4 * MIB
    assert sdist.stat().st_size < 6.5 * MIB  # half a MiB of it lists the inputs of readers and writers by id


@studies
def test_source_distribution_holds_every_report(sdist: Path) -> None:
    """The JSON of each; the pages made from it are left out, and so is the raw data of the study of the tests."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    reports = {path.relative_to(ROOT).as_posix() for path in (ROOT / "reports").rglob("*.json")}
    assert reports
    assert reports - names == {"reports/mutation.json"}


def test_metadata_is_valid(wheel: Path) -> None:
    """Every field parses as its standard says, and says what ``pyproject.toml`` does."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Metadata.from_email(archive.read(name), validate=True)

    assert (metadata.name, str(metadata.version)) == (PROJECT["name"], conformance.__version__)
    assert str(metadata.requires_python) == PROJECT["requires-python"]
    assert metadata.license_expression == PROJECT["license"]
    assert metadata.classifiers == PROJECT["classifiers"]
    assert metadata.description_content_type == "text/markdown"
    assert metadata.description == (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(metadata.provides_extra or ()) == set(PROJECT["optional-dependencies"])


class Installed:
    """The wheel in a virtual environment of its own, which sees the libraries of the one that runs the tests."""

    def __init__(self, wheel: Path, place: Path) -> None:
        ran([sys.executable, "-m", "venv", "--without-pip", place / "venv"], cwd=place)
        self._programs = place / "venv" / "bin"
        pip = [sys.executable, "-m", "pip", "--python", self._programs / "python", "--quiet"]
        ran([*pip, "install", "--no-deps", "--no-index", wheel], cwd=place)
        # Folders that a .pth file names come after the environment's own: the suite is the installed one.
        self.site = Path(ran([self._programs / "python", "-c", _WHERE], cwd=place).strip())
        libraries = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
        (self.site / "libraries.pth").write_text("\n".join(libraries) + "\n", encoding="utf-8")
        self.work = place / "empty"
        self.work.mkdir()

    def __call__(self, *command: str, program: str = "conformance") -> str:
        """The output of a command of the environment, run in a folder without files of the suite."""
        path = f"{self._programs}:/usr/bin:/bin"
        environment = {"PATH": path, "HOME": str(self.work), "COLUMNS": "120", "NO_COLOR": "1"}
        return ran([self._programs / program, *command], cwd=self.work, environment=environment)


_WHERE: Final = "import sysconfig; print(sysconfig.get_path('purelib'))"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The installed suite."""
    return Installed(wheel, tmp_path_factory.mktemp("installed"))


@studies
def test_installed_suite_is_the_one_that_runs(installed: Installed) -> None:
    """Neither the working copy nor an earlier installation is imported."""
    printed = installed("-c", "import conformance; print(conformance.__file__)", program="python")

    assert Path(printed.strip()) == installed.site / "conformance" / "__init__.py"
    assert installed("--version") == f"conformance, version {conformance.__version__}\n"


@studies
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("--help",), "Usage: conformance"),
        (("list", "readers"), "pyarrow.stream"),
        (("list", "targets"), "goccy-bigquery-emulator     goccy/bigquery-emulator 0.7.0"),
        (("list", "cases"), "types.int64"),
        (("explain", "buffers.frame"), "buffers.frame  [MUST]"),
        (("show", "types.int64", "--yaml"), "types.int64"),
        (("cases",), " 0 complaints"),
        (("freeze", "--check"), "as frozen: "),
        (("golden", "--check", "--set", "bq-arrow"), "unchanged"),
        (("run", "--select", "types.int64", "--no-readers"), "PASSED: "),
        (("run", "--target", "reference", "--select", "types.bool", "--no-readers"), "PASSED: "),
        (("read", "--reader", "pyarrow", "--select", "stream.types.int64"), "PASSED: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_command_finds_its_data(installed: Installed, command: tuple[str, ...], expected: str) -> None:
    """Cases, golden files and targets come from the package."""
    assert expected in installed(*command)


@studies
def test_pair_of_messages_is_checked(installed: Installed) -> None:
    """The golden pairs are written out, and judged as files of anybody."""
    installed("golden", "--set", "bq-arrow", "--dir", "pairs")

    pair = [f"pairs/bq-arrow/int64-nullable.{part}" for part in ("schema", "batch")]
    printed = installed("check", "--schema", pair[0], "--batch", pair[1])

    assert printed.startswith("0 clauses fail, ")


@studies
def test_target_file_starts_a_server_of_the_package(installed: Installed) -> None:
    """A server that the suite starts in a process of its own finds the installed modules too."""
    target = Path(installed.site, "conformance", "_data", "targets", "reference.toml")

    assert "PASSED: " in installed("run", "--target", str(target), "--select", "types.int64", "--no-readers")


@studies
def test_archive_of_the_vectors_is_written(installed: Installed) -> None:
    """The archive that goes with a release comes from the installed package."""
    installed("golden", "--archive", "vectors")

    with zipfile.ZipFile(installed.work / "vectors" / f"arrow-ipc-vectors-{conformance.__version__}.zip") as archive:
        assert "index.json" in archive.namelist()
