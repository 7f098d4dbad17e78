"""What a target needs to run, in a directory of its own: made by one command, found again by what it is made of.

This module decides where that directory is, what is put there and whether it is complete; it starts no target.
A directory counts as made when its record was written, which happens last: an interrupted making is begun anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.records import to_json
from conformance.targets.errors import TargetError, TargetUnavailable
from conformance.targets.spec import EnvironmentSpec, TargetSpec

__all__ = ["Environment", "command_environment", "fill", "find", "prepare"]

CACHE: Final = Path(".conformance") / "envs"
"""Where environments are made, below the current directory, unless ``CONFORMANCE_CACHE`` names another place."""

RECORD: Final = "made.json"

VERSION_SECONDS: Final = 30.0
"""How long a ``version_command`` may take: it starts an interpreter and imports one package."""

_FOREIGN: Final = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Variables of our own interpreter that would leak our packages into a target's environment."""

Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Environment:
    """A target's surroundings: the directory of its executables, a home it may write to, and its version."""

    bin: Path
    home: Path
    here: Path
    version: str = ""


def platform_name() -> str:
    """This machine as ``platforms`` of a target file names it: ``linux-x86_64`` for one."""
    return f"{sys.platform}-{platform.machine().lower()}"


def directory(spec: TargetSpec) -> Path:
    """The directory of the target's environment; it changes with everything that the environment is made of."""
    made_of = json.dumps(
        [to_json(spec.environment or EnvironmentSpec()), sysconfig.get_python_version(), platform_name()],
        sort_keys=True,
    )
    digest = hashlib.sha256(made_of.encode()).hexdigest()[:12]
    cache = Path(os.environ.get("CONFORMANCE_CACHE", CACHE))
    return cache.absolute() / f"{spec.name}-{digest}"


def find(spec: TargetSpec) -> Environment:
    """The target's environment; raises :class:`TargetUnavailable` where it has not been made."""
    root = directory(spec)
    if spec.environment is not None:
        _check_platform(spec)
        if not (root / RECORD).is_file():
            raise TargetUnavailable(f"{spec.name} is not prepared: run conformance prepare --target {spec.file}")
    home = root / "home"
    home.mkdir(parents=True, exist_ok=True)
    found = Environment(root / "venv" / "bin", home, spec.here)
    return dataclasses.replace(found, version=spec.version or _ask_version(spec, found))


def prepare(spec: TargetSpec, *, say: Say = print) -> Path:
    """Make the target's environment where it is not there yet, and return its directory.

    ``say`` is told each step. Raises :class:`TargetUnavailable` with the reason where a tool, the network or this
    platform does not serve.
    """
    root = directory(spec)
    if spec.environment is None:
        say(f"{spec.name} needs no environment of its own")
        return root
    _check_platform(spec)
    with _locked(root):
        if (root / RECORD).is_file():
            say(f"{spec.name} is prepared in {root}")
            return root
        if root.exists():
            shutil.rmtree(root)
        (root / "home").mkdir(parents=True)
        _make(spec, spec.environment, root, say)
        (root / RECORD).write_text(json.dumps(to_json(spec.environment), indent=2) + "\n", encoding="utf-8")
    say(f"{spec.name} is prepared in {root}")
    return root


def fill(template: str, environment: Environment, **more: str) -> str:
    """``template`` with the placeholders of an environment, and ``more``, filled in."""
    values = {
        "python": sys.executable,
        "home": str(environment.home),
        "env_bin": str(environment.bin),
        "here": str(environment.here),
    }
    return template.format_map({"host": "", "project": "", "grpc_port": "", "rest_port": "", **values, **more})


def command_environment(spec: TargetSpec, environment: Environment, **more: str) -> dict[str, str]:
    """The environment variables of the target's process."""
    foreign = _FOREIGN if spec.environment is not None else ()
    inherited = {key: value for key, value in os.environ.items() if key not in foreign}
    templates: Mapping[str, str] = spec.start.environment if spec.start is not None else {}
    return inherited | {key: fill(value, environment, **more) for key, value in templates.items()}


def _make(spec: TargetSpec, wanted: EnvironmentSpec, root: Path, say: Say) -> None:
    until = time.monotonic() + wanted.deadline
    binaries = root / "venv" / "bin"
    if wanted.python:
        constraints = root / "constraints.txt"
        constraints.write_text("\n".join(wanted.constraints) + "\n", encoding="utf-8")
        _run([sys.executable, "-m", "venv", str(root / "venv")], say, until=until)
        pip = [str(binaries / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
        _run([*pip, "--constraint", str(constraints), *wanted.python], say, until=until)
    if wanted.go:
        binaries.mkdir(parents=True, exist_ok=True)
        go = shutil.which("go")
        if go is None:
            raise TargetUnavailable(f"{spec.name} is built by go install, and there is no go command here")
        for module in wanted.go:
            _run([go, "install", module], say, until=until, environment={"GOBIN": str(binaries)})
    for copied in wanted.copy:
        _copy(spec, copied.source, copied.target, root, say)


def _copy(spec: TargetSpec, source: str, target: str, root: Path, say: Say) -> None:
    found = sorted((root / "venv").glob(f"lib/python*/site-packages/{source}"))
    if not found:
        raise TargetError(f"{spec.file}: target.environment.copy: no installed package holds a file {source!r}")
    destination = (root / "home" / target).resolve()
    if not destination.is_relative_to((root / "home").resolve()):
        raise TargetError(f"{spec.file}: target.environment.copy: {target!r} lies outside the target's home")
    say(f"copy {found[0].name} to {destination}")
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(found[0], destination)


def _run(command: Sequence[str], say: Say, *, until: float, environment: Mapping[str, str] | None = None) -> None:
    """Run one command of the making within what is left of its time."""
    say(" ".join(command))
    inherited = {key: value for key, value in os.environ.items() if key not in _FOREIGN}
    shown = " ".join(command[:4])
    try:
        done = subprocess.run(  # noqa: S603  # the requirements are the user's own target file
            command,
            env=inherited | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=max(1.0, until - time.monotonic()),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TargetUnavailable(f"the environment could not be made in time: {shown} … was stopped") from None
    except OSError as error:
        raise TargetUnavailable(f"the environment could not be made: {shown}: {error.strerror}") from None
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())[-600:]
        raise TargetUnavailable(f"the environment could not be made: {shown} … ended with {done.returncode}: {said}")


def _check_platform(spec: TargetSpec) -> None:
    wanted = spec.environment.platforms if spec.environment is not None else ()
    if wanted and platform_name() not in wanted:
        raise TargetUnavailable(f"{spec.name} runs on {', '.join(wanted)} only, and this is {platform_name()}")


def _ask_version(spec: TargetSpec, environment: Environment) -> str:
    """The first line that the version command prints; empty where there is none, or it fails."""
    if not spec.version_command:
        return ""
    try:
        done = subprocess.run(  # noqa: S603  # the command is the user's own target file
            [fill(part, environment) for part in spec.version_command],
            env=command_environment(spec, environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetUnavailable(f"{spec.file}: version_command: {error}") from None
    return next(iter(done.stdout.splitlines()), "").strip()


@contextlib.contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Let one process at a time make this environment."""
    root.parent.mkdir(parents=True, exist_ok=True)
    with (root.parent / f"{root.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
