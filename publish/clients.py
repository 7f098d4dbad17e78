"""Makes the consequence matrix: what each path of each client makes of each fault, measured twice.

It builds the clients that can be built here, puts each of their paths before the plans of faults, the broken bytes and
the mutants of the reference (:mod:`conformance.protocols.storage_read.clients.mutated` has the rule), and writes
``reports/clients.json``. Each measurement is kept in a file as soon as it is made, and the command goes on where it
ended. Outcomes that differ between the rounds are results of their own. ``python -m publish.refresh`` makes the page
from the JSON file.

The report that is there counts as measured, too: a cell is measured again if the client has another version, or if the
digest of what is served to it is another one. ``--renew`` measures every cell that is asked for. So a path is added, or
measured again, without those that stay as they are.

    python -m publish.clients [--client GLOB] [--select GLOB] [--renew] [--measured FILE] [--reports DIR] [--no-build]
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import conformance
from conformance.clients.consequences import Consequence, Measured, Measurements, Measuring, Suite
from conformance.disk.files import write_whole
from conformance.engine.corpus import load_corpus
from conformance.engine.provenance import Identity
from conformance.engine.selection import all_clauses
from conformance.engine.session import STATE
from conformance.engine.started import surroundings
from conformance.protocols.storage_read.clients.mutated import Mutated, mutated, served_digest
from conformance.protocols.storage_read.clients.pool import ClientPool
from conformance.protocols.storage_read.clients.situations import Set, faulty
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.readers.info import ReaderInfo
from conformance.readers.programs.clientspec import ClientProgram
from conformance.readers.registry import client_programs, client_readers
from conformance.records import from_json, to_json
from conformance.reference.register import Mutant

REPORT: Final = "clients.json"
ROUNDS: Final = 2
AT_A_TIME: Final = 16
"""Faults that are measured in all rounds before the next ones; the report grows by so many."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the report, and return the exit status: 0; 1 if no client is here or nothing is selected."""
    options = arguments_of(__doc__, arguments, STATE / "clients-measured.jsonl")
    programs = client_programs()
    globs = options.client or ["*"]
    names = [name for name in client_readers() if any(fnmatch.fnmatchcase(name, glob) for glob in globs)]
    build(names, options)
    all_clauses()
    selected = [one for name, one in MUTANTS.items() if fnmatch.fnmatchcase(f"mutant.{name}", options.select)]
    plans = [one for one in faulty() if fnmatch.fnmatchcase(one.id, options.select)]
    found = itertools.chain(plans, mutated(by_chapter(selected), load_corpus(), client_readers().values()))
    return measure(
        options, found, programs=programs, names=names, known=client_readers(), file=options.reports / REPORT
    )


def arguments_of(about: str | None, arguments: Sequence[str] | None, measured: Path) -> argparse.Namespace:
    """The options of a command that measures into the file ``measured``."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--client", action="append", metavar="GLOB", help="only paths that match, such as 'bigquery-go.*'; repeatable"
    )
    parser.add_argument("--select", default="*", help="only situations that match, such as 'mutant.batch.*'")
    parser.add_argument(
        "--renew", action="store_true", help="measure again what the report has; what is in the file stays"
    )
    parser.add_argument("--measured", type=Path, default=measured, help="the measurements")
    parser.add_argument("--reports", type=Path, default=Path("reports"), help="where the report is and goes")
    parser.add_argument("--seconds", type=float, default=5.0, help="processor time of one answer")
    parser.add_argument("--no-build", action="store_true", help="use the clients that are already built")
    return parser.parse_args(arguments)


def build(names: Iterable[str], options: argparse.Namespace) -> None:
    """Build the clients of these paths, unless that is not wanted."""
    if not options.no_build:
        # One by one: a client that cannot be built here is left out, and says why.
        for name in dict.fromkeys(name.partition(".")[0] for name in names):
            subprocess.run([sys.executable, "-m", "adapters", name], check=False)  # noqa: S603  # the suite's own command


def measure(
    options: argparse.Namespace,
    found: Iterator[Any],
    *,
    programs: Mapping[str, ClientProgram],
    names: Sequence[str],
    known: Mapping[str, ReaderInfo],
    file: Path,
    pool: Callable[..., Any] = ClientPool,
    as_row: Callable[[Any], dict[str, Any]] | None = None,
) -> int:
    """Measure what was found, write the report, and return the exit status. ``known`` are all paths that a report has,
    and ``as_row`` makes the row of a situation.
    """
    as_row = as_row or row_of
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"situations": [], "absent": {}}
    rows = {row["id"]: row for row in before["situations"]}
    kept = [
        one
        for one in published(before)
        if not (options.renew and one.client in names and fnmatch.fnmatchcase(one.situation, options.select))
    ]
    began, seen = time.monotonic(), set[str]()
    with (
        Measurements(options.measured, kept) as into,
        Measuring[Any](
            programs, names, into, pool=pool, rounds=ROUNDS, seconds=options.seconds, suite=this_suite()
        ) as measuring,
    ):
        for name, why in measuring.absent.items():
            print(f"{name}: not here, {why}", flush=True)
        if len(measuring.absent) == len(names):
            return 1
        while batch := [*itertools.islice(found, AT_A_TIME)]:
            measuring.measure([getattr(one, "asked", one) for one in batch])
            rows |= {row["id"]: row for row in map(as_row, batch)}
            seen |= {row["id"] for row in map(as_row, batch)}
            # After each part: what a run that is ended early has reached is a whole report.
            made = _write(file, rows.values(), into.all, before["absent"] | measuring.absent, known)
            print(f"{len(seen)} faults, {made['unequal']} cells unequal, {time.monotonic() - began:.0f} s", flush=True)
        # What is selected and was not met is no situation any more.
        rows = {
            name: row for name, row in rows.items() if name in seen or not fnmatch.fnmatchcase(name, options.select)
        }
        _write(file, rows.values(), into.all, before["absent"] | measuring.absent, known)
    return 0 if seen else 1


def this_suite() -> Suite:
    """What measures now."""
    origin = surroundings(target=Identity())["provenance"]
    return Suite(conformance.__version__, origin.commit, origin.modified, dt.datetime.now(dt.UTC).date().isoformat())


def _write(
    file: Path,
    rows: Iterable[Mapping[str, Any]],
    measured: Iterable[Measured],
    absent: Mapping[str, str],
    known: Mapping[str, ReaderInfo],
) -> dict[str, Any]:
    made = report(rows, measured, absent, known)
    write_whole(file, json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    return made


def by_chapter(mutants: Iterable[Mutant]) -> list[Mutant]:
    """The mutants in turns: one of each chapter of clauses, then the next one of each, and so on.

    A run that is ended early has measured something of every chapter.
    """
    chapters: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        chapters.setdefault(mutant.kills[0].partition(".")[0], []).append(mutant)
    turns = itertools.zip_longest(*chapters.values())
    return [mutant for turn in turns for mutant in turn if mutant is not None]


def row_of(fault: Set | Mutated) -> dict[str, Any]:
    """The row of a situation, without cells."""
    if isinstance(fault, Set):
        return {"id": fault.id, "group": str(fault.kind), "what": fault.title, "digest": served_digest(fault)}
    return {
        "id": fault.asked.id,
        "group": fault.clause.partition(".")[0],
        "clause": fault.clause,
        "case": fault.asked.read.case_id,
        "what": " ".join(fault.fault.split()),
        "digest": served_digest(fault.asked),
    }


def published(made: Mapping[str, Any]) -> Iterator[Measured]:
    """The measurements of which a report was made, without what clients said."""
    versions = {one["name"]: one["version"] for one in made.get("clients", ())}
    for row in made["situations"]:
        for client, cell in row["cells"].items():
            suite = from_json(Suite, made["suites"][cell["suite"]])
            for number in range(made["rounds"]):
                found = Consequence(cell["classes"][number] if "classes" in cell else cell["class"])
                yield Measured(client, versions[client], row["id"], row["digest"], number, found, suite=suite)


def report(
    rows: Iterable[Mapping[str, Any]],
    measured: Iterable[Measured],
    absent: Mapping[str, str],
    known: Mapping[str, ReaderInfo] | None = None,
) -> dict[str, Any]:
    """The report: clients, the suites that measured them, and the cells of each row by client.

    A cell has ``class`` or, if the rounds differ, ``classes``, and the place of its suite. What clients said stays in
    the file of measurements: it may describe a fault that is not public. Measurements of other versions of a client, or
    of a situation that is served otherwise now, are left out: that cell is not measured.
    """
    measured = list(measured)
    latest = {one.client: one.version for one in measured}
    found: dict[tuple[str, str, str], dict[int, Measured]] = {}
    for one in measured:
        if one.version == latest[one.client]:
            found.setdefault((one.situation, one.digest, one.client), {})[one.round] = one
    known, suites = known or client_readers(), dict[Suite, int]()
    situations = []
    for row in rows:
        of_row = {name: found.get((row["id"], row["digest"], name), {}) for name in known}
        cells = {name: _cell(rounds, suites) for name, rounds in of_row.items() if len(rounds) == ROUNDS}
        if cells:
            situations.append({**row, "cells": cells})
    clients = {name: known[name] for name in known if any(name in row["cells"] for row in situations)}
    return {
        "rounds": ROUNDS,
        "cells": sum(len(row["cells"]) for row in situations),
        "unequal": sum("classes" in cell for row in situations for cell in row["cells"].values()),
        "suites": [to_json(suite) for suite in suites],
        "clients": [
            {"name": name, "package": info.package, "version": latest[name], "title": info.title}
            for name, info in clients.items()
        ],
        # Without the place on this machine, which is in the reason too.
        "absent": {
            name: re.sub(r" in /\S+?(?=:? |$)", "", why)
            for name, why in absent.items()
            if name in known and name not in clients
        },
        "situations": situations,
    }


def _cell(rounds: Mapping[int, Measured], suites: dict[Suite, int]) -> dict[str, Any]:
    """The cell of all rounds; its suite is that of the last round, and gets a place in ``suites``."""
    *_, last = (rounds[number] for number in sorted(rounds))
    classes = [str(rounds[number].consequence) for number in sorted(rounds)]
    said = {"classes": classes} if len(set(classes)) > 1 else {"class": classes[0]}
    return {**said, "suite": suites.setdefault(last.suite, len(suites))}


if __name__ == "__main__":
    sys.exit(main())
