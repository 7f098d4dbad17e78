"""A page for each clause: its text, source and evidence, who fails it, its mutants and its cases; and their list."""

from __future__ import annotations

import itertools
from typing import Final

from conformance._globs import matches
from conformance.contract.wholecase import EXPLAINED, WHOLE_CASE
from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.readers.ipc.adapters import QUERY_RESULTS
from conformance.records import Level
from conformance.reference.proven import proven_mutants
from conformance.report.html import clause_anchor
from publish.site.frame import Site, clause_path
from publish.site.published import Published
from publish.tables.consequences import measured

__all__ = ["clause_ids", "write_clauses"]

SILENT: Final = frozenset({"∅", "·", ""})
"""The signs of implementations that a clause says nothing about."""


def clause_ids() -> frozenset[str]:
    """The clauses that have a page: every one, and the verdict on a case as a whole."""
    return frozenset({*all_clauses(), WHOLE_CASE})


def write_clauses(site: Site, published: Published) -> None:
    """Write the page of each clause, and the list of all of them by chapter."""
    cases = sorted(load_corpus(data_file("cases"), None).values(), key=lambda case: case.id)
    killers: dict[str, list[str]] = {}
    for mutant in proven_mutants().values():
        for killed in mutant.kills:
            killers.setdefault(killed, []).append(mutant.name)
    reports = [published.loaded(name) for name in ("clients.json", "query-clients.json")]
    harmed = {row["clause"]: report for report in reports for row in report["situations"] if "clause" in row}
    shown = [clause for clause in (*all_clauses().values(), EXPLAINED[WHOLE_CASE]) if clause.id in site.clauses]
    for clause in shown:
        cells = published.entries.get(clause.id, ())
        about = [(board, entry) for board, entry in cells if entry.state.sign not in SILENT]
        site.show(
            clause_path(clause.id),
            "clause",
            crumbs=[("all clauses", "clauses/index.html"), (clause.chapter, f"clauses/index.html#{clause.chapter}")],
            clause=clause,
            failing=[(board, entry) for board, entry in about if entry.state.key in ("fails", "expected", "broke")],
            others=[(board, entry) for board, entry in about if entry.state.key not in ("fails", "expected", "broke")],
            anchor=clause_anchor(clause.id),
            cases=[case for case in cases if matches(clause.id, case.clauses)],
            mutants=sorted(killers.get(clause.id, ())),
            matrix="queries" if clause.id.startswith(f"{QUERY_RESULTS}.") else "index",
            measured=measured(harmed[clause.id], clause.id) if clause.id in harmed else "",
        )
    grouped = itertools.groupby(shown, lambda clause: clause.chapter)
    failing = {
        name: sum(entry.state.key == "fails" for _, entry in entries) for name, entries in published.entries.items()
    }
    site.show(
        "clauses/index.html",
        "clauselist",
        chapters=[(name, list(members)) for name, members in grouped],
        failing=failing,
        levels=[(level, sum(clause.level is level for clause in shown)) for level in Level],
        path=clause_path,
    )
