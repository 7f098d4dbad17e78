"""``docs/consequences.md``: the consequence matrix, from ``reports/clients.json``.

Nothing on the page is written by hand: the rule and the classes are the docstrings of the code that applies them.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from conformance.clients.consequences import Consequence
from conformance.clients.programs import MEMORY

__all__ = ["MARKS", "NAME", "REPORT", "classes_of", "load", "matrix", "measured", "text", "version_of"]

NAME: Final = "consequences.md"
REPORT: Final = Path(__file__).resolve().parents[2] / "reports" / "clients.json"

LIMIT: Final = MEMORY >> 30
"""GiB that a client may take."""
MARKS: Final[Mapping[Consequence, tuple[str, str]]] = {
    Consequence.UNHARMED: ("·", "the rows of the table: the fault does not matter to this client, or it repairs it"),
    Consequence.REFUSED: ("error", "the client reports an error"),
    Consequence.CRASH: ("**crash**", "the process ends: a panic, an assertion, an event without a listener, no memory"),
    Consequence.HANG: ("**hang**", "no answer within the limit of time"),
    Consequence.MEMORY: (
        "**memory**",
        f"the client takes more memory than the limit of {LIMIT} GiB, and the suite ends it",
    ),
    Consequence.LOSS: ("**loss**", "fewer rows, without an error"),
    Consequence.DUPLICATES: ("**twice**", "some rows twice, without an error"),
    Consequence.WRONG: (
        "**wrong**",
        "other values, types or columns, or rows of a stream in another order, without an error",
    ),
    Consequence.UNABLE: ("n/a", "not asked: the client documents that it cannot read the table or make the request"),
}
UNEQUAL: Final = "≠"
UNMEASURED: Final = "?"
LEGAL: Final = "legal variations"
"""The group of servers that are right, in another way than the reference."""
BEFORE: Final = ("empty", "interrupted", "refused", "broken", "open")
"""The groups of plans, which come before the chapters of clauses."""


def load() -> Mapping[str, Any]:
    """The published matrix."""
    report: Mapping[str, Any] = json.loads(REPORT.read_text(encoding="utf-8"))
    return report


def classes_of(cell: Mapping[str, Any]) -> tuple[Consequence, ...]:
    """The class of each round; one if they are equal."""
    return tuple(Consequence(each) for each in cell.get("classes", [cell.get("class")]))


def version_of(report: Mapping[str, Any], client: str) -> str:
    """The version of a path's library."""
    return next(str(one["version"]) for one in report["clients"] if one["name"] == client)


def measured(report: Mapping[str, Any], clause: str) -> str:
    """What clients make of a server that breaks the clause, in a sentence without unharmed clients; empty if the matrix
    has no mutant of the clause, or if it harms nobody.
    """
    rows = (row for row in report["situations"] if row.get("clause") == clause)
    found: dict[str, dict[str, dict[str, None]]] = {}
    for client, cell in itertools.chain.from_iterable(row["cells"].items() for row in rows):
        classes = classes_of(cell)
        if set(classes) <= {Consequence.UNHARMED, Consequence.UNABLE}:
            continue
        name, _, path = client.partition(".")
        title = f"{name} {version_of(report, client)}"
        found.setdefault(title, {}).setdefault(" or ".join(classes), {})[path] = None
    return "; ".join(
        f"{title}: " + ", ".join(f"{kind} ({', '.join(paths)})" for kind, paths in kinds.items())
        for title, kinds in found.items()
    )


def text() -> str:
    """The page."""
    return "".join(_page(load()))


def _page(report: Mapping[str, Any]) -> Iterator[str]:
    situations, clients = report["situations"], report["clients"]
    mutants = sum("clause" in row for row in situations)
    yield "# What clients make of faulty servers\n\n"
    yield "`python -m publish.clients` puts each path of each client before servers that have one fault each, and\n"
    yield "`python -m publish.refresh` writes this page from [`reports/clients.json`](../reports/clients.json).\n"
    yield "`tox -e clients` does both. [clients.md](clients.md) explains clients and paths, and\n"
    yield "[query-consequences.md](query-consequences.md) is the matrix of clients that read query results.\n\n"
    yield f"{len(clients)} paths, {mutants} mutants of the reference and {len(situations) - mutants} plans.\n"
    yield f"{report['cells']} cells are measured {report['rounds']} times each, and the rounds differ in\n"
    yield f"{report['unequal']} of them; {len(clients) * len(situations) - report['cells']} cells are not measured.\n"
    yield "Paths are measured one by one: [a table](#paths) names the suite that measured each, and the day. A cell\n"
    yield "counts as long as the client has that version, and what it is served the digest in the report.\n\n"
    yield "A mutant is the reference with one fault. For each clause, the matrix has the first mutant that was made\n"
    yield "for it and that a client sees: in a case of the clause, in one of a few plain tables, or in a read that is\n"
    yield "interrupted. The clients get recorded answers, so all of them get the same bytes.\n\n"
    yield from matrix(report)


def matrix(report: Mapping[str, Any]) -> Iterator[str]:
    """The legend, the sums of each path, and a table of each group of situations."""
    situations, clients = report["situations"], [one["name"] for one in report["clients"]]
    yield from _legend()
    yield from _sums(report, clients)
    ordered = sorted(situations, key=lambda row: (_place(row["group"]), row["group"]))
    for group, rows in groupby(ordered, key=lambda row: str(row["group"])):
        yield f"\n## {group}\n\n"
        yield from _table(list(rows), clients)


def _place(group: str) -> int:
    return BEFORE.index(group) if group in BEFORE else len(BEFORE)


def _legend() -> Iterator[str]:
    yield "| mark | a user of the client gets |\n|---|---|\n"
    for mark, means in MARKS.values():
        yield f"| {mark} | {means} |\n"
    yield f"| {UNEQUAL} | the rounds differ; the page names both classes |\n"
    yield f"| {UNMEASURED} | not measured: the fault is new or has changed since this path was measured |\n\n"
    policy = "../SECURITY.md#faults-that-the-suite-finds-in-other-software"
    yield "The page has classes alone. Details of a crash or hang are public, or "
    yield f"[wait for the maintainers]({policy}).\n\n"


def _sums(report: Mapping[str, Any], clients: Sequence[str]) -> Iterator[str]:
    yield "## Paths\n\n"
    marks = [*(mark for mark, _ in MARKS.values()), UNEQUAL, UNMEASURED]
    yield f"| path | version | {' | '.join(marks)} |\n|---|---|{'---|' * len(marks)}\n"
    for client in clients:
        counts = Counter(_sign(row["cells"].get(client)) for row in report["situations"])
        yield f"| `{client}` | {version_of(report, client)} | {' | '.join(str(counts[mark]) for mark in marks)} |\n"
    yield "\n| path | suite | day | cells |\n|---|---|---|---|\n"
    for client in clients:
        made = Counter(row["cells"][client]["suite"] for row in report["situations"] if client in row["cells"])
        for place, count in sorted(made.items()):
            suite = report["suites"][place]
            yield f"| `{client}` | {_suite(suite)} | {suite['date']} | {count} |\n"
    for client, why in report["absent"].items():
        yield f"\n`{client}` was not here: {why}.\n"


def _table(rows: Sequence[Mapping[str, Any]], clients: Sequence[str]) -> Iterator[str]:
    heads = " | ".join(client.removeprefix("bigquery-").removeprefix("flight-").replace(".", " ") for client in clients)
    yield f"| fault | {heads} |\n|---|{'---|' * len(clients)}\n"
    for row in rows:
        marks = " | ".join(_mark(row["cells"].get(client)) for client in clients)
        name = str(row["id"]).removeprefix("mutant.").removeprefix("legal.").removeprefix(f"{row['group']}.")
        shown = f"`{row['clause']}`: " if "clause" in row else f"`{name}`: "
        yield f"| {shown}{_what(row)} | {marks} |\n"


def _what(row: Mapping[str, Any]) -> str:
    tries = f"; a client that gives an error is asked up to {row['tries']} times" if "tries" in row else ""
    return str(row["what"]).replace("|", "\\|") + tries


def _sign(cell: Mapping[str, Any] | None) -> str:
    """The mark of a cell, without the classes of rounds that differ."""
    if cell is None:
        return UNMEASURED
    found = classes_of(cell)
    return MARKS[found[0]][0] if len(found) == 1 else UNEQUAL


def _mark(cell: Mapping[str, Any] | None) -> str:
    sign = _sign(cell)
    return f"{sign} {', '.join(map(str, classes_of(cell)))}" if cell is not None and sign == UNEQUAL else sign


def _suite(suite: Mapping[str, Any]) -> str:
    changed = ", with changes" if suite.get("modified") else ""
    return f"{suite['version']}, commit {suite['commit'][:8]}{changed}"
