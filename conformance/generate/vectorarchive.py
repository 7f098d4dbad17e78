"""The golden vectors as one archive with one index, for programs that have a JSON parser and a ZIP reader.

The archive of a version is the same, byte for byte, wherever it is written: see :mod:`conformance.disk.archives`.
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any, Final

from conformance._jsonschema import json_schema
from conformance.disk.archives import pack
from conformance.generate.vectors import FORMAT, Vector, VectorError, VectorSet
from conformance.records import to_json

__all__ = ["Index", "archive_name", "index_schema", "vector_archive"]

_SHARED: Final = ("A vector", "Read a member", "Run them against your reader")
"""Sections of the folder's README that hold for the archive too."""


@dataclasses.dataclass(frozen=True, slots=True)
class Index:
    """Every vector of one version; ``format`` rises when a program written for the old form would misread the new."""

    version: str
    format: int
    licence: str
    vectors: tuple[Vector, ...]


def archive_name(version: str) -> str:
    """The name of a version's archive."""
    return f"arrow-ipc-vectors-{version}.zip"


def vector_archive(folder: Path, version: str) -> bytes:
    """The archive of the vectors in ``folder``, under ``version``.

    Raises:
        VectorError: the folder does not hold a set of vectors, or not the texts for the README.
    """
    made = VectorSet.load(folder)
    index = Index(version, FORMAT, "Apache-2.0", tuple(made.vectors.values()))
    documents = {"index.json": to_json(index), "index.schema.json": index_schema()}
    texts = {name: json.dumps(document, indent=1, ensure_ascii=False) + "\n" for name, document in documents.items()}
    texts["README.md"] = _readme(folder, index)
    return pack({**{name: text.encode() for name, text in texts.items()}, **made.contents})


def index_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of an index."""
    return json_schema(Index, title="The index of an archive of golden vectors for readers of Arrow IPC")


def _readme(folder: Path, index: Index) -> str:
    try:
        head, shared = ((folder / name).read_text(encoding="utf-8") for name in ("ARCHIVE.md", "README.md"))
    except OSError as error:
        raise VectorError(f"{error.filename}: expected the text for the archive's README: {error.strerror}") from None
    sections = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", shared, re.MULTILINE))
    if missing := [name for name in _SHARED if name not in sections]:
        raise VectorError(f"{folder / 'README.md'}: expected the section {missing[0]!r}, got {sorted(sections)}")
    facts = {"VERSION": index.version, "COUNT": str(len(index.vectors)), "FORMAT": str(index.format)}
    head = re.sub("|".join(facts), lambda found: facts[found[0]], head)
    body = "".join(f"## {name}\n{sections[name]}" for name in _SHARED)
    return head + body.replace("vectors/samples.zip", archive_name(index.version)).rstrip() + "\n"
