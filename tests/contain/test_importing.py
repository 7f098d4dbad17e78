"""Tests of what a started Python may import: in a folder full of names of modules, none of them runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import pytest

from conformance.contain.command import run_command
from conformance.contain.crew import crew
from conformance.contain.importing import import_environment
from conformance.targets.environment import Environment, ask_version
from conformance.targets.installing import Places
from conformance.targets.specfile import load_target

NAMES: Final = ("json", "logging", "typing", "click", "grpc", "pyarrow", "numpy", "yaml", "google", "conformance")
TARGETS: Final = Path(__file__).resolve().parents[2] / "targets"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory: it has a module of every one of the names, and each leaves a file ``ran`` if it runs."""
    ran = tmp_path / "ran"
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write({name!r})\nraise SystemExit(99)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    return ran


def test_a_module_of_the_suite_is_started_without_the_current_directory(folder: Path) -> None:
    """As the command of a target file starts the reference."""
    command = [sys.executable, "-m", "conformance.reference", "--help"]
    done = run_command(command, environment=os.environ, seconds=60)

    assert (done.code, folder.exists()) == (0, False), done.stderr


def test_the_command_of_a_user_forgets_the_current_directory(folder: Path) -> None:
    """``python -m conformance`` does without it, where nothing stands in the way of the package itself."""
    Path("conformance.py").unlink()
    done = run_command(
        ["/bin/sh", "-c", 'exec "$0" -m conformance --version', sys.executable], environment=os.environ, seconds=60
    )

    assert (done.code, folder.exists()) == (0, False), done.stderr


def test_a_member_of_a_crew_is_started_without_the_current_directory(folder: Path) -> None:
    """Its ``sys.path`` names none."""
    with crew(1, _nothing) as members:
        path = members.submit(_import_path).result()

    assert str(folder.parent) not in path
    assert not folder.exists()


@pytest.mark.parametrize("name", ["reference", "flight-reference"])
def test_the_version_of_a_target_is_asked_without_the_current_directory(name: str, folder: Path) -> None:
    """The command has ``-c``, for which Python looks there first."""
    spec = load_target(TARGETS / f"{name}.toml")

    assert ask_version(spec, Environment(Places(folder.parent), folder.parent, spec.here))
    assert not folder.exists()


@pytest.mark.parametrize("file", sorted(TARGETS.glob("*.toml")), ids=lambda file: file.stem)
def test_no_target_that_ships_imports_from_the_current_directory(file: Path) -> None:
    """The Python of each command of each target file runs a script, or has a safe path."""
    spec = load_target(file)
    commands = [(spec.version_command, True), ((spec.start.command if spec.start is not None else ()), False)]
    for command, inline in commands:
        words = [word.replace("{python}", sys.executable) for word in command]
        if words and {"-m", "-c"}.intersection(words) and Path(words[0]).name.startswith("python"):
            assert import_environment(words, {}, inline=inline) == {"PYTHONSAFEPATH": "1"}


@pytest.mark.parametrize(
    ("command", "safe"),
    [
        ("python -m conformance", True),
        ("/usr/bin/python3.13 -u -m conformance.reference --host x", True),
        ("python -X dev -W error -um conformance", True),
        ("python -mconformance.reference", True),
        ("python -m conformance_of_mine", False),
        ("python -m server -m conformance", False),
        ("python server.py -m conformance", False),
        ("python - -m conformance", False),
        ("python -c pass", False),
        ("java -m conformance", False),
        ("python", False),
        ("python -m", False),
    ],
)
def test_only_a_module_of_the_suite_is_its_own(command: str, *, safe: bool) -> None:
    """What the user names is imported from where the user has it."""
    assert ("PYTHONSAFEPATH" in import_environment(command.split(), {})) is safe


def test_a_value_that_is_there_stays() -> None:
    """A target file may permit the current directory again."""
    permitted = {"PYTHONSAFEPATH": ""}

    assert import_environment(["python", "-c", "import mine"], permitted, inline=True) == permitted


def _nothing() -> None:
    """Prepare nothing."""


def _import_path() -> list[str]:
    return sys.path
