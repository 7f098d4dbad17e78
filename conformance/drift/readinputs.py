"""The bytes that every version reads: those that the versions wrote, those of the reference writer, and mutants.

This package judges every input before any version reads it, because that decides whether a refusal is correct.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.drift.building import LackingError, build_batches, build_schema
from conformance.drift.bytejudging import broken_rules
from conformance.drift.chance import Chance
from conformance.drift.recipes import DriftRecipe
from conformance.generate.mangling import mangled
from conformance.reference.ipc import WriterOptions, write_file, write_stream
from conformance.reference.ipc.hostile import HOSTILE
from conformance.reference.ipc.mutants import IPC_MUTANTS, IpcMutant
from conformance.reference.ipc.variations import IPC_VARIATIONS, IpcVariation

__all__ = ["DriftInput", "catalogue_inputs", "hostile_inputs", "mutated_inputs", "reference_inputs", "written_inputs"]


@dataclasses.dataclass(frozen=True, slots=True)
class DriftInput:
    """Bytes to read: ``kind`` is their class in the matrix, ``broken`` contains the rules that they break.

    ``refusable`` is True if a reader may refuse the bytes even if they break no rule.
    """

    id: str
    kind: str
    container: str
    data: bytes
    broken: tuple[str, ...] = ()
    refusable: bool = False

    @property
    def valid(self) -> bool:
        """True if the bytes break no rule of the format."""
        return not self.broken


def written_inputs(written: Iterable[tuple[str, str, str, bytes]]) -> list[DriftInput]:
    """An input for each distinct byte string that a version wrote, named ``CASE/WRITING@VERSION`` after its first one.

    The entries of ``written`` are version, id, container and bytes.
    """
    seen: dict[tuple[str, bytes], DriftInput] = {}
    for version, name, container, data in written:
        key = container, hashlib.sha256(data).digest()
        if key not in seen:
            broken = broken_rules(container, data)
            seen[key] = DriftInput(f"{name}@{version}", f"pyarrow's {container}s", container, data, broken)
    return list(seen.values())


_OPTIONS: Final[Mapping[str, WriterOptions]] = {
    "plain": WriterOptions(),
    "close": WriterOptions(end="close"),
    "legacy": WriterOptions(legacy=True),
    "v4": WriterOptions(version="V4"),
    "wide": WriterOptions(alignment=64),
    "bitmaps": WriterOptions(validity="always"),
    "lz4": WriterOptions(codec="lz4"),
    "zstd": WriterOptions(codec="zstd", min_space_savings=0.3),
    "deltas": WriterOptions(deltas=True),
    "big-endian": WriterOptions(big_endian=True),
    "metadata": WriterOptions(message_metadata={"a": "b"}, opening_metadata={"c": "d"}),
}


def reference_inputs(recipes: Iterable[DriftRecipe]) -> Iterator[DriftInput]:
    """Each recipe as the reference writes it: in the plain form, and in one other form that the format allows.

    A recipe is skipped if the installed pyarrow cannot build it, or if the reference does not write it.
    """
    others = [name for name in _OPTIONS if name != "plain"]
    for number, recipe in enumerate(recipes):
        try:
            schema = build_schema(recipe.document)
            batches = build_batches(recipe.document, schema)
        except LackingError:
            continue
        for option in ("plain", others[number % len(others)]):
            for container, write in (("stream", write_stream), ("file", write_file)):
                data = _written(write, batches, schema, _OPTIONS[option])
                if data is not None:
                    broken = broken_rules(container, data)
                    yield DriftInput(
                        f"reference/{recipe.id}/{container}+{option}",
                        f"reference {container}s",
                        container,
                        data,
                        broken,
                    )


def _written(
    write: Callable[..., bytes], batches: Sequence[Any], schema: pa.Schema, options: WriterOptions
) -> bytes | None:
    try:
        return write(batches, options, schema=schema)
    except (TypeError, ValueError):  # the reference refuses to write it, such as a replaced dictionary in a file
        return None


def catalogue_inputs() -> Iterator[DriftInput]:
    """The reference's catalogue: every legal variation, and every mutant with its single fault.

    The catalogue itself guarantees that variations are legal. A reader may refuse a mutant that breaks no rule.
    """
    catalogue: list[IpcVariation | IpcMutant] = [*IPC_VARIATIONS.values(), *IPC_MUTANTS.values()]
    for known in catalogue:
        if known.kind == "tensor":
            continue
        fault = isinstance(known, IpcMutant)
        required = isinstance(known, IpcVariation) and known.grade == "required"
        for made in known.make():
            broken = broken_rules(known.kind, made.data, promises=True) if fault else ()
            name = f"{'lie' if fault else 'legal'}/{known.name}/{made.sample}"
            kind = "lies of the catalogue" if fault else "legal variations"
            yield DriftInput(name, kind, known.kind, made.data, broken, refusable=not required)


def hostile_inputs() -> Iterator[DriftInput]:
    """Bytes that are known to harm readers; a reader may refuse them whether they break a rule or not."""
    for hostile in HOSTILE.values():
        if hostile.kind != "tensor":
            data = hostile.make()
            broken = broken_rules(hostile.kind, data)
            yield DriftInput(f"hostile/{hostile.name}", "hostile bytes", hostile.kind, data, broken, refusable=True)


def mutated_inputs(seed: int, bases: Sequence[DriftInput], numbers: Iterable[int]) -> Iterator[DriftInput]:
    """The mutants ``numbers`` of ``bases``, with one change each; most changes are in the metadata."""
    for number in numbers if bases else ():
        base = Chance(seed, f"mutant {number}").choice(bases)
        data = mangled(base.data, seed, number)
        kind = f"mutants of {base.container}s"
        yield DriftInput(f"mutant.{number:05}", kind, base.container, data, broken_rules(base.container, data))
