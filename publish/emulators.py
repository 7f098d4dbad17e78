"""Makes the published reports on servers and serializers: prepares each target, judges it twice, compares the results.

Each target is judged in a process of its own, as by a user. Deviations of a target are the content of the reports and
not a failure of this program. It fails if a run did not finish, if the suite itself broke, or if the second run of a
target has other verdicts than the first.

    python -m publish.emulators [TARGET ...] [--reports DIR]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.disk.files import write_whole
from conformance.engine.events import CaseJudged, Event, RunStarted
from conformance.engine.log import read_log
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.engine.session import STATE
from conformance.engine.standing import Standing
from conformance.report.badge import badge_svg
from conformance.report.differences import compare
from conformance.report.document import write_json
from conformance.report.reading import read_report

SERIALIZERS: Final = ("pyarrow", "nanoarrow", "arro3", "polars", "arrow-go", "arrow-java")
"""The control group: libraries that write Arrow IPC messages, without a server around them."""
SERVERS: Final = (
    "bqemulator-1.0.0",
    "bqemulator-1.0.1",
    "bqemulator-1.4.0",
    "local-bigquery-0.3.2",
    "bigquery-local-0.7.1",
    "bigquery-rs-0.9.0",
)
TARGETS: Final = ("reference", *SERIALIZERS, *SERVERS)
FLIGHT: Final = (
    "flight-reference",
    "flight-pyarrow",
    "flight-arrow-go",
    "flight-sqlite-go",
    "flight-arrow-java",
    "flight-arrow-rs",
    "flight-roapi-0.12.7",
    "flight-sail-0.7.2",
    "flight-deephaven-42.7",
)
"""Servers of Arrow Flight RPC."""
WRITES: Final = ("write-bqemulator-1.4.0", "write-local-bigquery-0.3.2", "write-bigquery-rs-0.9.0")
"""Servers of the Storage Write API."""
MATRICES: Final = {"": TARGETS, "flight": FLIGHT, "storage-write": WRITES}
"""The targets of each matrix, by the folder of their reports: no clause of one API is one of
another."""
PERFECT: Final = frozenset({"reference", "flight-reference"})
"""Targets that must not deviate."""
UNSTEADY: Final[Mapping[str, tuple[str, ...]]] = {
    "flight-arrow-java": ("flight-put.refused-is-not-stored",),
    "local-bigquery-0.3.2": (
        "combination.permitted-request-is-served",
        "history.no-early-row",
        "history.no-lost-row",
        "history.no-reordered-resume",
        "offsets.end-is-served",
        "offsets.resumed-schema-is-the-sessions",
        "rows.rereading-repeats",
    ),
}
"""Targets with clauses that are not compared between runs, by the starts of the ids. docs/findings.md has the reasons:
Arrow Java's server stores the rows of a put that it refuses, or not, by chance; local-bigquery refuses reads that
resume sooner than it notes what it sent.
"""
BY_CHANCE: Final[Mapping[str, tuple[str, ...]]] = {
    "write-bqemulator-1.4.0": ("storage-write.interrupted",),
    "write-local-bigquery-0.3.2": ("storage-write.interrupted",),
}
"""Targets with cases that are not compared between runs. docs/storage-write.md has the reason: a client leaves before
the answer, and chance decides whether the server has stored its rows then.
"""
GIVEN_UP: Final = (
    "flight-put.given-up",
    "flight-service.serves-on",
    "flight-errors.code-of-the-table",
    "flight-errors.message-says-something",
)
"""Clauses of Flight, by the starts of the ids, of which only failures are compared between runs.

They are about calls that a client gave up, and about the calls after those. Whether a server had ended such a call
before is a matter of time; it decides on how many calls a clause can be judged.
"""
DEADLINE: Final = 3600
"""Seconds for one command: most take a minute or two, a server that writes files for each table twenty times as long,
and so does compiling a server."""


def conformance(*arguments: str) -> tuple[int, str]:
    """The exit status and the output of one command."""
    command = [sys.executable, "-m", "conformance", *arguments]
    print("+ conformance", *arguments, flush=True)
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True, timeout=DEADLINE)  # noqa: S603  # the suite's own command
    return done.returncode, done.stdout


def judge(name: str, reports: Path) -> list[str]:
    """Judge ``name`` twice and write its report; returns the problems of both runs, a sentence each.

    The report of before stays until both runs have ended with equal verdicts.
    """
    status, said = conformance("prepare", "--target", f"targets/{name}.toml")
    if status:
        last = (said.strip().splitlines() or ["no output"])[-1]
        return [f"{name}: its environment cannot be made here (status {status}): {last}"]
    with tempfile.TemporaryDirectory() as folder:
        first, again = (Path(folder) / f"{number}.json" for number in (1, 2))
        if wrong := _run(name, first):
            return [f"{name}: {text}" for text in wrong]
        if wrong := _run(name, again):
            return [f"{name}, second run: {text}" for text in wrong]
        compared = (_without(path, BY_CHANCE.get(name, ())) for path in (first, again))
        if wrong := unequal(*compared, but=UNSTEADY.get(name, ())):
            return [f"{name}, second run: {text}" for text in wrong]
        # What a server said last may name files below the home directory of whoever ran it.
        write_whole(reports / f"{name}.json", first.read_bytes().replace(f"{Path.home()}/".encode(), b"~/"))
    return []


def _run(name: str, report: Path) -> list[str]:
    """Judge ``name`` once and write ``report``; returns the reasons why it cannot be published, a sentence each."""
    # The log has its default place: the report names the command of the run, and no file of this machine belongs there.
    log = STATE / f"{name}.jsonl"
    log.unlink(missing_ok=True)
    started = time.monotonic()
    # Counterexamples are not published, and shrinking them takes minutes on a slow server.
    status, _ = conformance("run", "--target", f"targets/{name}.toml", "--no-shrink")
    print(f"{name}: status {status} after {time.monotonic() - started:.1f} s", flush=True)
    if log.exists():
        conformance("report", str(log), "--json", str(report))
        shutil.copyfile(log, report.with_suffix(".jsonl"))
    if not report.exists():
        return [f"the run ended with status {status} and without a report"]
    return complaints(json.loads(report.read_text("utf-8")), perfect=name in PERFECT)


def _without(report: Path, cases: Collection[str]) -> Path:
    """The report of the same run without these cases, made from the copy of its log."""
    if not cases:
        return report
    made = report.with_suffix(".some.json")
    write_json(fold(without_cases(read_log(report.with_suffix(".jsonl")), cases)), made)
    return made


def without_cases(events: Iterable[Event], cases: Collection[str]) -> Iterator[Event]:
    """The events of a run in which these cases were not selected."""
    for event in events:
        if isinstance(event, RunStarted):
            yield dataclasses.replace(event, cases=tuple(case for case in event.cases if case not in cases))
        elif not (isinstance(event, CaseJudged) and event.case_id in cases):
            yield event


def unequal(first: Path, second: Path, *, but: tuple[str, ...] = ()) -> list[str]:
    """The differences between the verdicts of two runs of one target, a sentence each; texts and times may differ.

    Clauses whose ids start with one of ``but`` are not compared, and only failures of those in :data:`GIVEN_UP`.
    """
    all_clauses()
    difference = compare(read_report(first), read_report(second))
    changed = [
        (item.clause, f"{item.clause} was {item.before} and is {item.after}")
        for item in difference.clauses
        if Standing.FAILED in (item.before, item.after) or not item.clause.startswith(GIVEN_UP)
    ]
    changed += [
        (item.clause, f"{item.clause} {verb} deviate by '{item.reason}' on {', '.join(item.cases)}")
        for verb, items in (("began to", difference.new_deviations), ("ceased to", difference.gone_deviations))
        for item in items
    ]
    before, after = (_verdicts(path) for path in (first, second))
    changed += [
        (clause, f"{clause} had the verdicts {before.get(clause)} and has {after.get(clause)}")
        for clause in sorted(before.keys() | after.keys())
        if before.get(clause) != after.get(clause) and not clause.startswith(GIVEN_UP)
    ]
    return [text for clause, text in changed if not clause.startswith(but)]


def _verdicts(report: Path) -> dict[str, dict[str, int]]:
    """The number of verdicts of each outcome, by clause."""
    clauses = json.loads(report.read_text("utf-8"))["clauses"]
    return {each["id"]: {one["outcome"]: one["count"] for one in each["verdicts"]} for each in clauses}


def complaints(report: dict[str, object], *, perfect: bool) -> list[str]:
    """The reasons why a report cannot be published, a sentence each."""
    found = [] if report["complete"] else ["the run was cut short"]
    found += ["the suite itself broke on a case"] if report.get("broke") else []
    found += ["the suite's own server deviates"] if perfect and report["failed"] else []
    return found


def matrix(shown: Sequence[Path], folder: Path) -> list[str]:
    """Make the matrix of the reports ``shown``; returns why it could not be made, if so."""
    write_badges(shown)
    outputs = ("--markdown", str(folder / "README.md"))
    return [f"the matrix in {folder} could not be made"] if conformance("matrix", *map(str, shown), *outputs)[0] else []


def write_badges(shown: Sequence[Path]) -> None:
    """Write the badge of each report beside it; `tox -e site` makes the pages."""
    for path in shown:
        write_whole(path.with_suffix(".svg"), badge_svg(read_report(path)))


def main() -> None:
    """Judge every given target, then make each matrix that one of them is in, of all reports that exist."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [name for names in MATRICES.values() for name in names]
    parser.add_argument("targets", nargs="*", default=known, help="names of files in targets/; all unless given")
    parser.add_argument("--reports", type=Path, default=Path("reports"), help="the directory of the reports")
    options = parser.parse_args()
    wrong = [f"{name} is none of {', '.join(known)}" for name in options.targets if name not in known]
    for folder, names in MATRICES.items():
        if judged := [name for name in options.targets if name in names]:
            reports = options.reports / folder
            reports.mkdir(parents=True, exist_ok=True)
            wrong += [text for name in judged for text in judge(name, reports)]
            wrong += matrix([path for name in names if (path := reports / f"{name}.json").exists()], reports)
    for text in wrong:
        print(text, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
