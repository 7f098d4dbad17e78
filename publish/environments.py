"""The environments of ``tox.ini`` as ``environments.toml`` describes them, and those that a change touches.

The standard library is enough for this module and for :mod:`publish.long`, which run before anything is installed.
"""

from __future__ import annotations

import dataclasses
import enum
import fnmatch
import subprocess
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

__all__ = ["BASE", "ENVIRONMENTS", "Environment", "Part", "changed", "touched"]

ROOT: Final = Path(__file__).resolve().parents[1]
BASE: Final = "CONFORMANCE_CI_BASE"
"""The variable that names the commit with which a change is compared."""


class Part(enum.StrEnum):
    """Who runs an environment."""

    ALWAYS = "always"
    """``.ci/run``, as a step of its own, and ``tox -e long``."""
    RELEASE = "release"
    """``tox -e long``, and ``.ci/run`` if the change touches it."""
    REPORTS = "reports"
    """A person who renews a report."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """An environment, or several that belong together, and what ``environments.toml`` says of it."""

    name: str
    part: Part
    holds: str
    when: str
    touches: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    seconds: float | None = None
    processor: float | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of tox that run it."""
        return self.run or ("-e", self.name)


def _load() -> tuple[tuple[Environment, ...], tuple[str, ...]]:
    rows: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    all_of_them = tuple(rows.pop("touches_all"))
    return tuple(_environment(name, row) for name, row in rows.items()), all_of_them


def _environment(name: str, row: Mapping[str, Any]) -> Environment:
    lists = {key: tuple(row[key]) for key in ("touches", "run") if key in row}
    return Environment(name=name, **{**row, **lists, "part": Part(row["part"])})


ENVIRONMENTS, TOUCHES_ALL = _load()


def touched(paths: Iterable[str]) -> frozenset[str]:
    """The names of the environments that depend on one of these files; paths are relative to the checkout."""
    found = set()
    for path in paths:
        for environment in ENVIRONMENTS:
            if any(fnmatch.fnmatchcase(path, pattern) for pattern in (*TOUCHES_ALL, *environment.touches)):
                found.add(environment.name)
    return frozenset(found)


def changed(environ: Mapping[str, str], root: Path = ROOT) -> tuple[tuple[str, ...] | None, str]:
    """The files that differ from the base of the change, and the base in words; None where no base is known.

    The base is the commit that ``CONFORMANCE_CI_BASE`` names; else the commit where the branch left main; else, on main
    itself, the newest tag before the last commit.
    """
    base = environ.get(BASE, "") or _branched(root) or _git(root, "describe", "--tags", "--abbrev=0", "HEAD^")
    if not base:
        return None, f"no base is known: {BASE} is not set, this is no branch of main, and no tag comes before it"
    if not _git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
        return None, f"the base {base} is no commit of this clone"
    files = _git(root, "diff", "--name-only", base), _git(root, "ls-files", "--others", "--exclude-standard")
    return tuple(path for listed in files for path in listed.splitlines()), f"compared with {base}"


def _branched(root: Path) -> str:
    """The commit where this branch left main; empty on main."""
    head = _git(root, "rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        found = _git(root, "merge-base", "HEAD", main)
        if found:
            return "" if found == head else found
    return ""


def _git(root: Path, *arguments: str) -> str:
    """The output of a command of git; empty if it fails, or if there is no git."""
    command: Sequence[str] = ("git", "-C", str(root), *arguments)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
