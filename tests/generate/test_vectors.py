"""Folders of golden vectors: written, read, compared, and refused if they do not match their index."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from conformance.contract.closed import Tier, Validity
from conformance.disk.archives import pack
from conformance.generate.vectors import (
    FORMAT,
    Vector,
    VectorChapter,
    VectorError,
    VectorOrigin,
    VectorSet,
    vectors_schema,
)

FILE = "bytes/stream.empty.arrows"
DATA = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def made(data: bytes = DATA, **changes: object) -> VectorSet:
    """A set of one vector."""
    vectors = VectorSet()
    vectors.contents[FILE] = data
    vector = Vector(
        id="stream.empty",
        comment="An end-of-stream marker alone.",
        kind="stream",
        clauses=("stream.schema-first",),
        result=Validity.INVALID,
        tier=Tier.STRUCTURE,
        file=FILE,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        provenance=VectorOrigin("conformance 1", "mutant stream.empty"),
        reason="stream.schema-first",
    )
    vectors.chapters["stream"] = VectorChapter("Streams", (dataclasses.replace(vector, **changes),), FORMAT)
    return vectors


def test_a_set_that_was_written_is_read_as_it_was(tmp_path: Path) -> None:
    """Chapters and contents come back."""
    made().write(tmp_path)

    read = VectorSet.load(tmp_path)

    assert (read.chapters, read.contents) == (made().chapters, made().contents)


def test_a_chapter_fits_the_published_schema(tmp_path: Path) -> None:
    """The written index is valid under the schema that is written with it."""
    made().write(tmp_path)

    schema = json.loads((tmp_path / "vectors.schema.json").read_text())
    Draft202012Validator(schema).validate(json.loads((tmp_path / "vectors/stream.json").read_text()))

    assert schema == vectors_schema()


def test_what_the_set_has_no_more_is_removed(tmp_path: Path) -> None:
    """Chapters that are gone do not stay behind, nor their archives."""
    other = made()
    other.chapters["other"] = other.chapters.pop("stream")
    other.write(tmp_path)
    made().write(tmp_path)

    assert sorted(path.name for path in (tmp_path / "vectors").iterdir()) == ["stream.json", "stream.zip"]


def test_members_have_the_names_of_their_vectors(tmp_path: Path) -> None:
    """Any ZIP reader finds a vector's bytes in its chapter's archive."""
    made().write(tmp_path)

    with zipfile.ZipFile(tmp_path / "vectors" / "stream.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {FILE: DATA}


def test_other_bytes_than_told_are_refused(tmp_path: Path) -> None:
    """A file whose digest is not the vector's is named with both digests."""
    made().write(tmp_path)
    (tmp_path / "vectors" / "stream.zip").write_bytes(pack({FILE: b"junk"}))

    with pytest.raises(VectorError, match=r"stream\.empty: expected bytes/stream\.empty\.arrows with the digest"):
        VectorSet.load(tmp_path)


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    """A vector without its file says so."""
    made().write(tmp_path)
    (tmp_path / "vectors" / "stream.zip").write_bytes(pack({}))

    with pytest.raises(
        VectorError, match=r"stream\.empty: expected its file bytes/stream\.empty\.arrows in .*stream\.zip"
    ):
        VectorSet.load(tmp_path)


def test_an_absent_archive_is_named(tmp_path: Path) -> None:
    """A chapter without its archive says so, and one whose archive is something else."""
    made().write(tmp_path)
    archive = tmp_path / "vectors" / "stream.zip"
    archive.write_bytes(b"junk")
    with pytest.raises(VectorError, match=r"stream\.zip: expected the archive of a chapter: expected a ZIP archive"):
        VectorSet.load(tmp_path)

    archive.unlink()
    with pytest.raises(VectorError, match=r"stream\.zip: expected the archive of a chapter: No such file"):
        VectorSet.load(tmp_path)


def test_a_member_of_two_archives_is_refused(tmp_path: Path) -> None:
    """Unpacked in one place, the archives of a set leave each other alone."""
    twice = made()
    twice.chapters["tensor"] = twice.chapters["stream"]
    twice.write(tmp_path)

    with pytest.raises(VectorError, match=r"expected members that no other archive has, got bytes/stream\.empty"):
        VectorSet.load(tmp_path)


def test_a_folder_without_vectors_is_refused(tmp_path: Path) -> None:
    """An empty folder is no empty set."""
    with pytest.raises(VectorError, match="found none"):
        VectorSet.load(tmp_path)


def test_a_chapter_of_another_form_is_refused(tmp_path: Path) -> None:
    """A later format is refused, not misread."""
    made().write(tmp_path)
    path = tmp_path / "vectors/stream.json"
    path.write_text(path.read_text().replace('"vectors"', '"vectors_of_old"'))

    with pytest.raises(VectorError, match=r"stream\.json: expected a chapter"):
        VectorSet.load(tmp_path)

    path.write_text('{"title": "Of the first form, which did not say so", "vectors": []}')
    with pytest.raises(VectorError, match=r"stream\.json: expected format 2, got 1; use the suite that wrote it"):
        VectorSet.load(tmp_path)


def test_differences_name_what_changed() -> None:
    """Two sets are compared vector by vector, field by field."""
    assert made().differences(made()) == []
    assert made().differences(made(comment="Another.")) == ["stream.empty: comment differs"]
    assert made().differences(made(id="stream.other")) == ["stream.empty: no longer there", "stream.other: new"]


def test_rows_of_the_same_name_are_compared() -> None:
    """Two vectors may have the same facts and different rows."""
    one, other = made(rows="rows/a.json"), made(rows="rows/a.json")
    one.contents["rows/a.json"], other.contents["rows/a.json"] = b"{}", b"[]"

    assert one.differences(other) == ["stream.empty: the rows differ"]


def test_bytes_of_a_codec_may_differ() -> None:
    """Where a codec's version decides the bytes, other bytes are no difference."""
    by_codec = VectorOrigin("conformance 1", "sample", regenerates="values")

    assert made(provenance=by_codec).differences(made(b"squeezed otherwise", provenance=by_codec)) == []
    assert made().differences(made(b"other bytes")) != []
