"""Mutated bytes: legal subjects changed in one to eight places, for programs that must survive all bytes.

:mod:`conformance.generate.mangling` makes one change, and the result of readers is judged. This module makes
several: its changes, numbers at the ends of their ranges exactly where the metadata has numbers, lengths changed
together with the data of that length, pieces and messages of other subjects. Input *k* of a seed follows from the
two alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.generate.changes import CHANGES, Patient
from conformance.generate.choices import Seeded
from conformance.generate.subject import LegalBytes
from conformance.wire import Kind

__all__ = ["LONGEST", "MutatedInput", "mutated"]

LONGEST: Final = 128 << 10
"""The most bytes of an input: a change that would make it longer is left out."""

_COUNTS: Final = (1, 1, 1, 2, 3, 8)
"""The numbers of changes: half of the inputs have one change, whose effect is the easiest to attribute."""
_KINDS: Final = (*(Kind.STREAM, Kind.FILE, Kind.MESSAGE) * 3, Kind.TENSOR)
"""The kinds, repeated by their frequency: tensors have the fewest places for faults."""
_OTHER_KIND: Final = 16
"""One in this many inputs is read as another kind than its subject's."""
_AS_WRITER: Final = 4
"""One in this many inputs is judged as the output of a writer, too."""
_OFTEN: Final = (
    *CHANGES,
    *("number",) * 8,
    *("numbers", "body") * 4,
    *("extreme", "anywhere", "splice", "resized", "foreign"),
)
"""The changes, repeated by their frequency: numbers in metadata have the widest effect, bodies affect values."""


@dataclasses.dataclass(frozen=True, slots=True)
class MutatedInput:
    """A mutated input: its subject, the kind that it is judged as, and the changes.

    With ``writer``, the clauses on writers judge it, too.
    """

    subject: LegalBytes
    kind: Kind
    parts: tuple[bytes, ...]
    changes: tuple[str, ...]
    writer: bool = False

    @property
    def size(self) -> int:
        """The total size of all parts, in bytes."""
        return sum(map(len, self.parts))


def mutated(subjects: Mapping[Kind, Sequence[LegalBytes]], seed: int, number: int) -> MutatedInput:
    """Return input ``number`` of ``seed`` over legal ``subjects`` by their kinds, independent of inputs made before."""
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
