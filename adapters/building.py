"""Building an adapter once in a directory of its own, and finding it again.

The name of the directory has a digest of the program's sources (``conformance.readers.ipc.adapters``), so a changed
source or lock file causes a new build. The directory counts as built if it contains a record, which is written last and
as a whole, after the program has answered hello: an interrupted or failed build starts again. The record contains the
versions of the runtimes, so that another compiler builds again, and the command that starts the program. One process
builds at a time; another one that wants the same build waits for it.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from adapters.spec import AdapterSpec, placeholders
from conformance.disk.files import write_whole
from conformance.disk.locks import held
from conformance.readers.ipc.adapters import RECORD, build_directory

__all__ = ["Built", "NotBuiltError", "build", "cache_directory", "find", "reason_not_built"]

BUILD_SECONDS: Final = 1500.0
"""Seconds for a build: the Rust client compiles 250 crates, some of them in C, and slow downloads take minutes."""
HELLO_SECONDS: Final = 180.0
"""Seconds for an answer to hello: Spark starts in it, on a machine that may be busy."""
VERSION_SECONDS: Final = 120.0
"""Seconds for a version: on a machine that is starved, a virtual machine once needed more than thirty."""

_ASK_VERSION: Final = {
    "node": ("node", "--version"),
    "npm": ("npm", "--version"),
    "go": ("go", "version"),
    "java": ("java", "-version"),
    "javac": ("javac", "-version"),
    "mvn": ("mvn", "--version"),
    "cargo": ("cargo", "--version"),
    "openssl": ("openssl", "version"),
    "g++": ("g++", "-dumpfullversion"),
}
_NEED: Final = re.compile(r"([a-z][a-z0-9+-]*)(?:>=(\d+(?:\.\d+)*))?")
_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)+|\d+")


class NotBuiltError(Exception):
    """An adapter is not built and cannot be built; the text says what is missing or what failed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Built:
    """A program that can be started: its ``command``, the library's ``version``, and whether it was ``found`` built."""

    name: str
    command: tuple[str, ...]
    version: str
    found: bool


def cache_directory(spec: AdapterSpec, root: Path | None = None) -> Path:
    """The directory in which an adapter is built."""
    return build_directory(spec.adapter, root)


def find(spec: AdapterSpec, root: Path | None = None) -> Built | None:
    """The built adapter; None if it was never built of these sources, or with other runtimes than those of today."""
    try:
        # The record is looked for first: to ask a runtime for its version starts a process.
        record = json.loads((cache_directory(spec, root) / RECORD).read_text(encoding="utf-8"))
        if record["runtimes"] != _runtimes(spec):
            return None
    except (NotBuiltError, OSError, ValueError):
        return None
    return Built(spec.name, tuple(record["command"]), record["version"], found=True)


def reason_not_built(spec: AdapterSpec) -> str:
    """The runtime that is missing or too old for the adapter, in a sentence; empty if a build can be tried."""
    try:
        _runtimes(spec)
    except NotBuiltError as error:
        return str(error)
    return ""


def build(spec: AdapterSpec, root: Path | None = None, *, seconds: float | None = None) -> Built:
    """Build the adapter within ``seconds`` (:data:`BUILD_SECONDS` by default), unless it is built already.

    Raises:
        NotBuiltError: A runtime is missing or too old, the build failed (no network, a refused download), or the
            program does not answer.
    """
    runtimes = _runtimes(spec)
    cache = cache_directory(spec, root)
    with held(cache, wait=True):
        built = find(spec, root)
        if built is not None:
            return built
        # The directory is not emptied, because compilers and package managers can use parts of an interrupted build.
        cache.mkdir(parents=True, exist_ok=True)
        (cache / RECORD).unlink(missing_ok=True)
        for file in spec.files():
            shutil.copyfile(file, cache / file.name)
        if spec.build:
            _run(_expand(spec, spec.build, cache), cache, BUILD_SECONDS if seconds is None else seconds)
        command = _expand(spec, spec.command, cache)
        hello = _hello(command, cache)
        record = {"runtimes": runtimes, "command": command, "version": hello["version"]}
        write_whole(cache / RECORD, json.dumps(record, indent=1) + "\n")
    return Built(spec.name, tuple(command), str(hello["version"]), found=False)


def _expand(spec: AdapterSpec, arguments: Sequence[str], cache: Path) -> list[str]:
    values = placeholders(spec, cache)
    made = []
    for argument in arguments:
        for name, value in values.items():
            argument = argument.replace(f"{{{name}}}", value)  # noqa: PLW2901  # replaced step by step
        made.append(argument)
    return made


def _run(command: Sequence[str], cache: Path, seconds: float) -> None:
    """Run a build; its output is kept next to the result. Raises :class:`NotBuiltError`."""
    program = " ".join(command[:2])
    try:
        # In a session of its own, whose compilers end with it.
        running = subprocess.Popen(  # noqa: S603  # the adapter's own file contains the command
            command,
            cwd=cache,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise NotBuiltError(f"{program} could not be started: {error}") from error
    with running:
        try:
            out, said = running.communicate(timeout=seconds)
        except BaseException as error:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()  # until the last of them has closed its end
            if isinstance(error, subprocess.TimeoutExpired):
                raise NotBuiltError(f"{program} did not end within {seconds:.3g} s") from None
            raise
    log = cache / "build.log"
    log.write_bytes(out + said)
    if running.returncode:
        raise NotBuiltError(f"{program} ended with status {running.returncode}: {_error_line(said)} (all in {log})")


def _error_line(said: bytes) -> str:
    """The line that most likely gives the reason: the first that mentions an error, else the last."""
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()]
    return (telling or lines[-1:] or ["it printed nothing"])[0][:300]


def _hello(command: Sequence[str], cache: Path) -> dict[str, Any]:
    """The program's answer to hello, which proves that it starts; raises :class:`NotBuiltError`."""
    try:
        done = subprocess.run(  # noqa: S603  # the adapter's own file contains the command
            command,
            cwd=cache,
            input=b'{"id": 1, "op": "hello"}\n',
            capture_output=True,
            timeout=HELLO_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotBuiltError(f"it did not answer hello within {HELLO_SECONDS:g} s") from None
    except OSError as error:
        raise NotBuiltError(f"{command[0]} could not be started: {error}") from error
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise NotBuiltError(f"it did not answer hello; it printed: {_error_line(done.stderr)}") from None
    if answer.get("status") != "ok" or "version" not in answer:
        raise NotBuiltError(f"it answered hello with {answer}")
    return answer


def _runtimes(spec: AdapterSpec) -> dict[str, str]:
    """The version of each needed program; raises :class:`NotBuiltError` if one is missing or too old."""
    found = {}
    for need in spec.needs:
        match = _NEED.fullmatch(need)
        if match is None:
            raise NotBuiltError(f"expected a need such as node>=18 but got {need!r}")
        name, least = match.groups()
        version = _version(name)
        if version is None:
            raise NotBuiltError(f"needs {need}, and {name} is not installed")
        if least is not None and _numbers(version) < _numbers(least):
            raise NotBuiltError(f"needs {need}, and {name} is {version}")
        found[name] = version
    return found


def _version(name: str) -> str | None:
    """The version of a program or a Python package; None if it is not there.

    Raises:
        NotBuiltError: the program is there, and does not say its version.
    """
    if name not in _ASK_VERSION:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return None
    program, *arguments = _ASK_VERSION[name]
    where = shutil.which(program)
    return None if where is None else _reported(where, name, tuple(arguments))


@functools.cache
def _reported(where: str, name: str, arguments: tuple[str, ...]) -> str:
    """The version that a program says, asked once in a process; raises :class:`NotBuiltError`."""
    asked = f"{name} {' '.join(arguments)}"
    try:
        done = subprocess.run(  # noqa: S603  # one of the known programs
            [where, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotBuiltError(f"{asked} did not answer within {VERSION_SECONDS:g} s") from None
    except OSError as error:
        raise NotBuiltError(f"{asked} could not be started: {error}") from error
    numbers = _NUMBERS.search((done.stdout + done.stderr).decode(errors="replace"))
    if numbers is None or done.returncode:
        raise NotBuiltError(f"{asked} ended with status {done.returncode}: {_error_line(done.stderr)}")
    return numbers[0]


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]
