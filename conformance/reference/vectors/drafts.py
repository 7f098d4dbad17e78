"""The drafts of all vectors, chapter by chapter, always the same."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.generate.covering import Combination, covering
from conformance.reference.ipc.hostile import HOSTILE
from conformance.reference.ipc.models import MAGIC
from conformance.reference.ipc.mutants import IPC_MUTANTS
from conformance.reference.ipc.register import Made
from conformance.reference.ipc.samples import SAMPLES, Sample
from conformance.reference.ipc.samples.tensors import TENSORS
from conformance.reference.ipc.variations import IPC_VARIATIONS
from conformance.wire import Kind, read_stream

__all__ = ["CHAPTERS", "LARGEST", "Draft"]

PER_MUTANT: Final = 2
"""How many samples a mutant or variation is applied to: the first that fits, and one of another shape."""

LARGEST: Final = 300_000
"""Bytes of the longest vector."""

_FACTORS: Final = {
    "codec": ("", "lz4", "zstd"),
    "kind": ("stream", "file"),
    "legacy": (False, True),
    "version": ("V5", "V4"),
    "alignment": (8, 64),
    "validity": ("elided", "always"),
    "end": ("marker", "close"),
    "big_endian": (False, True),
    "min_space_savings": (None, 0.0, 0.5, 1.0),
}
_CUT: Final = ("rows.several", "dictionary.delta", "nested.mixed")
"""Samples that are cut off at every place where something ends, and in the middle of it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Draft:
    """Bytes and where they come from.

    ``batches`` are the rows that their maker wrote, under ``schema``; None if the bytes hold other rows, or rows that
    are not defined. ``by_codec`` says that another version of a codec may write other bytes; ``ambiguous`` that
    the format is silent about the form, contradicts itself, or leaves limits to readers (the depth of nesting, for
    example).
    """

    id: str
    comment: str
    kind: Kind
    data: bytes
    origin: str
    batches: Sequence[pa.RecordBatch] | None = None
    schema: pa.Schema | None = None
    source: str = ""
    by_codec: bool = False
    ambiguous: bool = False


def samples() -> Iterator[Draft]:
    """Every sample as a stream, and as a file where a file can hold it."""
    for each in SAMPLES.values():
        yield _of_sample(each, Kind.STREAM, f"sample {each.id}", each.title, each.stream().encode())
        if each.file:
            yield _of_sample(each, Kind.FILE, f"sample {each.id}", each.title, each.file_of().encode())


def _of_sample(each: Sample, kind: Kind, origin: str, comment: str, data: bytes, *, suffix: str = "") -> Draft:
    return Draft(
        id=f"{kind}.{each.id}{suffix}",
        comment=comment,
        kind=kind,
        data=data,
        origin=origin,
        batches=each.batches,
        schema=each.schema,
        by_codec=bool(each.options.codec),
    )


def options() -> Iterator[Draft]:
    """A pairwise covering array of the types, dictionaries among them, and the writer's options."""
    shown = (each.id for each in SAMPLES.values() if each.file)
    types = tuple(name for name in shown if name.startswith(("types.", "dictionary.")))
    for row in covering({"sample": types, **_FACTORS}, _go_together):
        each = SAMPLES[str(row["sample"])]
        choices = {name: value for name, value in row.items() if name not in ("sample", "kind")}
        kind = Kind(str(row["kind"]))
        model = each.stream(**choices) if kind is Kind.STREAM else each.file_of(**choices)
        reported = {name: value for name, value in choices.items() if value != _FACTORS[name][0]}
        suffix = "".join(f"+{name}={value}" for name, value in reported.items())
        origin = f"sample {each.id}, options {reported or 'none'}"
        draft = _of_sample(each, kind, origin, f"{each.title} {_sentence(reported)}", model.encode(), suffix=suffix)
        yield dataclasses.replace(draft, id=f"options.{draft.id}", by_codec=bool(row["codec"]))


def _go_together(pair: Combination) -> bool:
    """Whether two options make sense together: a least saving of space needs a codec."""
    values = dict(pair)
    return not (values.get("codec") == "" and values.get("min_space_savings") is not None)


def _sentence(reported: Mapping[str, object]) -> str:
    return f"Written with {', '.join(f'{name}={value!r}' for name, value in reported.items())}." if reported else ""


def variations() -> Iterator[Draft]:
    """Drafts of every legal variation, each on a few samples."""
    for each in IPC_VARIATIONS.values():
        for made in _few(list(each.make())):
            schema = SAMPLES[made.sample].schema if made.sample in SAMPLES else None
            yield Draft(
                id=f"variation.{each.name}.{made.sample}",
                comment=each.what,
                kind=Kind(each.kind),
                data=made.data,
                origin=f"variation {each.name} of the sample {made.sample}",
                batches=made.batches,
                schema=schema,
                source=each.source,
                ambiguous=each.grade == "ambiguous",
            )


def mutants() -> Iterator[Draft]:
    """Drafts of every mutant, each on a few samples."""
    for each in IPC_MUTANTS.values():
        for made in _few(list(each.make())):
            yield Draft(
                id=f"mutant.{each.name}.{made.sample}",
                comment=each.fault,
                kind=Kind(each.kind),
                data=made.data,
                origin=f"mutant {each.name} of the sample {made.sample}",
                source=each.source,
            )


def _few(made: Sequence[Made]) -> Sequence[Made]:
    return made if len(made) <= PER_MUTANT else (made[0], made[-1])


def hostile() -> Iterator[Draft]:
    """Inputs that are known to harm readers, except those that would make the folder large."""
    for each in HOSTILE.values():
        data = each.make()
        if len(data) > LARGEST:
            continue
        yield Draft(
            id=f"hostile.{each.name}",
            comment=each.what,
            kind=Kind(each.kind),
            data=data,
            origin=f"hostile {each.name}",
            source=each.source,
            ambiguous=True,
        )


def tensors() -> Iterator[Draft]:
    """Every sample of a tensor."""
    for each in TENSORS.values():
        origin = f"tensor {each.id}"
        yield Draft(f"tensor.{each.id}", each.title, Kind.TENSOR, each.model().encode(), origin)


def cuts() -> Iterator[Draft]:
    """Streams and files that break off: where a message, its metadata or its body ends, and in the middle of each."""
    for name in _CUT:
        each = SAMPLES[name]
        for kind, data in ((Kind.STREAM, each.stream().encode()), (Kind.FILE, each.file_of().encode())):
            for place in _places(kind, data):
                yield Draft(
                    id=f"cut.{kind}.{name}.{place}",
                    comment=f"{each.title} The bytes end after {place} of {len(data)}.",
                    kind=kind,
                    data=data[:place],
                    origin=f"sample {name}, cut at {place}",
                )


def _places(kind: Kind, data: bytes) -> list[int]:
    """Where to cut: nothing, and the whole, are left out."""
    lead = len(MAGIC) + 2 if kind is Kind.FILE else 0
    ends = {lead}
    for message in read_stream(data[lead:]).messages:
        parts = (message.start, message.metadata_start, message.metadata_end, message.body_start, message.body_end)
        ends |= {lead + part for part in parts}
    if kind is Kind.FILE:
        ends |= {len(data) - 10, len(data) - 6, len(data) - 3}
    ordered = sorted(ends)
    middles = {(one + other) // 2 for one, other in itertools.pairwise(ordered)}
    return sorted((ends | middles) - {0, len(data)})


CHAPTERS: Final[Mapping[str, tuple[str, Callable[[], Iterator[Draft]]]]] = {
    "samples": ("Every type, null pattern, dictionary, nesting and name, as writers write them by default", samples),
    "options": ("Every two options of writers, and every type, together at least once", options),
    "variations": ("Legal forms that writers choose less often", variations),
    "mutants": ("One deviation each", mutants),
    "cuts": ("Bytes that break off", cuts),
    "hostile": ("Bytes that are known to hurt readers", hostile),
    "tensors": ("Dense and sparse tensors", tensors),
}
"""Title and drafts of each chapter, by the name of its file."""
