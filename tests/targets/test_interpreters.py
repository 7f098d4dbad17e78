"""Another Python is found by its version, among those that really start."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from conformance.targets import TargetError, TargetUnavailable, prepare
from conformance.targets.interpreters import find_interpreter
from tests.targets.conftest import Write

PROGRAM = 'name = "x"\nkind = "program"\n[start]\ncommand = ["{env_bin}/python"]\n[environment]\n'


def python(file: Path, says: str) -> Path:
    """A program that says a version, or fails if there is none to say."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n[ -n '{says}' ] && echo {says}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any other Python: an empty ``bin`` on PATH and an empty pyenv."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin/nothing")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_the_suites_own_python_is_taken_where_it_fits(machine: Path) -> None:
    """Its version and its minor version both name it."""
    assert find_interpreter(platform.python_version()) == Path(sys.executable)
    assert find_interpreter(".".join(platform.python_version_tuple()[:2])) == Path(sys.executable)


def test_a_name_on_the_path_is_not_believed(machine: Path) -> None:
    """A shim that only fails, and a Python under another version's name, are passed over."""
    python(machine / "bin" / "python3.99", "")
    python(machine / "pyenv" / "versions" / "3.99.9" / "bin" / "python", "3.98.0")
    right = python(machine / "pyenv" / "versions" / "3.99.1" / "bin" / "python", "3.99.1")

    assert find_interpreter("3.99") == right


def test_the_path_comes_before_pyenv_and_the_newest_version_first(machine: Path) -> None:
    """Of several versions of pyenv the highest number is taken; a full version names one of them."""
    versions = {
        name: python(machine / "pyenv" / "versions" / name / "bin" / "python", name)
        for name in ("3.99.2", "3.99.10", "3.9.1")
    }
    assert find_interpreter("3.99") == versions["3.99.10"]
    assert find_interpreter("3.99.2") == versions["3.99.2"]

    on_path = python(machine / "bin" / "python3.99", "3.99.0")

    assert find_interpreter("3.99") == on_path


def test_a_version_is_compared_in_parts(machine: Path) -> None:
    """3.9 is not the beginning of 3.99."""
    python(machine / "pyenv" / "versions" / "3.99.1" / "bin" / "python", "3.99.1")

    assert find_interpreter("3.9") is None


def test_a_missing_python_is_a_reason(target_file: Write, machine: Path) -> None:
    """A target that needs a Python that is not here is unavailable, and says how to get it."""
    spec = target_file(PROGRAM + 'interpreter = "3.99"')

    with pytest.raises(TargetUnavailable) as raised:
        prepare(spec, say=lambda text: None)
    assert str(raised.value) == (
        "x needs Python 3.99, which is not here: install it as python3.99 on PATH, or with pyenv"
    )


@pytest.mark.parametrize("value", ["3", "python3.13", "2.7", "3.13.0rc1", "3.13;"])
def test_a_version_is_numbers(target_file: Write, value: str) -> None:
    """Anything else is a mistake in the file."""
    with pytest.raises(TargetError, match=r'environment\.interpreter: expected a version of Python such as "3\.13"'):
        target_file(PROGRAM + f'interpreter = "{value}"')


def test_the_virtual_environment_is_made_with_it(target_file: Write, machine: Path) -> None:
    """The found interpreter is the one that is asked for the virtual environment, and no other."""
    made = machine / "bin" / "python3.99"
    python(made, "3.99.0").write_text(
        '#!/bin/sh\n[ "$1" = -I ] && echo 3.99.0 && exit\n'
        '[ "$1 $2" = "-Im venv" ] && /bin/mkdir -p "$3/bin" && echo > "$3/bin/by399"\n'
    )
    spec = target_file(PROGRAM + 'interpreter = "3.99"')

    root = prepare(spec, say=lambda text: None)

    assert (root / "venv" / "bin" / "by399").exists()
