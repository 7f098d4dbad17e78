"""Something that a case needs and a target does not offer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from types import UnionType

from conformance.records import Case

__all__ = ["Lack", "Untold"]


@dataclasses.dataclass(frozen=True, slots=True)
class Lack:
    """Something that a case needs and the target does not offer: ``reason`` keeps the case from being put to it.

    ``remedy`` says what to change in the target file if the target serves such cases nevertheless.
    """

    name: str
    reason: str
    remedy: str = ""

    def remark(self, cases: Sequence[str]) -> str:
        """The remark that the target passes all ``cases``, which lack nothing else.

        One case is not taken for the whole of what the lack names.
        """
        tried = len(cases)
        passed = f"the 1 case of it that was tried, {cases[0]}" if tried == 1 else f"all {tried} cases of it"
        return f"{self.reason}, but passes {passed}: {self.remedy} to judge it"


@dataclasses.dataclass(frozen=True, slots=True)
class Untold:
    """Something that a target file does not tell: cases with one of these ``steps`` lack it."""

    steps: type | UnionType
    lack: Lack

    def lacked_by(self, case: Case) -> bool:
        """True if a step of the case needs it."""
        return any(isinstance(step, self.steps) for step in case.steps)
