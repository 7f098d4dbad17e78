"""The frozen requirements of a version: its clauses, their levels, and the corpus of cases that tests them.

There is one file per version, ``golden/clauses-VERSION.json``. Its statements are permanent: an id does not disappear
without a tombstone, a tombstone's id is not used again, and a clause becomes more binding only with an entry that says
so. An implementation that passed one version can therefore see what a later one adds.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import conformance
from conformance.contract.clause import Clause
from conformance.disk.files import data_file, read_text, write_whole
from conformance.records import Case, Level, RecordError, from_json, to_json

__all__ = [
    "Corpus",
    "Frozen",
    "FrozenError",
    "Requirement",
    "Tombstone",
    "complaints",
    "corpus_of",
    "file_name",
    "freeze",
    "frozen_releases",
    "frozen_text",
    "read_frozen",
    "release_of",
    "write_frozen",
]

_BINDING: Final = (Level.MAY, Level.SHOULD, Level.MUST)


class FrozenError(ValueError):
    """A file is not a frozen set of requirements; the message says why."""


@dataclasses.dataclass(frozen=True, slots=True)
class Requirement:
    """A frozen clause; ``raised_from`` is the level that it had before its level was raised, if it was."""

    id: str
    level: Level
    profiles: tuple[str, ...]
    raised_from: Level | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Tombstone:
    """A clause that was removed in ``version``; its id is never used again."""

    id: str
    level: Level
    version: str


@dataclasses.dataclass(frozen=True, slots=True)
class Corpus:
    """The number of cases, and the SHA-256 digest of their JSON forms in the order of their ids."""

    cases: int
    sha256: str


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    """The requirements of one version, with the clauses in the order of their ids."""

    version: str
    corpus: Corpus
    clauses: tuple[Requirement, ...]
    tombstones: tuple[Tombstone, ...] = ()


def file_name() -> str:
    """The name of this version's file; patch releases have the requirements of their minor version."""
    return f"clauses-{_version()}.json"


def release_of(version: str) -> str:
    """The release whose requirements ``version`` has: its first two numbers."""
    return ".".join(version.split(".")[:2])


def _version() -> str:
    return release_of(conformance.__version__)


def frozen_releases() -> dict[str, Frozen]:
    """The frozen requirements of every release that this suite knows, the oldest first."""
    known = [_read_once(path, path.stat().st_mtime_ns) for path in data_file("golden").glob("clauses-*.json")]
    return {item.version: item for item in sorted(known, key=lambda item: tuple(map(int, item.version.split("."))))}


@functools.lru_cache(maxsize=64)
def _read_once(path: Path, changed: int) -> Frozen:  # noqa: ARG001  # a file that changed is read again
    return read_frozen(path)


def corpus_of(cases: Iterable[Case]) -> Corpus:
    """The number and the digest of the cases."""
    forms = [json.dumps(to_json(case), sort_keys=True) for case in sorted(cases, key=lambda case: case.id)]
    return Corpus(len(forms), hashlib.sha256("\n".join(forms).encode()).hexdigest())


def freeze(clauses: Mapping[str, Clause], corpus: Corpus, before: Frozen | None = None) -> Frozen:
    """The requirements of this version; ``before`` is the frozen state of this version, or of the one before it.

    Removed ids become tombstones, and raised levels name the old level, so that both are visible in the file's diff.
    """
    old = {item.id: item for item in before.clauses} if before is not None else {}
    buried = before.tombstones if before is not None else ()
    same = before is not None and before.version == _version()
    return Frozen(
        version=_version(),
        corpus=corpus,
        clauses=tuple(_requirement(clauses[name], old.get(name), same=same) for name in sorted(clauses)),
        tombstones=(
            *buried,
            *(Tombstone(item.id, item.level, _version()) for item in old.values() if item.id not in clauses),
        ),
    )


def _requirement(clause: Clause, old: Requirement | None, *, same: bool) -> Requirement:
    raised_from = None
    if old is not None:
        raised_from = old.level if _rises(old.level, clause.level) else old.raised_from if same else None
    return Requirement(clause.id, clause.level, clause.profiles, raised_from)


def _rises(before: Level, now: Level) -> bool:
    return _BINDING.index(now) > _BINDING.index(before)


def complaints(frozen: Frozen, clauses: Mapping[str, Clause], corpus: Corpus) -> Iterator[str]:
    """The differences between ``frozen`` and the present clauses and cases, one sentence each with its remedy."""
    for tombstone in frozen.tombstones:
        if tombstone.id in clauses:
            yield f"{tombstone.id} was given up in {tombstone.version} and is used again; give the clause another id"
    for item in frozen.clauses:
        clause = clauses.get(item.id)
        if clause is None:
            yield f"{item.id} was frozen in {frozen.version} and is gone; restore it, or freeze its tombstone"
        elif _rises(item.level, clause.level):
            yield f"{item.id} was frozen as {item.level.upper()} and is {clause.level.upper()} now; freeze its rise"
        elif (clause.level, clause.profiles) != (item.level, item.profiles):
            yield f"{item.id} was frozen with another level or other profiles; freeze it again"
    known = {item.id for item in frozen.clauses}
    for name in sorted(set(clauses) - known):
        yield f"{name} is not among the clauses of {frozen.version}; freeze it"
    if corpus != frozen.corpus:
        yield f"the corpus of {corpus.cases} cases is not the one that was frozen; freeze it"


def read_frozen(path: Path) -> Frozen:
    """The requirements at ``path``.

    Raises:
        FrozenError: the file does not contain any.
        OSError: the file cannot be read.
    """
    try:
        return from_json(Frozen, json.loads(read_text(path)), path=str(path))
    except (ValueError, RecordError) as error:
        raise FrozenError(f"{path}: expected frozen requirements: {error}") from None


def frozen_text(frozen: Frozen) -> str:
    """The text of the file of ``frozen``, one clause to a line, so that a diff of the file shows single clauses."""
    document = to_json(frozen)
    lists = {key: document.pop(key, []) for key in ("clauses", "tombstones")}
    head = json.dumps(document, indent=1).removesuffix("\n}")
    body = "".join(f',\n "{key}": [\n  {_rows(rows)}\n ]' for key, rows in lists.items() if rows)
    return f"{head}{body}\n}}\n"


def write_frozen(frozen: Frozen, path: Path) -> None:
    """Write ``frozen`` to ``path``."""
    write_whole(path, frozen_text(frozen))


def _rows(rows: Iterable[object]) -> str:
    return ",\n  ".join(json.dumps(row) for row in rows)
