"""The cases of a campaign over mutated bytes: how input *k* of a seed is made, and which cells it covers."""

from __future__ import annotations

import functools
import hashlib
import re
from typing import Any, Final

from conformance.campaign.campaignjob import MUTATED
from conformance.generate.changes import CHANGES
from conformance.generate.mutating import MutatedInput, mutated
from conformance.reference.legal import legal_subjects
from conformance.wire import Kind

__all__ = ["cells_of_inputs", "digest_of_subjects", "input_id", "make_input", "parse_input_id", "plan_input"]

_ID: Final = re.compile(MUTATED + r"\.s(\d{1,19})\.i(\d{1,19})")


def input_id(seed: int, index: int) -> str:
    """The id of an input; it contains everything needed to make the input again."""
    return f"{MUTATED}.s{seed}.i{index}"


def parse_input_id(name: str) -> tuple[int, int] | None:
    """Seed and index in the id of an input; None if the text is not such an id."""
    found = _ID.fullmatch(name)
    return (int(found[1]), int(found[2])) if found else None


def make_input(seed: int, index: int) -> MutatedInput:
    """The input with that seed and index."""
    return mutated(legal_subjects(), seed, index)


@functools.cache
def digest_of_subjects() -> str:
    """Twelve hexadecimal digits that identify the subjects: other subjects would give other inputs with the same id."""
    digest = hashlib.sha256()
    for subjects in legal_subjects().values():
        for subject in subjects:
            for part in (subject.name.encode(), *subject.parts):
                digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:12]


def plan_input(seed: int, index: int, made: MutatedInput) -> dict[str, Any]:
    """The row that describes how an input is made."""
    kind = made.subject.kind
    cells = {f"subject:{made.subject.name}", f"judged:{kind}/{made.kind}"}
    cells |= {f"change:{kind}/{change}" for change in made.changes}
    return {
        "index": index,
        "case_id": input_id(seed, index),
        "rows": None,
        "columns": None,
        "covers": sorted(cells),
    }


@functools.cache
def cells_of_inputs() -> frozenset[str]:
    """Every cell that inputs can cover: each subject, each change of each kind, each kind as which it is judged."""
    cells = {f"subject:{subject.name}" for subjects in legal_subjects().values() for subject in subjects}
    cells |= {f"change:{kind}/{change}" for kind in Kind for change in CHANGES}
    wholes = (Kind.STREAM, Kind.FILE, Kind.TENSOR)
    cells |= {f"judged:{kind}/{other}" for kind in wholes for other in wholes}
    return frozenset(cells | {f"judged:{Kind.MESSAGE}/{Kind.MESSAGE}"})
