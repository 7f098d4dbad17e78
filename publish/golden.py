"""What ``conformance golden`` and ``conformance freeze`` write, for :mod:`publish.refresh`.

The bytes of a codec differ between versions and machines, so a set of which nothing else differs stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance.engine.corpus import load_corpus
from conformance.engine.requirements import corpus_of, file_name, freeze, frozen_releases, frozen_text
from conformance.engine.selection import all_clauses
from conformance.generate.vectors import VectorError, VectorSet
from conformance.reference import goldenpairs
from conformance.reference.vectors import make_vectors
from publish.generated import ROOT

__all__ = ["render"]

GOLDEN = ROOT / "golden"


def render(name: str) -> dict[Path, bytes | str]:
    """The files of one set: ``pairs``, ``vectors`` or ``frozen``."""
    make = {"pairs": _pairs, "vectors": _vectors, "frozen": _frozen}[name]
    return {GOLDEN / file: content for file, content in make().items()}


def _pairs() -> Mapping[str, bytes | str]:
    folder = GOLDEN / "bq-arrow"
    made: Mapping[str, bytes | str] = goldenpairs.files()
    if not goldenpairs.check(folder):
        made = {name: (folder / name).read_bytes() for name in made}
    return {f"bq-arrow/{name}": content for name, content in made.items()}


def _vectors() -> Mapping[str, bytes | str]:
    made = make_vectors()
    try:
        stored = VectorSet.load(GOLDEN / "ipc")
    except VectorError:
        stored = VectorSet()
    same = not stored.differences(made)
    return {f"ipc/{name}": content for name, content in (stored if same else made).files().items()}


def _frozen() -> Mapping[str, bytes | str]:
    """This version's requirements; those of a new version follow those of the version before."""
    before = [*frozen_releases().values()][-1]
    frozen = freeze(all_clauses(), corpus_of(load_corpus().values()), before)
    return {file_name(): frozen_text(frozen)}
