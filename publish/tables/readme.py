"""The generated parts of ``README.md``: what the suite has found, and how much of it proves itself.

A line on a finding names its software and versions as the reports in ``reports/`` do; the test of the README compares
each line with these reports, and what clients make of it with ``reports/clients.json``.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.records import from_json
from conformance.reference.proven import proven_mutants
from publish.tables.blocks import filled

__all__ = ["HEADLINES", "NAME", "Headline", "text"]

NAME: Final = "../README.md"
ROOT: Final = Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True, slots=True)
class Headline:
    """One line on a finding: ``what`` with ``{who}``, and the reports, clauses and harm that show it."""

    what: str
    name: str
    page: str
    reports: tuple[str, ...]
    clauses: tuple[str, ...]
    reason: str
    shown: str = ""
    situation: str = ""
    harm: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def targets(self) -> list[str]:
        """The targets of the reports, each a name with its version."""
        files = (ROOT / "reports" / f"{report}.json" for report in self.reports)
        return [json.loads(file.read_text(encoding="utf-8"))["run"]["target"] for file in files]

    @property
    def who(self) -> str:
        """The name, and the versions that the reports have."""
        *most, last = [target.replace("-", " ").rpartition(" ")[2] for target in self.targets()]
        return f"{self.name} {' and '.join([', '.join(most), last]) if most else last}"


HEADLINES: Final = tuple(
    from_json(Headline, row)
    for row in tomllib.loads((Path(__file__).parent / "findings.toml").read_text(encoding="utf-8"))["headline"]
)
"""Every line, in the order of the file."""


def text() -> str:
    """The README with its generated parts."""
    return filled(ROOT / "README.md", {"found": _found, "proven": _proven})


def _found() -> Iterator[str]:
    for line in HEADLINES:
        yield f"- {line.what.format(who=f'[{line.who}]({line.page})')}\n"


_PROTOCOLS: Final[Mapping[str, str]] = {
    "storage-read": "Storage Read",
    "flight": "Flight",
    "storage-write": "Storage Write",
}


def _proven() -> Iterator[str]:
    of = {words: len(load_corpus(data_file("cases"), protocol)) for protocol, words in _PROTOCOLS.items()}
    cases, parts = sum(of.values()), ", ".join(f"{count} for {words}" for words, count in of.items())
    proof = "[the proof](docs/results.md#the-proof)"
    yield (
        f"  Today there are {len(all_clauses())} clauses, {cases} cases ({parts}) and {len(proven_mutants())} mutants"
        f" ({proof}).\n"
    )
