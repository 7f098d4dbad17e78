"""The corpus of invalid Arrow: malformed streams, files and tensors as one archive with one index.

It has every vector that is not valid, and copies of valid vectors with one seeded change of their bytes. The entry of
each input says which layouts its schema declares, which rule it breaks, and which outcomes of a reader are permitted.
A program that runs it needs a JSON parser and a ZIP reader. The archive of a version is the same on every machine.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from conformance._jsonschema import json_schema
from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.closed import Tier, Validity
from conformance.contract.ipc.expecting import expect
from conformance.disk.archives import pack
from conformance.generate.choices import Seeded
from conformance.generate.mangling import mangled
from conformance.generate.vectors import Vector, VectorError, VectorSet
from conformance.records import Level, to_json
from conformance.wire import Kind, TypeKind, read_file, read_stream

__all__ = ["CHANGED", "InvalidIndex", "InvalidInput", "Permitted", "invalid_archive", "invalid_inputs", "invalid_name"]

FORMAT: Final = 1
"""The version of the index; it rises if a program written for the old form would misread the new one."""
CHANGED: Final = 2000
"""Copies of valid vectors with one change: those that are still legal are left out."""
SEED: Final = 0
_ENDINGS: Final = {Kind.STREAM: "arrows", Kind.FILE: "arrow", Kind.TENSOR: "tensor"}
_LAYOUTS: Final = {
    TypeKind.NULL: "null",
    TypeKind.BINARY: "variable-size-binary",
    TypeKind.UTF8: "variable-size-binary",
    TypeKind.LARGE_BINARY: "variable-size-binary",
    TypeKind.LARGE_UTF8: "variable-size-binary",
    TypeKind.BINARY_VIEW: "variable-size-binary-view",
    TypeKind.UTF8_VIEW: "variable-size-binary-view",
    TypeKind.LIST: "variable-size-list",
    TypeKind.LARGE_LIST: "variable-size-list",
    TypeKind.MAP: "variable-size-list",
    TypeKind.LIST_VIEW: "list-view",
    TypeKind.LARGE_LIST_VIEW: "list-view",
    TypeKind.FIXED_SIZE_LIST: "fixed-size-list",
    TypeKind.STRUCT: "struct",
    TypeKind.UNION: "union",
    TypeKind.RUN_END_ENCODED: "run-end-encoded",
}
"""The layout of a type, as the format's page on columns names it; every other type has the fixed-size primitive one."""


class Permitted(enum.StrEnum):
    """An outcome that a reader may have. To crash, to hang, to panic and to use memory without bound are no such
    outcomes.
    """

    ERROR = "error"
    """An error that callers can handle."""
    ROWS = "rows"
    """Any rows: nobody knows the right ones."""
    TRUE_ROWS = "true-rows"
    """The rows in ``rows``, and no others."""


@dataclasses.dataclass(frozen=True, slots=True)
class InvalidInput:
    """One input.

    ``layouts`` are those that its schema declares, empty if no schema can be read. ``rule`` is the code of the rule
    that it breaks, and ``reason`` says what was expected and found. Few inputs break no rule, and are hostile by what
    they declare: a reader may refuse them, and has to survive them. ``level`` is that of the requirement to refuse it:
    *should* and *must* inputs permit only an error, *may* inputs also rows.
    """

    id: str
    comment: str
    kind: Kind
    layouts: tuple[str, ...]
    level: Level
    reason: str
    outcomes: tuple[Permitted, ...]
    file: str
    sha256: str
    size: int
    rule: str = ""
    rows: str = ""
    source: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class InvalidIndex:
    """Every input of one version; ``seed`` and ``changed`` say how the changed copies were made."""

    version: str
    format: int
    licence: str
    seed: int
    changed: int
    inputs: tuple[InvalidInput, ...]


def invalid_name(version: str) -> str:
    """The name of a version's archive."""
    return f"arrow-ipc-invalid-{version}.zip"


def invalid_archive(folder: Path, version: str, *, changed: int = CHANGED) -> bytes:
    """The archive made from the vectors in ``folder``, under ``version``.

    Raises:
        VectorError: the folder does not hold a set of vectors, or not the text for the README.
    """
    vectors = VectorSet.load(folder)
    try:
        readme = (folder / "INVALID.md").read_text(encoding="utf-8")
    except OSError as error:
        raise VectorError(f"{error.filename}: expected the text for the archive's README: {error.strerror}") from None
    members: dict[str, bytes] = {}
    inputs = []
    for one, data in invalid_inputs(vectors, changed=changed):
        inputs.append(one)
        members[one.file] = data
        if one.rows:
            members[one.rows] = vectors.contents[one.rows]
    index = InvalidIndex(version, FORMAT, "Apache-2.0", SEED, changed, tuple(inputs))
    title = "The index of the corpus of invalid Arrow IPC data"
    documents = {"index.json": to_json(index), "index.schema.json": json_schema(InvalidIndex, title=title)}
    for name, document in documents.items():
        members[name] = (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()
    for word, value in {"VERSION": version, "COUNT": str(len(inputs)), "FORMAT": str(FORMAT)}.items():
        readme = readme.replace(word, value)
    members["README.md"] = readme.encode()
    return pack(members)


def invalid_inputs(vectors: VectorSet, *, changed: int = CHANGED) -> Iterator[tuple[InvalidInput, bytes]]:
    """Every input with its bytes: the vectors in their order, then the changed copies."""
    load_chapters()
    sound = []
    for vector in vectors.vectors.values():
        if vector.result is Validity.VALID:
            sound.append(vector)
        else:
            data = vectors.contents[vector.file]
            yield _of_vector(vector, data), data
    for number in range(changed if sound else 0):
        base = Seeded(SEED, number, "base").pick(sound)
        data = mangled(vectors.contents[base.file], SEED, number)
        if (made := _of_change(base, number, data)) is not None:
            yield made, data


def _of_vector(vector: Vector, data: bytes) -> InvalidInput:
    kind = Kind(vector.kind)
    return InvalidInput(
        id=vector.id,
        comment=vector.comment,
        kind=kind,
        layouts=_layouts(data, kind),
        rule=_rule(vector.reason),
        level=_level(vector.tier, vector.clauses),
        reason=vector.reason,
        outcomes=_outcomes(vector.tier, rows=bool(vector.rows)),
        file=vector.file,
        sha256=vector.sha256,
        size=vector.size,
        rows=vector.rows,
        source=vector.provenance.source,
    )


def _of_change(base: Vector, number: int, data: bytes) -> InvalidInput | None:
    """The entry of a valid vector with one change; None if the result is legal."""
    kind = Kind(base.kind)
    expectation = expect(data, kind)
    if expectation.result is Validity.VALID:
        return None
    name = f"mangled.s{SEED}.i{number}"
    return InvalidInput(
        id=name,
        comment=f"{base.id}, with one change.",
        kind=kind,
        layouts=_layouts(data, kind),
        rule=_rule(expectation.reason),
        level=_level(expectation.tier, expectation.clauses),
        reason=expectation.reason,
        outcomes=_outcomes(expectation.tier, rows=False),
        file=f"bytes/{name}.{_ENDINGS[kind]}",
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
    )


def _rule(reason: str) -> str:
    """The code of the rule with which a reason begins; empty for bytes that are legal, and hostile by their size."""
    rule = reason.partition(":")[0]
    return "" if rule == "legal" else rule


def _level(tier: Tier, clauses: Sequence[str]) -> Level:
    """The level of the requirement to refuse the input."""
    if tier is not Tier.STRUCTURE:
        return Level.MAY
    return next(CLAUSES[name].level for name in clauses if name.startswith("reader.refuses."))


def _outcomes(tier: Tier, *, rows: bool) -> tuple[Permitted, ...]:
    if tier is Tier.STRUCTURE:
        return (Permitted.ERROR,)
    return Permitted.ERROR, Permitted.TRUE_ROWS if rows else Permitted.ROWS


def _layouts(data: bytes, kind: Kind) -> tuple[str, ...]:
    """The layouts that the schema declares, each once, in alphabetical order."""
    if kind is Kind.TENSOR:
        return ("tensor",)
    schema = (read_file(data) if kind is Kind.FILE else read_stream(data)).schema
    found: set[str] = set()
    todo: list[Any] = [] if schema is None else list(schema.fields)
    while todo:  # no recursion: schemas of the corpus are nested thousands of levels deep
        field = todo.pop()
        found.add("dictionary-encoded" if field.dictionary is not None else _LAYOUTS.get(field.type.kind, "primitive"))
        todo += field.children
    return tuple(sorted(found))
