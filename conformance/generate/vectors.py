"""The golden vectors: Arrow bytes with the permitted results of readers, for programs in any language.

A folder of vectors has ``vectors/*.json`` (one :class:`VectorChapter` each). Next to each is an archive of the same
name (``vectors/*.zip``, see :mod:`conformance.disk.archives`) with its vectors' bytes in ``bytes/`` and the rows of
valid vectors, in the Arrow integration JSON form, in ``rows/``. The form follows Project Wycheproof
(https://github.com/C2SP/wycheproof): all facts about a vector are in one place, and a program that runs them needs
only a JSON parser, a ZIP reader and SHA-256. This module reads and writes folders; it makes no bytes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from conformance._jsonschema import json_schema
from conformance.contract.closed import Tier, Validity
from conformance.disk.archives import ArchiveError, pack, unpack
from conformance.disk.files import read_text, write_inside
from conformance.records import from_json, to_json

__all__ = ["Vector", "VectorChapter", "VectorError", "VectorOrigin", "VectorSet", "vectors_schema"]

FORMAT: Final = 2
"""The version of the form; it rises if a program written for the old form would misread the new one."""
SCHEMA_FILE: Final = "vectors.schema.json"


class VectorError(ValueError):
    """A folder does not have valid vectors; the message gives the file, the expectation and a remedy."""


@dataclasses.dataclass(frozen=True, slots=True)
class VectorOrigin:
    """The maker of a vector: ``origin`` names the sample, variation, mutant or recipe that it was made from.

    ``regenerates`` is ``bytes`` if every machine makes the same bytes, ``values`` if the bytes depend on a codec's
    version.
    """

    generator: str
    origin: str
    source: str = ""
    regenerates: str = "bytes"


@dataclasses.dataclass(frozen=True, slots=True)
class Vector:
    """One vector.

    ``kind`` is ``stream``, ``file`` or ``tensor``. A reader has to read a *valid* vector, unless the tier is
    *optional* and the reader reports that it lacks the feature. It has to refuse an *invalid* vector if the tier is
    *structure*, and may accept it if the tier is *content*. It may read or refuse a *permitted* vector. If a vector
    has rows, a reader must not return others.

    ``file`` and ``rows`` are names of members of the chapter's archive; ``rows`` is empty if the rows are not known,
    and vectors of a chapter with equal rows share them.
    ``reason`` is the code of the rule that the bytes break, followed by the fault, or the list of the features that
    they use.
    ``clauses`` are the clauses that the bytes break, and the clauses on readers that the vector tests.
    ``flags`` name features that a reader has to support.
    """

    id: str
    comment: str
    kind: str
    clauses: tuple[str, ...]
    result: Validity
    tier: Tier
    file: str
    sha256: str
    size: int
    provenance: VectorOrigin
    rows: str = ""
    reason: str = ""
    flags: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class VectorChapter:
    """The vectors of one file."""

    title: str
    vectors: tuple[Vector, ...]
    format: int
    licence: str = "Apache-2.0"


@dataclasses.dataclass
class VectorSet:
    """Chapters by name, and the contents of the archives' members that their vectors name."""

    chapters: dict[str, VectorChapter] = dataclasses.field(default_factory=dict)
    contents: dict[str, bytes] = dataclasses.field(default_factory=dict)

    @property
    def vectors(self) -> dict[str, Vector]:
        """Every vector by id, in the order of the chapters."""
        return {vector.id: vector for chapter in self.chapters.values() for vector in chapter.vectors}

    def files(self) -> dict[str, bytes]:
        """The files of the set, by their paths below its folder."""
        made = {SCHEMA_FILE: _text(vectors_schema())}
        for name, chapter in self.chapters.items():
            made[f"vectors/{name}.json"] = _text(to_json(chapter))
            made[f"vectors/{name}.zip"] = pack({member: self.contents[member] for member in _members(chapter)})
        return made

    def write(self, folder: Path) -> None:
        """Write the set below ``folder``; chapters that are not in the set are removed, with their archives."""
        wanted = self.files()
        for path, data in wanted.items():
            write_inside(folder, path, data)
        # Files are removed last, so that a full disk leaves every file that was there.
        for old in (folder / "vectors").iterdir():
            if f"vectors/{old.name}" not in wanted:
                old.unlink()

    @classmethod
    def load(cls, folder: Path) -> VectorSet:
        """Return the set in ``folder``; every member that a vector names is checked for existence and its digest.

        Raises:
            VectorError: the folder has no vectors, or a file is missing, malformed or has another digest.
        """
        paths = sorted((folder / "vectors").glob("*.json"))
        if not paths:
            raise VectorError(f"{folder}: expected golden vectors in {folder / 'vectors'}, found none")
        made = cls()
        for path in paths:
            made.chapters[path.stem] = chapter = _chapter(path)
            contents = _contents(archive := path.with_suffix(".zip"), chapter)
            if twice := sorted(made.contents.keys() & contents.keys()):
                raise VectorError(f"{archive}: expected members that no other archive has, got {twice[0]}")
            made.contents |= contents
        return made

    def differences(self, other: VectorSet) -> list[str]:
        """Return the differences to ``other``, one sentence each; bytes that depend on a codec's version are not
        compared.
        """
        mine, theirs = self.vectors, other.vectors
        reported = [f"{name}: no longer there" for name in mine.keys() - theirs.keys()]
        reported += [f"{name}: new" for name in theirs.keys() - mine.keys()]
        for name in mine.keys() & theirs.keys():
            reported += [f"{name}: {what} differs" for what in _differing(mine[name], theirs[name])]
            if self.contents.get(mine[name].rows) != other.contents.get(theirs[name].rows):
                reported.append(f"{name}: the rows differ")
        return sorted(reported)


def _differing(one: Vector, other: Vector) -> Iterable[str]:
    by_codec = {"file", "sha256", "size"} if one.provenance.regenerates == "values" else set()
    for field in dataclasses.fields(Vector):
        if field.name not in by_codec and getattr(one, field.name) != getattr(other, field.name):
            yield field.name


def _chapter(path: Path) -> VectorChapter:
    try:
        document = json.loads(read_text(path))
        # The first version of the form had no version number.
        form = document.get("format", 1) if isinstance(document, dict) else FORMAT
        chapter = from_json(VectorChapter, document, path=path.name) if form == FORMAT else None
    except (OSError, ValueError, RecursionError) as error:
        raise VectorError(f"{path}: expected a chapter of golden vectors, got {error}") from error
    if chapter is None:
        raise VectorError(f"{path}: expected format {FORMAT}, got {form}; use the suite that wrote it")
    return chapter


def _members(chapter: VectorChapter) -> Iterator[str]:
    """Yield the names of the members of a chapter's archive, some more than once."""
    for vector in chapter.vectors:
        yield vector.file
        if vector.rows:
            yield vector.rows


def _contents(path: Path, chapter: VectorChapter) -> dict[str, bytes]:
    """Return the members of an archive that its chapter names."""
    try:
        members = unpack(path)
    except (OSError, ArchiveError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise VectorError(f"{path}: expected the archive of a chapter: {reason}") from error
    for vector in chapter.vectors:
        for name in filter(None, (vector.file, vector.rows)):
            if name not in members:
                raise VectorError(f"{vector.id}: expected its file {name} in {path}, but it is missing")
        if (digest := hashlib.sha256(members[vector.file]).hexdigest()) != vector.sha256:
            raise VectorError(f"{vector.id}: expected {vector.file} with the digest {vector.sha256}, got {digest}")
    return {name: members[name] for name in _members(chapter)}


def _text(document: Any) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def vectors_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a chapter."""
    return json_schema(VectorChapter, title="A chapter of golden vectors for readers of Arrow IPC")
