"""Makes the consequence matrix of Flight: what each path of each Flight client makes of each fault, measured twice.

It builds the clients that can be built here, puts each of their paths before streams with one unusual message and
before the mutants of the reference (:mod:`conformance.protocols.flight.clients.mutated` has the rule), and writes
``reports/flight-clients.json``. Each measurement is kept as soon as it is made, and the command goes on where it
ended. ``python -m publish.refresh`` makes the page from the JSON file.

    python -m publish.flightclients [--client GLOB] [--select GLOB] [--renew] [--measured FILE] [--reports DIR]
"""

from __future__ import annotations

import fnmatch
import itertools
import sys
from collections.abc import Sequence
from typing import Any, Final

from conformance.engine.selection import all_clauses
from conformance.engine.session import STATE
from conformance.protocols.flight.clients.mutated import FlightMutated, flight_mutated
from conformance.protocols.flight.clients.pool import FlightPool
from conformance.protocols.flight.clients.situations import FlightSet, unusual
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.readers.registry import client_programs, client_readers
from publish.clients import arguments_of, build, by_chapter, measure

__all__ = ["REPORT", "main", "row_of"]

REPORT: Final = "flight-clients.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the report, and return the exit status: 0; 1 if no client is here or nothing is selected."""
    options = arguments_of(__doc__, arguments, STATE / "flight-clients-measured.jsonl")
    known = client_readers("flight")
    names = [name for name in known if any(fnmatch.fnmatchcase(name, glob) for glob in options.client or ["*"])]
    build(names, options)
    all_clauses()
    selected = [one for name, one in FLIGHT_MUTANTS.items() if fnmatch.fnmatchcase(f"mutant.{name}", options.select)]
    plans = [one for one in unusual() if fnmatch.fnmatchcase(one.id, options.select)]
    found = itertools.chain(plans, flight_mutated(by_chapter(selected)))
    file = options.reports / REPORT
    programs = client_programs("flight")
    return measure(
        options, found, programs=programs, names=names, known=known, file=file, pool=FlightPool, as_row=row_of
    )


def row_of(fault: FlightSet | FlightMutated) -> dict[str, Any]:
    """The row of a situation, without cells."""
    if isinstance(fault, FlightSet):
        row = {"id": fault.id, "group": str(fault.kind), "what": fault.title, "digest": fault.script.digest}
        return {**row, "tries": fault.tries} if fault.tries > 1 else row
    asked = fault.asked
    return {
        "id": asked.id,
        "group": fault.clause.partition(".")[0],
        "clause": fault.clause,
        "case": ", ".join(asked.methods),
        "what": " ".join(fault.fault.split()),
        "digest": asked.script.digest,
    }


if __name__ == "__main__":
    sys.exit(main())
