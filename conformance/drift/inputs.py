"""What is read: what the versions wrote, what the reference writes, and both that and mutants with something broken.

Every input is judged by this package before any version reads it: whether a refusal is right depends on that.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.drift.building import LackingError, build_batches, build_schema
from conformance.drift.chance import Chance
from conformance.drift.judging import broken_rules
from conformance.drift.recipes import Recipe
from conformance.generate.mangling import mangled
from conformance.reference.ipc import WriterOptions, write_file, write_stream
from conformance.reference.ipc.hostile import HOSTILE
from conformance.reference.ipc.mutants import IPC_MUTANTS, IpcMutant
from conformance.reference.ipc.variations import IPC_VARIATIONS, IpcVariation

__all__ = ["DriftInput", "catalogue_inputs", "hostile_inputs", "mutated_inputs", "reference_inputs", "written_inputs"]


@dataclasses.dataclass(frozen=True, slots=True)
class DriftInput:
    """Bytes to read: ``kind`` is their class in the matrix, ``broken`` the rules that they break.

    ``refusable`` says that a reader may refuse them although they break none.
    """

    id: str
    kind: str
    container: str
    data: bytes
    broken: tuple[str, ...] = ()
    refusable: bool = False

    @property
    def valid(self) -> bool:
        """Whether the bytes break no rule of the format."""
        return not self.broken


def written_inputs(written: Iterable[tuple[str, str, str, bytes]]) -> list[DriftInput]:
    """An input for each distinct byte string that a version wrote, named ``CASE/WRITING@VERSION`` by the first.

    ``written`` are version, id, container and bytes.
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


def reference_inputs(recipes: Iterable[Recipe]) -> Iterator[DriftInput]:
    """Each recipe as the reference writes it: plainly, and in one more of the forms that the format leaves open.

    A recipe that the installed pyarrow cannot build, or the reference does not write, gives none.
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
    except (TypeError, ValueError):  # what the reference says that it does not write, a replaced dictionary in a file
        return None


def catalogue_inputs() -> Iterator[DriftInput]:
    """The reference's catalogue: every legal variation, and every mutant with its one lie.

    Variations are legal by the catalogue's word. Lies that only bend the format may be refused.
    """
    catalogue: list[IpcVariation | IpcMutant] = [*IPC_VARIATIONS.values(), *IPC_MUTANTS.values()]
    for known in catalogue:
        if known.kind == "tensor":
            continue
        fault = isinstance(known, IpcMutant)
        required = isinstance(known, IpcVariation) and known.grade == "required"
        for made in known.make():
            broken = broken_rules(known.kind, made.data) if fault else ()
            name = f"{'fault' if fault else 'legal'}/{known.name}/{made.sample}"
            kind = "lies of the catalogue" if fault else "legal variations"
            yield DriftInput(name, kind, known.kind, made.data, broken, refusable=not required)


def hostile_inputs() -> Iterator[DriftInput]:
    """Bytes that are known to hurt readers; whatever is wrong with them or not, they may be refused."""
    for hostile in HOSTILE.values():
        if hostile.kind != "tensor":
            data = hostile.make()
            broken = broken_rules(hostile.kind, data)
            yield DriftInput(f"hostile/{hostile.name}", "hostile bytes", hostile.kind, data, broken, refusable=True)


def mutated_inputs(seed: int, bases: Sequence[DriftInput], numbers: Iterable[int]) -> Iterator[DriftInput]:
    """The mutants ``numbers`` of ``bases``: one change each, most of them in metadata, where the structure is."""
    for number in numbers if bases else ():
        base = Chance(seed, f"mutant {number}").choice(bases)
        data = mangled(base.data, seed, number)
        kind = f"mutants of {base.container}s"
        yield DriftInput(f"mutant.{number:05}", kind, base.container, data, broken_rules(base.container, data))
