"""The generated sentence of ``README.md``: how much of the suite proves itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.reference.proven import proven_mutants
from publish.tables.blocks import filled

__all__ = ["NAME", "text"]

NAME: Final = "../README.md"
ROOT: Final = Path(__file__).resolve().parents[2]


def text() -> str:
    """The README with its generated sentence."""
    return filled(ROOT / "README.md", {"proven": _proven})


def _proven() -> Iterator[str]:
    cases, read = (len(load_corpus(data_file("cases"), protocol)) for protocol in (None, DEFAULT_PROTOCOL))
    parts = f"{read} for Storage Read, {cases - read} for Flight"
    proof = "[the proof](docs/results.md#the-proof)"
    yield (
        f"  Today there are {len(all_clauses())} clauses, {cases} cases ({parts}) and {len(proven_mutants())} mutants"
        f" ({proof}).\n"
    )
