"""The environment of a target, in a directory of its own that is named after the environment's definition.

This module decides where that directory is, what is installed there and whether it is complete; it starts no target.
A directory is complete when its record exists, which is written last: an interrupted installation starts again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Final

from conformance._globs import matches
from conformance.contain.command import run_command
from conformance.contain.errors import CannotStart
from conformance.contain.importing import import_environment
from conformance.contain.text import safe
from conformance.disk.cache import cache_directory
from conformance.disk.files import naming, write_whole
from conformance.disk.locks import held
from conformance.disk.trees import remove_tree
from conformance.records import to_json
from conformance.targets.environmentspec import INSTALLS, EnvironmentSpec, summary
from conformance.targets.folders import contents
from conformance.targets.installing import FOREIGN, Places, Say, install, missing_clients
from conformance.targets.interpreters import find_interpreter
from conformance.targets.spec import Start, TargetSpec
from conformance.targets.targeterrors import TargetUnavailable

__all__ = ["Environment", "ask_version", "command_environment", "environments", "fill", "find", "plan", "prepare"]

VARIABLE: Final = "CONFORMANCE_CACHE"
"""The environment variable that names the directory of all environments."""

RECORD: Final = "made.json"

VERSION_SECONDS: Final = 30.0
"""Seconds for a ``version_command``, which starts an interpreter and imports one package."""

VERSION_CHARACTERS: Final = 200
"""Characters of a ``version_command``'s output that are used as the version."""

INHERITED: Final = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
"""Variables of the suite's environment that every started target gets: those that programs need to run at all, and none
that could contain a secret. ``[start] inherit`` names further ones."""


@dataclasses.dataclass(frozen=True, slots=True)
class Environment:
    """What was installed for a target, its home, the directory of its TOML file, and its version.

    ``home`` is the directory of the files that ``prepare`` copied; :mod:`.homes` replaces it by one that a start may
    write to.
    """

    places: Places
    home: Path
    here: Path
    version: str = ""


def platform_name() -> str:
    """The name of this machine in ``platforms`` of a target file, for example ``linux-x86_64``."""
    return f"{sys.platform}-{platform.machine().lower()}"


def environments() -> Path:
    """The directory of all environments: the one that ``CONFORMANCE_CACHE`` names, or one in the user's cache."""
    return cache_directory("environments", VARIABLE)


def directory(spec: TargetSpec) -> Path:
    """The directory of the target's environment; its name changes with the environment's definition and its sources.

    Raises :class:`TargetError` for a folder of sources that is not there.
    """
    wanted = spec.environment or EnvironmentSpec()
    made_of = [to_json(wanted), wanted.interpreter or sysconfig.get_python_version(), platform_name()]
    made_of += contents(wanted, spec.here, spec.file)
    digest = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:12]
    return environments() / f"{spec.name}-{digest}"


def find(spec: TargetSpec) -> Environment:
    """The target's environment; raises :class:`TargetUnavailable` if it has not been created."""
    root = directory(spec)
    if spec.environment is not None:
        _check_platform(spec)
        if not (root / RECORD).is_file():
            raise TargetUnavailable(f"{spec.name} is not prepared: run conformance prepare --target {spec.file}")
    places = Places(root)
    return Environment(places, places.home, spec.here)


def prepare(spec: TargetSpec, *, say: Say = print) -> Path:
    """Create the target's environment if it does not exist yet, and return its directory.

    ``say`` is called with a line per step. Raises :class:`TargetUnavailable` with the reason if a tool, the network or
    this platform prevents it.
    """
    root = directory(spec)
    if spec.environment is None:
        say(f"{spec.name} needs no environment of its own")
        return root
    _check_platform(spec)
    with held(root, wait=True):
        if (root / RECORD).is_file():
            say(f"{spec.name} is prepared in {root}")
            return root
        remove_tree(root)
        with naming(root):
            root.mkdir(parents=True)
        install(spec, spec.environment, root, say)
        write_whole(root / RECORD, json.dumps(to_json(spec.environment), indent=2) + "\n")
    say(f"{spec.name} is prepared in {root}")
    return root


def plan(spec: TargetSpec) -> list[str]:
    """What :func:`prepare` would do, in lines; nothing is made.

    Raises :class:`TargetUnavailable` if the target cannot run on this platform, :class:`TargetError` for a folder of
    sources that is not there.
    """
    wanted = spec.environment
    if wanted is None:
        return [f"{spec.name} needs no environment of its own"]
    _check_platform(spec)
    root = directory(spec)
    if (root / RECORD).is_file():
        return [f"{spec.name} is prepared in {root}"]
    lines = [f"{spec.name} would be prepared in {root}: {summary(wanted)}"]
    for key in INSTALLS:
        lines += [f"  {key:<7} {entry}" for entry in getattr(wanted, key)]
    if wanted.interpreter and find_interpreter(wanted.interpreter) is None:
        lines.append(f"  Python {wanted.interpreter} is not here")
    return [*lines, *(f"  the command {client} is not here" for client in missing_clients(wanted))]


def fill(template: str, environment: Environment, **more: str) -> str:
    """``template`` with the placeholders of an environment, and those of ``more``, replaced."""
    values = {
        "python": sys.executable,
        "home": str(environment.home),
        "here": str(environment.here),
        "env_bin": str(environment.places.bin),
        "node_modules": str(environment.places.node_modules),
        "jars": str(environment.places.jars),
        "classpath": environment.places.classpath,
    }
    return template.format_map(
        {"host": "", "project": "", "grpc_port": "", "rest_port": "", "scenario": "", **values, **more}
    )


def command_environment(spec: TargetSpec, environment: Environment, **more: str) -> dict[str, str]:
    """The environment variables of the target's process: a few of the suite's, those it may inherit, and its own."""
    start = spec.start or Start(())
    made = spec.environment
    own_python = made is not None and bool(made.interpreter or made.python)
    patterns = (*INHERITED, *start.inherit, *(() if own_python else FOREIGN))
    inherited = {key: value for key, value in os.environ.items() if matches(key, patterns)}
    return inherited | {key: fill(value, environment, **more) for key, value in start.environment.items()}


def _check_platform(spec: TargetSpec) -> None:
    wanted = spec.environment.platforms if spec.environment is not None else ()
    if wanted and platform_name() not in wanted:
        raise TargetUnavailable(f"{spec.name} runs on {', '.join(wanted)} only, and this is {platform_name()}")


def ask_version(spec: TargetSpec, environment: Environment) -> str:
    """The first line that the version command prints; empty if there is no command or it prints nothing.

    Raises :class:`TargetUnavailable` if the command cannot be started, or does not end in time.
    """
    if not spec.version_command:
        return ""
    command = [fill(part, environment) for part in spec.version_command]
    try:
        variables = import_environment(command, command_environment(spec, environment), inline=True)
        done = run_command(command, environment=variables, seconds=VERSION_SECONDS)
    except CannotStart as error:
        raise TargetUnavailable(f"{spec.file}: version_command: {error}") from None
    if done.code is None:
        raise TargetUnavailable(f"{spec.file}: version_command: it did not end within {VERSION_SECONDS:g} s")
    return safe(next(iter(done.stdout.splitlines()), "").strip(), VERSION_CHARACTERS)
