"""The compared versions, each with an interpreter of its own, and the call of their workers."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import parse

from conformance.contain.command import run_command
from conformance.contain.errors import CannotStart
from conformance.contain.supervised import Group
from conformance.contain.text import keep_safe, safe
from conformance.targets.environment import prepare
from conformance.targets.environmentspec import EnvironmentSpec
from conformance.targets.spec import TargetKind, TargetSpec
from conformance.targets.targeterrors import TargetUnavailable

__all__ = ["INSTALLED", "DriftError", "Version", "VersionAnswer", "ask", "distinct", "find_version", "ordered"]

INSTALLED: Final = "installed"
"""The name of the pyarrow under which this suite runs."""

WORKER: Final = Path(__file__).with_name("worker.py")

WHEEL: Final = ".whl"
# No more digits than a release has: ``packaging`` makes each part an integer, and Python refuses long ones.
_PART: Final = r"[0-9]{1,9}"
_NUMBER: Final = re.compile(rf"{_PART}(\.{_PART}){{0,2}}")
_SERIES: Final = re.compile(rf"{_PART}(\.{_PART})?")
"""A number without all its parts is the newest release that begins with it, which pip knows."""
_NUMPY_2: Final = 17
"""The first version whose wheels are all built for numpy 2; earlier versions get numpy 1."""

SECONDS: Final = 900.0
"""The deadline of all jobs of one version together; the worker limits each job itself."""


class DriftError(Exception):
    """Versions cannot be compared; the message names the version and the reason."""


@dataclasses.dataclass(frozen=True, slots=True)
class Version:
    """A version of pyarrow: its number, the interpreter that has it, the worker script, and the path of its wheel if
    the user named one.
    """

    name: str
    python: Path
    worker: Path = WORKER
    asked: str = ""


def find_version(name: str, *, say: Callable[[str], None] = print) -> Version:
    """The version ``name``: ``24.0.0``, ``24`` for the newest release of these, ``installed``, or the path of a wheel.

    Its environment is created if it does not exist yet.

    Raises :class:`DriftError` if the name is not a version, or if the environment cannot be created.
    """
    number = _number_of(name)
    if name == INSTALLED:
        return Version(name, Path(sys.executable))
    wheel = Path(name).resolve() if name.endswith(WHEEL) else None
    numpy = "numpy<2" if parse(number).major < _NUMPY_2 else "numpy"
    series = _SERIES.fullmatch(number) is not None
    package = f"pyarrow=={name}{'.*' if series else ''}" if wheel is None else f"pyarrow @ {wheel.as_uri()}"
    # A wheel may be built again under its name.
    built = "" if wheel is None else f"-{hashlib.sha256(wheel.read_bytes()).hexdigest()[:12]}"
    environment = EnvironmentSpec(python=(package, numpy))
    spec = TargetSpec(
        name=f"pyarrow-{number}{'.x' if series else ''}{built}", kind=TargetKind.PROGRAM, environment=environment
    )
    try:
        root = prepare(spec, say=say)
    except TargetUnavailable as error:
        raise DriftError(f"pyarrow {number}: {error}") from error
    if series:
        number = _release_in(root / "venv")
    return Version(number, root / "venv" / "bin" / "python", asked="" if wheel is None else name)


def _release_in(venv: Path) -> str:
    """The release of pyarrow that was installed into an environment."""
    (found,) = venv.glob("lib/python*/site-packages/pyarrow-*.dist-info")
    return found.name.removeprefix("pyarrow-").removesuffix(".dist-info")


def _number_of(name: str) -> str:
    """The number of a version by its name; raises :class:`DriftError` if the name is not that of a version."""
    if name == INSTALLED or _NUMBER.fullmatch(name):
        return name
    if not name.endswith(WHEEL):
        raise DriftError(
            f"expected a version of pyarrow such as 24.0.0 or 24, {INSTALLED!r}, or the path of a wheel,"
            f" got {safe(name)!r}"
        )
    try:
        project, version, _, tags = parse_wheel_filename(Path(name).name)
    except InvalidWheelFilename as error:
        raise DriftError(f"expected the path of a wheel of pyarrow: {safe(str(error))}") from None
    if project != "pyarrow":
        raise DriftError(f"{safe(name)}: expected a wheel of pyarrow, got one of {safe(project)}")
    if not Path(name).is_file():
        raise DriftError(f"{safe(name)}: there is no such file")
    if tags.isdisjoint(sys_tags()):
        raise DriftError(f"{safe(name)}: the wheel is not for this Python on this machine, {next(iter(sys_tags()))}")
    return str(version)


def ordered(names: Iterable[str]) -> list[str]:
    """Version names from old to new, without duplicates; the installed one is last.

    Raises :class:`DriftError` if a name is not a version, or if two names are those of one: before an environment is
    created for any of them.
    """
    numbers = {name: _number_of(name) for name in dict.fromkeys(names)}
    for number, count in Counter(numbers.values()).items():
        if count > 1:
            twice = " and ".join(safe(name) for name, known in numbers.items() if known == number)
            raise DriftError(f"expected different versions, but {twice} are both pyarrow {number}")
    return sorted(numbers, key=lambda name: (name == INSTALLED, parse(numbers[name] if name != INSTALLED else "0")))


def distinct(versions: Iterable[Version]) -> list[Version]:
    """The versions from old to new by the releases that their names stood for.

    Raises :class:`DriftError` if two of them are one release.
    """
    listed = list(versions)
    found = {version.name: version for version in listed}
    if len(found) < len(listed):
        raise DriftError(f"expected different versions, but the names stand for pyarrow {' and '.join(found)} alone")

    def age(name: str) -> tuple[bool, Any]:
        installed = name.startswith(INSTALLED)
        return installed, parse("0" if installed else name)

    return [found[name] for name in sorted(found, key=age)]


@dataclasses.dataclass(frozen=True, slots=True)
class VersionAnswer:
    """The result of one job with one version; fields that do not apply to its status are empty.

    ``status`` is ``written``, ``rows``, ``refused``, ``unsound``, ``lacking``, ``died`` or ``hung``. ``spilled`` is
    True if the written bytes contain memory from outside the buffers.
    """

    id: str
    status: str
    data: bytes = b""
    digest: str = ""
    rows: int = 0
    types: tuple[str, ...] = ()
    error: str = ""
    text: str = ""
    alone: bool = True
    spilled: bool = False

    def __post_init__(self) -> None:
        keep_safe(self, "types", "error", "text")

    @property
    def lacks(self) -> bool:
        """True if the version reports that it lacks the feature, so that it has not checked the bytes."""
        return self.status == "lacking" or (
            self.status == "refused" and any(pattern.search(f"{self.error}: {self.text}") for pattern in _LACKS)
        )

    @property
    def said(self) -> str:
        """The answer in one line: the error with its text, or the amount that was read or written."""
        if self.status == "written":
            return f"wrote {len(self.data)} bytes"
        if self.status == "rows":
            return f"read {self.rows} rows"
        if self.status == "died":
            return f"died of {self.error}" + ("" if self.alone else ", only after other inputs")
        where = {"unsound": "read, then refused by validate(full=True): "}.get(self.status, "")
        return f"{where}{self.error}: {self.text}" if self.error else self.text


_LACKS: Final = tuple(
    map(
        re.compile,
        (
            r"^ArrowNotImplementedError: ",
            r"Unrecognized type: \d+$",  # a member of the union Type that is newer than the library
            r"Library only supports .* decimal values",
            r"^KeyError: \d+$",  # a type that pyarrow's C++ part has and its Python part lacks
        ),
    )
)


def ask(version: Version, jobs: Sequence[Mapping[str, Any]], *, group: Group | None = None) -> list[VersionAnswer]:
    """The answers of ``version`` to ``jobs``, in order; killing ``group`` ends the worker.

    Raises :class:`DriftError` if the worker itself does not run, or does not answer all jobs in time.
    """
    with tempfile.TemporaryDirectory(prefix="drift-") as folder:
        asked, answered = Path(folder, "jobs"), Path(folder, "answers")
        asked.write_text("".join(json.dumps(job) + "\n" for job in jobs), encoding="utf-8")
        _run(version, asked, answered, group)
        lines = answered.read_text(encoding="utf-8").splitlines() if answered.exists() else []
    if len(lines) != len(jobs) + 1:
        raise DriftError(f"pyarrow {version.name}: expected {len(jobs)} answers, got {max(0, len(lines) - 1)}")
    found = json.loads(lines[0])["pyarrow"]
    if not version.name.startswith(INSTALLED) and version.name != found:
        raise DriftError(f"{version.python}: expected pyarrow {version.name}, got {found}; remove the environment")
    return [_answer(json.loads(line)) for line in lines[1:]]


def _run(version: Version, asked: Path, answered: Path, group: Group | None) -> None:
    inherited = {key: value for key, value in os.environ.items() if key not in _FOREIGN}
    command = [str(part) for part in (version.python, "-P", version.worker, asked, answered)]
    try:
        done = run_command(command, environment=inherited | _ENVIRONMENT, seconds=SECONDS, group=group)
    except CannotStart as error:
        raise DriftError(f"pyarrow {version.name}: {error}") from None
    if done.code is None:
        raise DriftError(f"pyarrow {version.name}: its worker did not end within {SECONDS:g} s")
    if done.code:
        said = safe((done.stderr.splitlines() or ["it printed nothing"])[-1])
        raise DriftError(f"pyarrow {version.name}: its worker ended with status {done.code}: {said}")


_FOREIGN: Final = (
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "ARROW_PRE_0_15_IPC_FORMAT",
    "ARROW_PRE_1_0_METADATA_VERSION",
)
_ENVIRONMENT: Final = {
    # One allocator for all versions: mimalloc and jemalloc round sizes, and wheels differ in which one they have.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "PYTHONHASHSEED": "0",
}


def _answer(line: Mapping[str, Any]) -> VersionAnswer:
    return VersionAnswer(
        id=line["id"],
        status=line["status"],
        data=base64.b64decode(line.get("data", "")),
        digest=line.get("digest", ""),
        rows=line.get("rows", 0),
        types=tuple(line.get("types", ())),
        error=line.get("class") or line.get("signal", ""),
        text=_normal(line.get("text", "")),
        alone=line.get("alone", True),
        spilled=line.get("spilled", False),
    )


_VOLATILE: Final = ((re.compile(r"0x[0-9a-fA-F]{6,}"), "0x…"), (re.compile(r"(?<![\w.])/[\w.+-]+(?:/[\w.+-]+)+"), "/…"))
"""Text that changes from run to run: addresses, and paths of the machine that built or runs the library."""


def _normal(text: str) -> str:
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return " ".join(text.split())
