"""Makes the consequence matrix: what each path of each client makes of each fault, measured twice.

It builds the clients that can be built here, puts each of their paths before the plans of faults, the broken bytes and
the mutants of the reference (:mod:`conformance.clients.mutated` has the rule), and writes ``reports/clients.json``.
Each measurement is kept in a file as soon as it is made, and the command goes on where it ended. Outcomes that differ
between the rounds are results of their own. ``python -m publish.tables`` makes the page from the JSON file.

    python -m publish.clients [--client GLOB] [--select GLOB] [--measured FILE] [--reports DIR] [--no-build]
"""

from __future__ import annotations

import argparse
import datetime as dt
import fnmatch
import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import conformance
from conformance.clients.consequences import Measured, Measurements, Measuring, served_digest
from conformance.clients.mutated import Mutated, mutated
from conformance.clients.situations import Set, faulty
from conformance.disk.files import write_whole
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.engine.session import STATE
from conformance.readers.registry import client_programs, client_readers
from conformance.reference.mutants import MUTANTS, Mutant

REPORT: Final = "clients.json"
ROUNDS: Final = 2
AT_A_TIME: Final = 16
"""Faults that are measured in all rounds before the next ones; the report grows by so many."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the report, and return the exit status: 0; 1 if no client is here or nothing is selected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", default="*", help="only paths of clients that match, such as 'bigquery-go.*'")
    parser.add_argument("--select", default="*", help="only situations that match, such as 'mutant.batch.*'")
    parser.add_argument("--measured", type=Path, default=STATE / "clients-measured.jsonl", help="the measurements")
    parser.add_argument("--reports", type=Path, default=Path("reports"), help="where the report goes")
    parser.add_argument("--seconds", type=float, default=5.0, help="processor time of one answer")
    parser.add_argument("--no-build", action="store_true", help="use the clients that are already built")
    options = parser.parse_args(arguments)
    programs = client_programs()
    if not options.no_build:
        # One by one: a client that cannot be built here is left out, and says why.
        for name in programs:
            subprocess.run([sys.executable, "-m", "adapters", name], check=False)  # noqa: S603  # the suite's own command
    all_clauses()
    names = fnmatch.filter(client_readers(), options.client)
    plans = [one for one in faulty() if fnmatch.fnmatchcase(one.id, options.select)]
    selected = [one for name, one in MUTANTS.items() if fnmatch.fnmatchcase(f"mutant.{name}", options.select)]
    found = mutated(by_chapter(selected), load_corpus(), client_readers().values())
    began, rows = time.monotonic(), Rows([], [])
    with (
        Measurements(options.measured) as into,
        Measuring(programs, names, into, rounds=ROUNDS, seconds=options.seconds) as measuring,
    ):
        for name, why in measuring.absent.items():
            print(f"{name}: not here, {why}", flush=True)
        if len(measuring.absent) == len(names):
            return 1
        while batch := [*itertools.islice(plans, len(rows.plans), len(rows.plans) + AT_A_TIME)] or [
            *itertools.islice(found, AT_A_TIME)
        ]:
            measuring.measure([one.asked if isinstance(one, Mutated) else one for one in batch])
            rows.plans.extend(one for one in batch if isinstance(one, Set))
            rows.mutants.extend(one for one in batch if isinstance(one, Mutated))
            # After each part: what a run that is ended early has reached is a whole report.
            made = report(rows.plans, rows.mutants, into.all, measuring.absent)
            write_whole(options.reports / REPORT, json.dumps(made, indent=1, ensure_ascii=False) + "\n")
            faults, unequal = len(made["situations"]), made["unequal"]
            print(f"{faults} faults, {unequal} cells unequal, {time.monotonic() - began:.0f} s", flush=True)
    return 0 if rows.plans or rows.mutants else 1


class Rows(NamedTuple):
    """The faults that were measured."""

    plans: list[Set]
    mutants: list[Mutated]


def by_chapter(mutants: Iterable[Mutant]) -> list[Mutant]:
    """The mutants in turns: one of each chapter of clauses, then the next one of each, and so on.

    A run that is ended early has measured something of every chapter.
    """
    chapters: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        chapters.setdefault(mutant.kills[0].partition(".")[0], []).append(mutant)
    turns = itertools.zip_longest(*chapters.values())
    return [mutant for turn in turns for mutant in turn if mutant is not None]


def report(
    plans: Iterable[Set], mutants: Iterable[Mutated], measured: Iterable[Measured], absent: Mapping[str, str]
) -> dict[str, Any]:
    """The report: clients, situations, and the cells of each situation by client.

    A cell has ``class`` or, if the rounds differ, ``classes``. What clients said stays in the file of measurements: it
    may describe a fault that is not public. Measurements of other versions of a client, or of a situation that is
    served otherwise now, are left out.
    """
    rows = [{"id": one.id, "group": str(one.kind), "what": one.title} for one in plans]
    served = {one.id: served_digest(one) for one in plans}
    for mutant in mutants:
        case = mutant.asked.read.case_id
        fault = " ".join(mutant.fault.split())
        chapter = mutant.clause.partition(".")[0]
        rows.append({"id": mutant.asked.id, "group": chapter, "clause": mutant.clause, "case": case, "what": fault})
        served[mutant.asked.id] = served_digest(mutant.asked)
    latest: dict[str, str] = {}
    found: dict[tuple[str, str], dict[int, Measured]] = {}
    measured = list(measured)
    for one in measured:
        latest[one.client] = one.version
    for one in measured:
        if one.version == latest[one.client] and one.digest == served.get(one.situation):
            found.setdefault((one.situation, one.client), {})[one.round] = one
    known = client_readers()
    clients = [name for name in known if name in latest and name not in absent]
    for row in rows:
        cells = {name: found.get((str(row["id"]), name), {}) for name in clients}
        row["cells"] = {name: _cell(rounds) for name, rounds in cells.items() if len(rounds) == ROUNDS}
    kept = [row for row in rows if row["cells"]]
    return {
        "suite": conformance.__version__,
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "rounds": ROUNDS,
        "measurements": sum(len(rounds) for rounds in found.values()),
        "seconds": round(sum(one.seconds for rounds in found.values() for one in rounds.values())),
        "unequal": sum("classes" in cell for row in kept for cell in row["cells"].values()),
        "clients": [
            {"name": name, "package": known[name].package, "version": latest[name], "title": known[name].title}
            for name in clients
        ],
        # Without the place on this machine, which is in the reason too.
        "absent": {name: re.sub(r" in /\S+?(?=:? |$)", "", why) for name, why in absent.items()},
        "situations": kept,
    }


def _cell(rounds: Mapping[int, Measured]) -> dict[str, Any]:
    classes = [str(rounds[number].consequence) for number in sorted(rounds)]
    if len(set(classes)) > 1:
        return {"classes": classes}
    return {"class": classes[0]}


if __name__ == "__main__":
    sys.exit(main())
