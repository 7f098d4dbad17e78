"""How many of the MUST clauses of a run the service itself has confirmed, by the truth packs that ship with the suite.

The one source of this number is ``golden/truth``: each folder there is a pack. Only recordings of the service count,
of which two agree; the tests check each pack that ships.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from pathlib import Path

from conformance.contain.text import many
from conformance.disk.files import data_file
from conformance.truth.pack import VERDICTS, read_findings
from conformance.truth.records import TruthStanding

__all__ = ["Confirmed", "confirmed", "of_this_suite", "shipped_packs"]


@dataclasses.dataclass(frozen=True, slots=True)
class Confirmed:
    """The clauses that the service has confirmed, out of ``must`` MUST clauses that a run counts.

    ``oldest`` is the day of the oldest confirmation, ``contradicted`` counts those that the service breaks.
    """

    confirmed: int
    must: int
    oldest: str = ""
    contradicted: int = 0

    @property
    def sentence(self) -> str:
        """The number as every report says it."""
        age = f", the oldest on {self.oldest}" if self.oldest else ""
        against = f"; it contradicts {self.contradicted}" if self.contradicted else ""
        must = f"{self.confirmed} of {'these ' if self.must != 1 else ''}{many(self.must, 'MUST clause')}"
        return f"BigQuery itself has confirmed {must} in a run of this suite{age}{against}."


def shipped_packs(folder: Path | None = None) -> tuple[Path, ...]:
    """The packs that ship with the suite, or those in ``folder``."""
    place = folder or data_file("golden", "truth")
    return tuple(sorted(path.parent for path in place.glob(f"*/{VERDICTS}")))


def confirmed(must: Iterable[str], folder: Path | None = None) -> Confirmed:
    """The number among the clauses ``must`` by the packs in ``folder``, by default those that ship with the suite.

    Raises:
        PackError: a pack is not of the form of this version.
    """
    must = tuple(must)
    held: dict[str, str] = {}
    broken: set[str] = set()
    for path in shipped_packs(folder):
        findings = read_findings(path)
        for clause in findings.clauses if findings.service else ():
            if clause.standing is TruthStanding.HELD:
                held[clause.id] = max(held.get(clause.id, ""), clause.date)
            elif clause.standing is TruthStanding.CONTRADICTED:
                broken.add(clause.id)
    counted = [held[clause] for clause in must if clause in held and clause not in broken]
    return Confirmed(len(counted), len(must), min(counted, default=""), sum(clause in broken for clause in must))


@functools.lru_cache(maxsize=8)
def of_this_suite(must: tuple[str, ...]) -> Confirmed:
    """The number of this installation, read once for each run."""
    return confirmed(must)
