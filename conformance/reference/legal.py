"""Legal inputs of every kind, to be mutated: streams, files, tensors and bare messages.

They are the legal vectors (samples of every type, options of writers pairwise, variations, tensors), and messages as a
Storage Read client receives them: golden pairs, tables as campaigns draw them, samples in messages.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from conformance.disk.files import data_file
from conformance.generate import draw_case, materialise
from conformance.generate.subject import LegalBytes
from conformance.generate.vectors import VectorSet
from conformance.reference.goldenpairs import pairs
from conformance.reference.ipc.dictionaries import dictionary_count
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.serializer import REFERENCE
from conformance.wire import Kind

__all__ = ["legal_subjects"]

_LEGAL: Final = ("samples", "options", "variations", "tensors")
"""The chapters whose vectors are all legal."""
_DRAWN: Final = 200
"""The number of tables drawn with seed 0, one for each family of columns."""
_LARGEST: Final = 64 << 10
"""Bytes of the largest drawn table: changes of larger ones cost more and find nothing else."""
_CODECS: Final = ("", "LZ4_FRAME", "ZSTD")


@functools.cache
def legal_subjects() -> Mapping[Kind, tuple[LegalBytes, ...]]:
    """The inputs by kind, always the same but for drawn tables that are compressed, as the codec's version does it."""
    found: dict[Kind, list[LegalBytes]] = {kind: [] for kind in Kind}
    for subject in (*_vectors(), *_golden(), *_drawn(), *_samples()):
        found[subject.kind].append(subject)
    return MappingProxyType({kind: tuple(these) for kind, these in found.items()})


def _vectors() -> Iterator[LegalBytes]:
    stored = VectorSet.load(data_file("golden", "ipc"))  # their making takes ten times as long
    for chapter in _LEGAL:
        for one in stored.chapters[chapter].vectors:
            kind = Kind(one.kind)
            profile = "ipc-message" if kind is Kind.MESSAGE else ""
            yield LegalBytes(one.id, kind, (stored.contents[one.file],), profile)


def _golden() -> Iterator[LegalBytes]:
    for pair in pairs():
        messages = pair.messages()
        yield LegalBytes(f"golden.{pair.name}", Kind.MESSAGE, (messages["schema"], messages["batch"]), "bq-arrow")


def _drawn() -> Iterator[LegalBytes]:
    for index in range(_DRAWN):
        table = materialise(draw_case(0, index, profile="arrow").table)
        codec = _CODECS[index % len(_CODECS)]
        half = max(1, table.num_rows // 2)
        batches = [batch for batch in table.combine_chunks().to_batches(max_chunksize=half) if batch.num_rows]
        parts = (
            REFERENCE.serialize_schema(table.schema),
            *(REFERENCE.serialize_batch(batch, codec) for batch in batches),
        )
        if sum(map(len, parts)) <= _LARGEST:
            yield LegalBytes(f"drawn.{index}", Kind.MESSAGE, parts, "bq-arrow")


def _samples() -> Iterator[LegalBytes]:
    for each in SAMPLES.values():
        if dictionary_count(each.schema) == 0:
            parts = REFERENCE.serialize_schema(each.schema), *map(REFERENCE.serialize_batch, each.batches)
            yield LegalBytes(f"message.{each.id}", Kind.MESSAGE, parts, "ipc-message")
