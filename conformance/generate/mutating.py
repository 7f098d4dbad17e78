"""Mutated bytes: legal subjects changed in one to eight places, for whoever must survive any bytes whatever.

Where :mod:`conformance.generate.mangling` makes one change and asks what readers make of it, this makes several: its
changes, numbers at the ends of their ranges just where the metadata has numbers, lengths changed together with what
they measure, pieces and messages of other subjects. Input *k* of a seed follows from the two alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.generate.changes import CHANGES, Patient
from conformance.generate.choices import Seeded
from conformance.generate.subject import Subject
from conformance.wire import Kind

__all__ = ["LONGEST", "MutatedInput", "mutated"]

LONGEST: Final = 128 << 10
"""Bytes of an input at most: a change that would make it longer is left out."""

_COUNTS: Final = (1, 1, 1, 2, 3, 8)
"""How many changes: half of the inputs have one, which tells most about what it leads to."""
_KINDS: Final = (*(Kind.STREAM, Kind.FILE, Kind.MESSAGE) * 3, Kind.TENSOR)
"""Kinds as often as inputs are of them: tensors have the fewest places that anything can be wrong with."""
_OTHER_KIND: Final = 16
"""One in so many inputs is read as another kind than its subject's."""
_AS_WRITER: Final = 4
"""One in so many is judged as a writer's, too."""
_OFTEN: Final = (
    *CHANGES,
    *("number",) * 8,
    *("numbers", "body") * 4,
    *("extreme", "anywhere", "splice", "resized", "foreign"),
)
"""The changes as often as they are made: those of numbers in metadata lead furthest, those of bodies to values."""


@dataclasses.dataclass(frozen=True, slots=True)
class MutatedInput:
    """A mutated input: the subject that it was made of, the kind that it is judged as, and what was changed.

    ``writer`` asks to judge it by the clauses on writers, too.
    """

    subject: Subject
    kind: Kind
    parts: tuple[bytes, ...]
    changes: tuple[str, ...]
    writer: bool = False

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(map(len, self.parts))


def mutated(subjects: Mapping[Kind, Sequence[Subject]], seed: int, number: int) -> MutatedInput:
    """Input ``number`` of ``seed`` over legal ``subjects`` by their kinds: the same whatever was made before."""
    choices = Seeded(seed, number, "mutated")
    kinds = [kind for kind in _KINDS if subjects.get(kind)]
    kind = choices.pick(kinds)
    others = subjects[kind]
    subject = choices.pick(others)
    parts = list(subject.parts)
    changes = []
    for _ in range(choices.pick(_COUNTS)):
        place = choices.integer(0, len(parts) - 1)
        name = choices.pick(_OFTEN)
        patient = Patient(bytearray(parts[place]), subject.anatomies[place], others)
        made = bytes(CHANGES[name](choices, patient)) if parts[place] else b""
        if sum(map(len, parts)) - len(parts[place]) + len(made) <= LONGEST:
            parts[place] = made
            changes.append(name)
    judged = kind
    if kind is not Kind.MESSAGE and choices.integer(1, _OTHER_KIND) == 1:
        judged = choices.pick([other for other in (Kind.STREAM, Kind.FILE, Kind.TENSOR) if other is not kind])
    return MutatedInput(subject, judged, tuple(parts), tuple(changes), choices.integer(1, _AS_WRITER) == 1)
