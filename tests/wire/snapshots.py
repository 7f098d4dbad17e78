"""The full text of faults, on bytes that break each rule, and of dumps, of every layout and file structure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.wire import Kind, RegionKind, dissect
from conformance.wire import lines as dump_lines
from tests.wire.breaking import BREAKING
from tests.wire.breaking_files import FILES, GOOD_FILE, GOOD_SPARSE, GOOD_TENSOR, TENSORS
from tests.wire.corpus import batches

REPORTED = Path(__file__).parent / "reported.txt"
DISSECTED = Path(__file__).parent / "dissected.txt"


def render() -> dict[Path, str]:
    """Both files."""
    return {REPORTED: reported(), DISSECTED: dissected()}


def reported() -> str:
    """Every fault of the bytes made to break each rule."""
    return _text(line for rule, case in BREAKING.items() for line in (f"{rule}:", *(f"  {fault}" for fault in case())))


def dissected() -> str:
    """The dump of a file and of tensors, the buffers of every type; of broken files and tensors, the dump's digest."""
    return _text(_dumps())


def _dumps() -> Iterator[str]:
    for data in (GOOD_FILE, GOOD_TENSOR, *GOOD_SPARSE):
        yield from dump_lines(dissect(data))
    for name, batch in batches().items():
        if "sliced" not in name:
            yield f"{name}:"
            yield from _buffers(bytes(batch.schema.serialize()) + bytes(batch.serialize()))
    for rule, data in [*FILES.items(), *TENSORS.items()]:
        yield f"{rule}: {hashlib.sha256(_text(dump_lines(dissect(data))).encode()).hexdigest()}"


def _buffers(data: bytes) -> Iterator[str]:
    for region in dissect(data, kind=Kind.STREAM).regions:
        if region.kind is RegionKind.BUFFER:
            yield f"  {region.start}-{region.end} {region.path} {region.meaning}: {region.value}"


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
