"""Installs what ``[environment]`` names, with the ordinary clients of the registries: pip, npm, go, mvn, cargo.

The clients have the user's own configuration: home, proxies, mirrors and caches are theirs, and no address is named
here. Everything ends up below one directory, so that the started target needs no client and no network.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from conformance.contain.command import run_command
from conformance.contain.errors import CannotStart
from conformance.contain.secrets import masked
from conformance.contain.text import safe
from conformance.disk.files import write_whole
from conformance.disk.trees import remove_tree, walk
from conformance.targets.environmentspec import EnvironmentSpec, is_path
from conformance.targets.folders import folder
from conformance.targets.interpreters import find_interpreter
from conformance.targets.spec import TargetSpec
from conformance.targets.targeterrors import TargetError, TargetUnavailable

__all__ = ["FOREIGN", "Places", "Say", "install", "missing_clients"]

FOREIGN: Final = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Variables of the suite's own interpreter: in another environment they would make its packages importable."""

LOG: Final = "install.log"
"""The output of all commands."""

COPY_DEPENDENCIES: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
"""Maven has no command of its own that fetches jars; this plugin of the Maven project does."""

_CLIENTS: Final = {"npm": "npm", "go": "go", "maven": "mvn", "java": "javac", "crate": "cargo"}
"""The command that installs the entries of each key; those of ``python`` are installed by the suite's own Python."""

Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Places:
    """The directories below the directory ``root`` of an environment."""

    root: Path

    @property
    def bin(self) -> Path:
        """The executables."""
        return self.root / "venv" / "bin"

    @property
    def home(self) -> Path:
        """The files that were copied."""
        return self.root / "home"

    @property
    def node_modules(self) -> Path:
        """The packages of npm."""
        return self.root / "node_modules"

    @property
    def jars(self) -> Path:
        """The jars of Maven."""
        return self.root / "jars"

    @property
    def classes(self) -> Path:
        """The compiled Java sources."""
        return self.root / "classes"

    @property
    def classpath(self) -> str:
        """The class path of all Java classes."""
        return f"{self.classes}{os.pathsep}{self.jars}{os.sep}*"


def install(spec: TargetSpec, wanted: EnvironmentSpec, root: Path, say: Say) -> None:
    """Install all of ``wanted`` below ``root``; ``say`` is called with each command.

    Raises:
        TargetUnavailable: a tool is missing, a command failed, or the time is over.
        TargetError: a folder or a file that the target file names does not exist.
    """
    making = _Making(spec, wanted, Places(root), say, time.monotonic() + wanted.deadline)
    making.places.bin.mkdir(parents=True)
    making.places.home.mkdir()
    for needed, step in _STEPS:
        if any(getattr(wanted, key) for key in needed):
            step(making)


def missing_clients(wanted: EnvironmentSpec) -> list[str]:
    """The commands that the installation needs and this machine does not have."""
    needed = {client for key, client in _CLIENTS.items() if getattr(wanted, key)}
    return sorted(client for client in needed if shutil.which(client) is None)


@dataclasses.dataclass(frozen=True, slots=True)
class _Making:
    """One installation; it has to end at the monotonic time ``until``."""

    spec: TargetSpec
    wanted: EnvironmentSpec
    places: Places
    say: Say
    until: float

    def client(self, key: str) -> str:
        """The path of the command that installs ``key``; raises :class:`TargetUnavailable` if it is not here."""
        name = _CLIENTS[key]
        found = shutil.which(name)
        if found is None:
            raise TargetUnavailable(f"{self.spec.name} needs the command {name}, which is not here: install it")
        return found

    def folder(self, key: str, entry: str) -> Path:
        """The folder that an entry names."""
        return folder(key, entry, self.spec.here, self.spec.file)

    def run(self, *command: str | Path, **variables: str) -> None:
        """Run one command within the rest of the time; raises :class:`TargetUnavailable`."""
        arguments = [str(part) for part in command]
        self.say(" ".join(arguments))
        inherited = {key: value for key, value in os.environ.items() if key not in FOREIGN}
        shown = " ".join([Path(arguments[0]).name, *arguments[1:4]])
        try:
            done = run_command(
                arguments, environment=inherited | variables, seconds=max(1.0, self.until - time.monotonic())
            )
        except CannotStart as error:
            raise TargetUnavailable(f"the environment could not be made: {error}") from None
        log = self.places.root / LOG
        with log.open("a", encoding="utf-8", errors="replace") as file:
            file.write(masked(f"$ {' '.join(arguments)}\n{done.stdout}{done.stderr}"))
        if done.code is None:
            raise TargetUnavailable(
                f"the environment could not be made in {self.wanted.deadline:g} s: {shown} … was stopped; "
                "[environment] deadline gives it more time"
            )
        if done.code != 0:
            reason = _reason(done.stdout, done.stderr) or "it printed nothing"
            raise TargetUnavailable(
                f"the environment could not be made: {shown} … ended with {done.code}: {reason} (all of it in {log})"
            )


def _reason(stdout: str, stderr: str) -> str:
    """The lines of a failed command that most likely give the reason: those with an error, otherwise the last."""
    lines = [line.strip() for line in f"{stdout}\n{stderr}".splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()][:3]
    return safe(" ".join(telling or lines[-1:]), 400)


def _python(making: _Making) -> None:
    wanted, places = making.wanted, making.places
    # Isolated: nothing in the current directory is imported in place of a module of these two.
    making.run(_interpreter(making), "-Im", "venv", places.root / "venv")
    if not wanted.python:
        return
    constraints = places.root / "constraints.txt"
    write_whole(constraints, "\n".join(wanted.constraints) + "\n")
    entries = [_requirement(making, entry) for entry in wanted.python]
    pip = (places.bin / "python", "-Im", "pip", "install", "--disable-pip-version-check", "--quiet")
    making.run(*pip, "--constraint", constraints, *entries)


def _interpreter(making: _Making) -> str | Path:
    wanted = making.wanted.interpreter
    if not wanted:
        return sys.executable
    found = find_interpreter(wanted)
    if found is None:
        raise TargetUnavailable(
            f"{making.spec.name} needs Python {wanted}, which is not here: install it as "
            f"python{'.'.join(wanted.split('.')[:2])} on PATH, or with pyenv"
        )
    return found


def _requirement(making: _Making, entry: str) -> str:
    if not is_path(entry):
        return entry
    _, bracket, extras = entry.partition("[")
    return f"{making.folder('python', entry)}{bracket}{extras}"


def _npm(making: _Making) -> None:
    wanted, places = making.wanted, making.places
    entries = [str(making.folder("npm", entry)) if is_path(entry) else entry for entry in wanted.npm]
    # A folder is packed and installed like a package: a link would look for its own packages at its old place.
    options = ["--install-links", "--no-audit", "--no-fund", "--no-update-notifier"]
    if not wanted.npm_scripts:
        options.append("--ignore-scripts")
    making.run(making.client("npm"), "install", "--prefix", places.root, *options, *entries)
    for command in sorted((places.node_modules / ".bin").glob("*")):
        if not (places.bin / command.name).exists():
            (places.bin / command.name).symlink_to(command)


def _go(making: _Making) -> None:
    go, binaries = making.client("go"), making.places.bin
    for entry in making.wanted.go:
        if is_path(entry):
            options = ("-trimpath", "-buildvcs=false", "-o", f"{binaries}{os.sep}")
            making.run(go, "build", "-C", making.folder("go", entry), *options, ".")
        else:
            making.run(go, "install", entry, GOBIN=str(binaries))


def _maven(making: _Making) -> None:
    pom = making.places.root / "pom.xml"
    write_whole(pom, _pom(making.wanted.maven))
    quiet = ("--batch-mode", "-Dstyle.color=never", "--quiet")
    options = (f"-DoutputDirectory={making.places.jars}", "-DincludeScope=runtime")
    making.run(making.client("maven"), *quiet, "--file", pom, COPY_DEPENDENCIES, *options)


def _pom(coordinates: Sequence[str]) -> str:
    """A project without code that depends on ``coordinates``; their characters need no escape in XML."""
    dependencies = []
    for one in coordinates:
        elements = zip(("groupId", "artifactId", "version", "classifier"), one.split(":"), strict=False)
        inside = "".join(f"<{name}>{value}</{name}>" for name, value in elements)
        dependencies.append(f"    <dependency>{inside}</dependency>\n")
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0">\n  <modelVersion>4.0.0</modelVersion>\n'
        "  <groupId>conformance</groupId><artifactId>environment</artifactId><version>1</version>\n"
        f"  <packaging>pom</packaging>\n  <dependencies>\n{''.join(dependencies)}  </dependencies>\n</project>\n"
    )


def _java(making: _Making) -> None:
    places, javac = making.places, making.client("java")
    folders = [making.folder("java", entry) for entry in making.wanted.java]
    sources = [file for one in folders for file in _sources(one)]
    if not sources:
        raise TargetError(f"{making.spec.file}: target.environment.java: no file in these folders is named *.java")
    arguments = places.root / "sources.txt"
    quoted = (str(file).replace("\\", "\\\\").replace('"', '\\"') for file in sources)
    write_whole(arguments, "".join(f'"{file}"\n' for file in quoted))
    making.run(javac, "-d", places.classes, "-cp", places.classpath, f"@{arguments}")


def _sources(folder: Path) -> list[Path]:
    found = (Path(parent, name) for parent, _, names in walk(folder) for name in names)
    return sorted(path for path in found if path.suffix == ".java")


def _crate(making: _Making) -> None:
    cargo, places = making.client("crate"), making.places
    build = places.root / "build"  # not below a folder of sources, where cargo would put it
    for entry in making.wanted.crate:
        what: tuple[str | Path, ...] = (entry,)
        locked = True
        if is_path(entry):
            own = making.folder("crate", entry)
            what = ("--path", own)
            locked = any((above / "Cargo.lock").is_file() for above in (own, *own.parents))
            if not locked:  # cargo would write a lock file there, and so make the folder another one
                shutil.copytree(own, build / "source", dirs_exist_ok=True)
                what = ("--path", build / "source")
        options = (*(("--locked",) if locked else ()), "--quiet", "--root", places.root / "venv")
        making.run(cargo, "install", *options, *what, CARGO_TARGET_DIR=str(build))
        remove_tree(build)


def _copy(making: _Making) -> None:
    places, file = making.places, making.spec.file
    for copied in making.wanted.copy:
        packages = sorted((places.root / "venv").glob("lib/python*/site-packages"))
        # Resolved: ".." in the source, or a link that a package brings, may lead to any file of this machine.
        places_of = ((folder, path) for folder in packages for path in sorted(folder.glob(copied.source)))
        found = [path for folder, path in places_of if path.resolve().is_relative_to(folder.resolve())]
        if not found:
            raise TargetError(
                f"{file}: target.environment.copy: no installed package contains a file {copied.source!r}"
            )
        destination = (places.home / copied.target).resolve()
        if not destination.is_relative_to(places.home.resolve()):
            raise TargetError(f"{file}: target.environment.copy: {copied.target!r} lies outside the target's home")
        making.say(f"copy {found[0].name} to {destination}")
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found[0], destination)


_STEPS: Final[Sequence[tuple[tuple[str, ...], Callable[[_Making], None]]]] = (
    (("interpreter", "python"), _python),
    (("go",), _go),
    (("maven",), _maven),
    (("java",), _java),
    (("crate",), _crate),
    (("npm",), _npm),
    (("copy",), _copy),
)
"""The steps in their order, each with the keys of which one has to be there: Java sources need the jars, copied files
the packages, and the commands of npm take only names that are free."""
