"""The golden vectors in the repository, and the facts about them."""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
import zipfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

from conformance.contract.clause import CLAUSES, Role
from conformance.contract.closed import Tier, Validity
from conformance.contract.ipc.judging import ipc_clauses
from conformance.disk.archives import pack, unpack
from conformance.generate.vectors import Vector, VectorSet
from conformance.reference.vectors import make_vectors
from conformance.reference.vectors.drafts import CHAPTERS, Draft, mutants, samples, variations

FOLDER = Path(__file__).parents[2] / "golden" / "ipc"
PROFILES = ("ipc-stream", "ipc-file", "ipc-tensor")


@cache
def committed() -> VectorSet:
    """The vectors of the repository."""
    return VectorSet.load(FOLDER)


@cache
def drafts_of(make: Callable[[], Iterable[Draft]]) -> tuple[Draft, ...]:
    """What a chapter is made of, made once for all tests: drafts do not change."""
    return tuple(make())


def vectors() -> list[Vector]:
    """Every committed vector."""
    return list(committed().vectors.values())


def test_there_are_many_and_they_are_small() -> None:
    """There are more than a thousand, with names of their own, in less than 20 MB."""
    names = [vector.id for chapter in committed().chapters.values() for vector in chapter.vectors]

    assert len(set(names)) == len(names) > 1000
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 20_000_000


def test_vectors_are_what_their_makers_write_today() -> None:
    """The bytes of every vector, and all that is said of each tenth; the marked test of ``publish`` makes them all."""
    chapters = {name: (title, drafts_of(drafts)) for name, (title, drafts) in CHAPTERS.items()}
    drafts = {draft.id: draft for _, drafts in chapters.values() for draft in drafts}
    stored = committed().vectors
    tenth: dict[str, tuple[str, Callable[[], Iterable[Draft]]]] = {
        name: (title, functools.partial(itertools.islice, every, 0, None, 10))
        for name, (title, every) in chapters.items()
    }
    told = make_vectors(tenth).differences(committed())

    assert drafts.keys() == stored.keys()
    assert [
        name
        for name, draft in drafts.items()
        if not draft.by_codec and hashlib.sha256(draft.data).hexdigest() != stored[name].sha256
    ] == []
    # The file with a vector's rows has the name of the first vector that has them.
    assert [one for one in told if not one.endswith((": new", ": rows differs"))] == []


def test_archives_hold_what_their_vectors_name() -> None:
    """No member is there that no vector names, and an archive is what would be made of its members."""
    for name, chapter in committed().chapters.items():
        archive = FOLDER / "vectors" / f"{name}.zip"
        members = unpack(archive)

        assert members.keys() == {one for vector in chapter.vectors for one in (vector.file, vector.rows) if one}
        assert pack(members) == archive.read_bytes()


def test_a_vectors_member_has_its_name() -> None:
    """An id is enough to find the bytes."""
    assert [one.file for one in vectors() if not re.fullmatch(rf"bytes/{re.escape(one.id)}\.\w+", one.file)] == []


def test_the_readme_reads_a_member_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line of Python gives the bytes of a vector, and the others name the same member."""
    text = (FOLDER / "README.md").read_text("utf-8")
    line = text.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(FOLDER)
    found: dict[str, bytes] = {}

    exec(line, {"zipfile": zipfile}, found)

    assert found["data"] == committed().contents["bytes/stream.types.int64.arrows"]
    assert set(re.findall(r"vectors/\w+\.zip\b", text)) == {"vectors/CHAPTER.zip", "vectors/samples.zip"}
    assert set(re.findall(r"bytes/stream[\w.]+", text)) == {"bytes/stream.types.int64.arrows"}


@pytest.mark.parametrize("profile", PROFILES)
def test_every_clause_on_bytes_has_a_vector_that_breaks_it(profile: str) -> None:
    """A reader's author finds an example for each clause."""
    broken = {clause for vector in vectors() for clause in vector.clauses}

    assert {clause.id for clause in ipc_clauses(profile)} - broken == set()


def test_every_clause_on_accepting_and_refusing_has_a_vector() -> None:
    """A reader can be judged under every clause that is about some inputs and not about all."""
    asked = {clause for vector in vectors() for clause in vector.clauses}
    ipc_clauses("ipc-stream")
    wanted = {
        clause.id
        for clause in CLAUSES.values()
        if clause.role is Role.READER and clause.id.startswith(("reader.accepts.", "reader.refuses."))
    }

    assert wanted - asked == set()


def test_what_is_legal_is_told_as_legal() -> None:
    """Samples and variations are valid, or permitted where the texts conflict; samples have their rows."""
    legal = {draft.id for make in (samples, variations) for draft in drafts_of(make)}
    reported = committed().vectors

    assert [name for name in legal if reported[name].result is Validity.INVALID] == []
    assert [
        draft.id
        for draft in drafts_of(samples)
        if not reported[draft.id].rows or reported[draft.id].result is not Validity.VALID
    ] == []


def test_what_is_broken_in_structure_tells_no_rows() -> None:
    """Where a reader has to refuse, there are no rows to return."""
    structure = [vector for vector in vectors() if vector.tier is Tier.STRUCTURE]

    assert structure
    assert [vector.id for vector in structure if vector.rows or vector.result is not Validity.INVALID] == []


def test_most_mutants_are_told_as_invalid() -> None:
    """A mutant that readers may read says for which feature, or which text leaves it open."""
    reported = committed().vectors
    legal = [reported[draft.id] for draft in drafts_of(mutants) if reported[draft.id].result is not Validity.INVALID]

    assert [vector.id for vector in legal if not vector.reason] == []
    assert len(legal) < 50
