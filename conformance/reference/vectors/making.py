"""Drafts to vectors: the judge's verdict on the bytes, compared with the rows that their maker knows.

The facts about a vector have two independent sources: the maker, which knows what it wrote and changed, and this
package's own reading of the bytes. If they disagree, no vector is made.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance import wire
from conformance.contract.closed import Tier, Validity
from conformance.contract.ipc.expectation import Expectation
from conformance.contract.ipc.expecting import expect
from conformance.contract.ipc.features import features
from conformance.contract.ipc.ipcview import IpcView
from conformance.contract.ipc.judging import judge_ipc
from conformance.contract.raised import sound
from conformance.generate.vectors import FORMAT, Vector, VectorChapter, VectorOrigin, VectorSet
from conformance.records import Outcome
from conformance.reference.vectors.drafts import CHAPTERS, LARGEST, Draft
from conformance.wire import Kind, PlainTable, differences, plain_table
from conformance.wire.integration import IntegrationError, write_integration

__all__ = ["make_vectors"]

GENERATOR: Final = "arrow-conformance"
_ENDINGS: Final = {Kind.STREAM: ".arrows", Kind.FILE: ".arrow", Kind.TENSOR: ".tensor", Kind.MESSAGE: ".message"}


def make_vectors(chapters: Mapping[str, tuple[str, Callable[[], Iterable[Draft]]]] = CHAPTERS) -> VectorSet:
    """The golden vectors of these chapters: of each name a title and drafts.

    Raises:
        ValueError: the judge reads other rows in a draft than its maker wrote, or finds fault with what is legal.
    """
    made = VectorSet()
    for name, (title, drafts) in chapters.items():
        rows: dict[bytes, str] = {}
        made.chapters[name] = VectorChapter(title, tuple(_vector(draft, made, rows) for draft in drafts()), FORMAT)
    return made


def _vector(draft: Draft, made: VectorSet, shared: dict[bytes, str]) -> Vector:
    """The vector of a draft; its content is put into ``made``, and ``shared`` has the chapter's rows by content."""
    rows = None if draft.batches is None else _table(draft.batches, draft.schema)
    expectation = _agreed(draft, rows)
    verdicts = sound(judge_ipc(draft.data, draft.kind))
    broken = tuple(verdict.clause for verdict in verdicts if verdict.outcome is Outcome.FAIL)
    file = f"bytes/{draft.id}{_ENDINGS[draft.kind]}"
    made.contents[file] = draft.data
    text = _rows(draft, expectation)
    if text is not None:
        made.contents[shared.setdefault(text, f"rows/{draft.id}.json")] = text
    return Vector(
        id=draft.id,
        comment=draft.comment,
        kind=draft.kind,
        clauses=tuple(dict.fromkeys((*broken, *expectation.clauses))),
        result=expectation.result,
        tier=expectation.tier,
        file=file,
        sha256=hashlib.sha256(draft.data).hexdigest(),
        size=len(draft.data),
        provenance=VectorOrigin(GENERATOR, draft.origin, draft.source, "values" if draft.by_codec else "bytes"),
        rows="" if text is None else shared[text],
        reason=expectation.reason,
        flags=tuple(sorted(features(IpcView(draft.data, draft.kind)))),
    )


def _agreed(draft: Draft, rows: PlainTable | None) -> Expectation:
    read = expect(draft.data, draft.kind)
    if rows is not None and read.rows is not None and rows != read.rows:
        reported = "; ".join(differences(rows, read.rows, limit=3))
        raise ValueError(f"{draft.id}: expected the judge to read what was written, but {reported}")
    if rows is not None and read.result is Validity.INVALID and not draft.ambiguous:
        raise ValueError(f"{draft.id}: expected the judge to find nothing wrong, but {read.reason}")
    known = read.rows if rows is None else rows
    if draft.ambiguous and (known is not None or read.result is Validity.VALID):
        return Expectation(Validity.PERMITTED, known, Tier.OPTIONAL, (), read.reason)
    return dataclasses.replace(read, rows=known)


def _table(batches: Sequence[pa.RecordBatch], schema: pa.Schema | None) -> PlainTable:
    if batches or schema is None:
        return plain_table(batches)
    return PlainTable(tuple(schema.names), tuple([] for _ in schema.names), 0)


def _rows(draft: Draft, expectation: Expectation) -> bytes | None:
    """The rows in the integration form; None if they are not defined, or too many."""
    if expectation.rows is None or draft.kind is Kind.TENSOR:  # the form has no tensors
        return None
    try:
        document = _document(draft)
    except IntegrationError:
        return None
    text = (json.dumps(document, ensure_ascii=False) + "\n").encode()
    return text if len(text) <= LARGEST else None


def _document(draft: Draft) -> dict[str, Any]:
    """The rows that the maker wrote; if the maker does not know them, those that the judge read."""
    if draft.batches is not None and (draft.batches or draft.schema is not None):
        return write_integration(draft.batches, schema=draft.schema)
    return write_integration(wire.read_file(draft.data) if draft.kind is Kind.FILE else wire.read_stream(draft.data))
