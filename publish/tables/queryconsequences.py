"""``docs/query-consequences.md``: the consequence matrix of query results, from ``reports/query-clients.json``.

Nothing on the page is written by hand: the rule and the classes are those of the code that applies them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from publish.tables.consequences import REPORT as SESSIONS
from publish.tables.consequences import matrix

__all__ = ["NAME", "REPORT", "load", "text"]

NAME: Final = "query-consequences.md"
REPORT: Final = SESSIONS.with_name("query-clients.json")


def load() -> Mapping[str, Any]:
    """The published matrix."""
    report: Mapping[str, Any] = json.loads(REPORT.read_text(encoding="utf-8"))
    return report


def text() -> str:
    """The page."""
    return "".join(_page(load()))


def _page(report: Mapping[str, Any]) -> Iterator[str]:
    situations, clients = report["situations"], report["clients"]
    yield "# What clients make of faulty query results\n\n"
    yield "`python -m publish.queryclients` puts each path of each client that asks `jobs.query` for Arrow before the\n"
    yield "mutants of query results, and `python -m publish.refresh` writes this page from\n"
    yield "[`reports/query-clients.json`](../reports/query-clients.json). `tox -e query-clients` does both.\n"
    yield "[query-results.md](query-results.md) explains such results, and [consequences.md](consequences.md) is the\n"
    yield "matrix of clients that read sessions.\n\n"
    legal = sum("clause" not in row for row in situations)
    yield f"{len(clients)} paths, {len(situations) - legal} mutants of the reference and {legal} legal variations\n"
    yield f"of it. {report['cells']} cells are measured\n"
    yield f"{report['rounds']} times each, and the rounds differ in {report['unequal']} of them;\n"
    yield f"{len(clients) * len(situations) - report['cells']} cells are not measured.\n\n"
    yield "A mutant is the reference with one fault. The matrix has each mutant that a client sees in a query without\n"
    yield "options: what it answers to `jobs.query` or to a read of the stream differs from what the reference\n"
    yield "answers. Each row names the first clause for which the mutant was made. Faults of an option that a query\n"
    yield "names, such as a codec or the size of a page, take no part. Each client asks the mutant itself, and not a\n"
    yield "recording. A legal variation is the reference with a difference that the interface permits: a client that\n"
    yield "loses rows there has a fault of its own.\n\n"
    yield from matrix(report)
