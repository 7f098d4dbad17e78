"""The guide on query results: the table of reported faults names what the suite has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from conformance.protocols.storage_read.reference.servicevariations import SERVICE_VARIATIONS
from conformance.reference.proven import proven_mutants

PAGE: Final = Path(__file__).parents[2] / "docs" / "query-results.md"
_CELL: Final = re.compile(r"(mutants?|variation) ((?:`[^`]+`(?:, )?)+)")


def test_every_reported_fault_has_a_mutant_or_a_variation() -> None:
    """Eleven rows, each of which names some, and all of them exist."""
    section = PAGE.read_text(encoding="utf-8").partition("## Reported faults")[2].partition("\n## ")[0]
    rows = [line.rstrip(" |").rpartition("|")[2].strip() for line in section.splitlines() if line.startswith("| ")][1:]
    known = {"mutant": set(proven_mutants()), "variation": set(SERVICE_VARIATIONS)}
    named = [
        [(kind.removesuffix("s"), re.findall("`([^`]+)`", names)) for kind, names in _CELL.findall(row)] for row in rows
    ]

    assert len(rows) == 11
    assert all(named)
    assert not [name for row in named for kind, names in row for name in names if name not in known[kind]]
