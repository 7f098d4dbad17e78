"""The first event of a run: the environment, the origin and, for an implementation of Arrow IPC, its name."""

from __future__ import annotations

import datetime as dt
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypedDict

import pyarrow as pa

import conformance
from conformance.contain.command import run_command
from conformance.contain.errors import CannotStart
from conformance.contain.text import safe
from conformance.contract.clause import CLAUSES, Clause
from conformance.disk.files import data_file
from conformance.engine.events import RunStarted
from conformance.engine.provenance import Digests, Identity, Provenance, ReaderVersion, masked
from conformance.engine.selection import LeftOut, all_clauses
from conformance.readers.info import ReaderInfo, Takes
from conformance.records import FORMAT, Level
from conformance.targets.spec import TargetSpec

__all__ = [
    "Surroundings",
    "command_line",
    "digests_of",
    "identity_of",
    "implementation_started",
    "surroundings",
]

_CHECKOUT: Final = Path(conformance.__file__).parents[1]
_GIT_SECONDS: Final = 10.0
"""Seconds for one `git status`; it takes a tenth of one, unless the disk is slow."""
_DISTRIBUTION: Final = "arrow-conformance"


class Surroundings(TypedDict):
    """The environment and the origin of a run and the form of its log, under the field names of
    :class:`~conformance.engine.events.RunStarted`.
    """

    suite: str
    python: str
    pyarrow: str
    platform: str
    format: int
    provenance: Provenance


def surroundings(*, target: Identity, readers: Iterable[ReaderInfo] = (), cases: str = "") -> Surroundings:
    """The environment fields of ``RunStarted``: versions, platform, form of the log, and the origin of the run.

    ``readers`` are those that read the data. ``cases`` is the digest of the corpus.
    """
    commit, modified = _commit()
    return {
        "suite": conformance.__version__,
        "python": platform.python_version(),
        "pyarrow": pa.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "format": FORMAT,
        "provenance": Provenance(
            began=dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            command=command_line(),
            commit=commit,
            modified=modified,
            digests=digests_of(cases),
            target=target,
            readers=tuple(map(_reader, readers)),
        ),
    }


def command_line() -> str:
    """The command line of this process, as one would type it, without secrets."""
    program = Path(sys.argv[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    return safe(shlex.join(masked([name, *sys.argv[1:]])))


def identity_of(spec: TargetSpec, *, name: str, version: str) -> Identity:
    """A target by its file and by the name and version that it has while it runs."""
    if spec.start is not None:
        command = spec.start.command
    elif spec.endpoint is not None:
        command = tuple(filter(None, (spec.endpoint.grpc, spec.endpoint.rest)))
    else:
        command = (spec.serializer.entry,) if spec.serializer is not None else ()
    return Identity(name, version, spec.kind, masked(command))


def digests_of(cases: str) -> Digests:
    """The digests of the suite's clauses and golden files, and ``cases``, that of the corpus."""
    clauses = [[item.id, item.level, item.explanation, item.source] for item in all_clauses().values()]
    return Digests(hashlib.sha256(json.dumps(clauses).encode()).hexdigest(), cases, _golden())


@functools.cache
def _golden() -> str:
    """The digest of the names and contents of the golden files."""
    folder, digest = data_file("golden"), hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()


def _reader(info: ReaderInfo) -> ReaderVersion:
    try:
        version = info.version if info.program else importlib.metadata.version(info.package)
    except importlib.metadata.PackageNotFoundError:
        version = ""
    return ReaderVersion(info.name, info.package, version, client=info.takes in (Takes.SERVER, Takes.QUERY))


@functools.cache
def _commit() -> tuple[str, bool]:
    """The suite's commit, and whether its files differ from it: from git in a checkout, else as pip recorded it."""
    if not (_CHECKOUT / ".git").exists():  # an outer directory may be the repository of somebody else
        return _installed_commit(), False
    environment = {"PATH": os.environ.get("PATH", os.defpath), "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "-C", str(_CHECKOUT), "status", "--porcelain=v2", "--branch"]
    try:
        done = run_command(command, environment=environment, seconds=_GIT_SECONDS)
    except CannotStart:
        return "", False
    lines = done.stdout.splitlines() if done.code == 0 else []
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), "")
    return commit, any(not line.startswith("#") for line in lines)


def _installed_commit() -> str:
    """The commit that an installer recorded (PEP 610); empty if the suite was not installed from a repository."""
    try:
        text = importlib.metadata.distribution(_DISTRIBUTION).read_text("direct_url.json")
        return str(json.loads(text or "{}")["vcs_info"]["commit_id"])
    except (importlib.metadata.PackageNotFoundError, ValueError, KeyError):
        return ""


def implementation_started(
    profile: str,
    *,
    name: str,
    title: str,
    version: str,
    file: str = "",
    select: tuple[str, ...],
    level: Level,
    cases: Iterable[str],
    all_cases: int,
    clauses: Iterable[Clause],
    seed: int = 0,
    generated: int = 0,
    left_out: tuple[LeftOut, ...] = (),
) -> RunStarted:
    """The first event of a run that judges a reader, a writer or a client.

    Such a run has no target file. Its ``name`` replays it; a program of the user's own is replayed by its ``file``.
    """
    return RunStarted(
        **surroundings(target=Identity(title, version, profile)),
        target=f"{title} {version}",
        target_file=file or name,
        seed=seed,
        generated=generated,
        profile=profile,
        select=select,
        clause=(),
        level=level,
        readers=False,
        deadline_multiplier=1.0,
        cases=tuple(cases),
        clauses=tuple(clause.id for clause in clauses),
        all_cases=all_cases,
        all_clauses=len(CLAUSES),
        left_out=left_out,
    )
