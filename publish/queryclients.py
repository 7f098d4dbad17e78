"""Makes the consequence matrix of query results: what each path of each client that asks for Arrow makes of each fault.

It builds the clients that can be built here, puts each of their paths before the mutants and the legal variations of
query results (:mod:`conformance.protocols.storage_read.clients.queries` has the rule), measures each twice, and writes
``reports/query-clients.json``. Each measurement is kept as soon as it is made, and the command goes on where it ended.
``python -m publish.refresh`` makes the page from the JSON file.

    python -m publish.queryclients [--client GLOB] [--select GLOB] [--renew] [--measured FILE] [--reports DIR]
"""

from __future__ import annotations

import fnmatch
import itertools
import sys
from collections.abc import Sequence
from typing import Any, Final

from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.engine.session import STATE
from conformance.protocols.storage_read.clients.queries import QueryDeviation, query_mutated, query_varied
from conformance.protocols.storage_read.clients.querypool import QueryPool
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.protocols.storage_read.reference.servicevariations import SERVICE_VARIATIONS
from conformance.readers.ipc.adapters import QUERY_RESULTS
from conformance.readers.registry import client_programs, client_readers
from publish.clients import arguments_of, build, measure
from publish.tables.consequences import LEGAL

__all__ = ["REPORT", "main", "row_of"]

REPORT: Final = "query-clients.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the report, and return the exit status: 0; 1 if no client is here or nothing is selected."""
    options = arguments_of(__doc__, arguments, STATE / "query-clients-measured.jsonl")
    known = client_readers(QUERY_RESULTS)
    names = [name for name in known if any(fnmatch.fnmatchcase(name, glob) for glob in options.client or ["*"])]
    build(names, options)
    all_clauses()
    selected = [one for name, one in MUTANTS.items() if fnmatch.fnmatchcase(f"mutant.{name}", options.select)]
    legal = {
        name: one for name, one in SERVICE_VARIATIONS.items() if fnmatch.fnmatchcase(f"legal.{name}", options.select)
    }
    cases = load_corpus()
    found = itertools.chain(query_varied(legal, cases), query_mutated(selected, cases))
    file, programs = options.reports / REPORT, client_programs(QUERY_RESULTS)
    return measure(
        options, found, programs=programs, names=names, known=known, file=file, pool=QueryPool, as_row=row_of
    )


def row_of(made: QueryDeviation) -> dict[str, Any]:
    """The row of a situation, without cells; that of a legal variation has no clause."""
    return {
        "id": made.asked.id,
        "group": made.clause.partition(".")[0] or LEGAL,
        **({"clause": made.clause} if made.clause else {}),
        "case": made.asked.case.id,
        "what": " ".join(made.text.split()),
        "digest": made.asked.digest,
    }


if __name__ == "__main__":
    sys.exit(main())
