"""``docs/flight-consequences.md``: the consequence matrix of Flight, from ``reports/flight-clients.json``.

Nothing on the page is written by hand: the rule and the classes are those of the code that applies them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from publish.tables.consequences import REPORT as STORAGE
from publish.tables.consequences import matrix

__all__ = ["NAME", "REPORT", "text"]

NAME: Final = "flight-consequences.md"
REPORT: Final = STORAGE.with_name("flight-clients.json")


def text() -> str:
    """The page."""
    return "".join(_page())


def _page() -> Iterator[str]:
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    situations, clients = report["situations"], report["clients"]
    mutants = sum("clause" in row for row in situations)
    yield "# What Flight clients make of faulty servers\n\n"
    yield "`python -m publish.flightclients` puts each path of each Flight client before streams with one unusual\n"
    yield "message and before the mutants of the Flight reference, and `python -m publish.refresh` writes this page\n"
    yield "from [`reports/flight-clients.json`](../reports/flight-clients.json).\n"
    yield "[flight-clients.md](flight-clients.md) explains clients and paths.\n\n"
    yield f"{len(clients)} paths, {mutants} mutants of the Flight reference and {len(situations) - mutants} streams.\n"
    yield f"{report['cells']} cells are measured {report['rounds']} times each, and the rounds differ in\n"
    yield f"{report['unequal']} of them; {len(clients) * len(situations) - report['cells']} cells are not measured.\n\n"
    yield "A mutant takes part if what it answers to a client that lists, asks, gets, puts and exchanges one table\n"
    yield "differs from what the reference answers; it is put to the paths that call a method whose answer differs,\n"
    yield "and is *n/a* for the others. The rows are *true* if they are those that the reference gives.\n\n"
    yield from matrix(report)
