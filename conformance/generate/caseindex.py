"""The index of the suite's cases: the cases of each file as JSON, by the first 64 bits of the file's SHA-256 digest.

Reading and checking YAML takes most of the time in which a command starts. A file whose digest is in the index is not
parsed, because its content was parsed and checked when the index was written. Every other file is parsed: an index
that is out of date costs time and changes no case. ``python -m publish.refresh`` writes it.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.disk.files import data_file, read_whole
from conformance.generate.casetext import LARGEST_CASE, YAML
from conformance.records import Case, from_json, to_json

__all__ = ["INDEX_FILE", "CasesOfFile", "indexed", "render"]

INDEX_FILE: Final = "cases.index.json"
"""The name of the index; it is next to the cases and is not a case itself."""


class CasesOfFile(NamedTuple):
    """The cases in a file; ``many`` is true if the file is a matrix."""

    cases: list[Case]
    many: bool


def indexed(path: Path) -> CasesOfFile | None:
    """The cases in a file, if the index has its content; raises OSError if the file cannot be read."""
    found = _index().get(_digest(path)) if path.suffix == YAML else None
    return None if found is None else CasesOfFile([from_json(Case, one) for one in found["cases"]], found["matrix"])


def render(files: Mapping[Path, CasesOfFile]) -> str:
    """The text of the index of files, a line for each."""
    lines = [
        f"{json.dumps(_digest(path))}:{_compact({'matrix': many, 'cases': _forms(cases)})}"
        for path, (cases, many) in files.items()
        if path.suffix == YAML
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _forms(cases: Sequence[Case]) -> list[Any]:
    return [to_json(case) for case in cases]


def _digest(path: Path) -> str:
    return hashlib.sha256(read_whole(path, LARGEST_CASE)).hexdigest()[:16]


@functools.cache
def _index() -> Mapping[str, Any]:
    path = data_file("cases", INDEX_FILE)
    found: Mapping[str, Any] = json.loads(path.read_bytes()) if path.is_file() else {}
    return found
