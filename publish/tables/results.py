"""The generated parts of ``docs/results.md``: those between ``<!-- made: NAME -->`` and ``<!-- end -->``.

``findings`` and ``reports`` come from the JSON reports in ``reports/``, ``time`` from that of the reference,
``score`` from that of the proof, ``counts`` from the suite itself, ``ipc`` and ``ipcfindings`` from the reports on
readers and writers, ``drift`` from ``findings.toml``. The text around them is written by hand.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.generate.vectors import VectorSet
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.protocols.storage_read.reference.servicevariations import SERVICE_VARIATIONS
from conformance.records import Level, Outcome, from_json
from conformance.reference.ipc.hostile import HOSTILE
from conformance.reference.ipc.mutants import IPC_MUTANTS
from conformance.reference.ipc.variations import IPC_VARIATIONS
from conformance.reference.proven import proven_mutants
from conformance.reference.variations import VARIATIONS
from conformance.report.reading import read_report
from publish.tables import ipc
from publish.tables.blocks import filled

__all__ = ["FINDINGS", "NAME", "REPORTS", "Finding", "failing", "judged", "score", "text"]

NAME: Final = "results.md"
ROOT: Final = Path(__file__).resolve().parents[2]
REPORTS: Final = ("bqemulator-1.0.0", "bqemulator-1.0.1", "bqemulator-1.4.0")
"""The reports behind the first findings of the page, by target."""
_OTHERS: Final = ("local-bigquery-0.3.2", "bigquery-local-0.7.1", "bigquery-rs-0.9.0")
"""Further servers, whose reports the page only links."""
_SHOWN: Final = (*REPORTS, *_OTHERS)


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One line of the page: the finding, and the clauses that failed."""

    what: str
    clauses: tuple[str, ...]
    issue: str = ""


FINDINGS: Final = tuple(
    from_json(Finding, row)
    for row in tomllib.loads((Path(__file__).parent / "findings.toml").read_text(encoding="utf-8"))["finding"]
)
"""Every finding, in the order of the file."""


def text() -> str:
    """The page with its generated parts."""
    made: Mapping[str, Callable[[], Iterator[str]]] = {
        "findings": _findings,
        "reports": _reports,
        "counts": _counts,
        "score": lambda: score(_report("proof")),
        "time": _time,
        "ipc": ipc.table,
        "ipcfindings": ipc.findings,
        "drift": ipc.drift_findings,
    }
    return filled(ROOT / "docs" / NAME, made)


def _report(target: str) -> Mapping[str, Any]:
    report: Mapping[str, Any] = json.loads((ROOT / "reports" / f"{target}.json").read_text(encoding="utf-8"))
    return report


def failing(target: str) -> Mapping[str, Outcome]:
    """The clauses of a report that fail its run, with their outcomes."""
    return {clause: outcome for clause, outcome in _outcomes(target).items() if outcome.fails_run}


def _outcomes(target: str) -> Mapping[str, Outcome]:
    return {each["id"]: Outcome(each["outcome"]) for each in _report(target)["clauses"]}


def _findings() -> Iterator[str]:
    judged = {target: _outcomes(target) for target in REPORTS}
    yield f"| found in bqemulator | {' | '.join(target.rpartition('-')[2] for target in REPORTS)} | clauses |\n"
    yield f"|---|{'---|' * len(REPORTS)}---|\n"
    for finding in FINDINGS:
        marks = " | ".join(_mark(judged[target], finding) for target in REPORTS)
        thread = f" [thread]({finding.issue})" if finding.issue else ""
        yield f"| {finding.what}{thread} | {marks} | {', '.join(f'`{clause}`' for clause in finding.clauses)} |\n"


def _mark(outcomes: Mapping[str, Outcome], finding: Finding) -> str:
    seen = [outcomes[clause] for clause in finding.clauses if clause in outcomes]
    if any(outcome.fails_run for outcome in seen):
        return "●"
    return "·" if Outcome.PASS in seen else "?"


def _reports() -> Iterator[str]:
    yield from judged([(f"{target.rpartition('-')[0]} {target.rpartition('-')[2]}", target) for target in _SHOWN])


def judged(servers: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A table of servers, each a name and a report below ``reports``, with suite, date and number of cases.

    A sentence below warns where the runs differ in what they asked.
    """
    yield "| server | MUST clauses | causes | suite | date | cases | report |\n|---|---|--:|---|---|--:|---|\n"
    asked = set()
    for name, file in servers:
        report = read_report(ROOT / "reports" / f"{file}.json")
        run, numbers = report.run, report.counted()[None, Level.MUST].in_words
        asked.add(run.provenance.digests)
        made = f"{run.suite} | {run.provenance.began[:10]} | {len(run.cases)}"
        yield f"| {name} | {numbers} | {len(report.causes)} | {made} | [JSON](../reports/{file}.json) |\n"
    if len(asked) > 1:
        yield "\nRuns of different dates judged different clauses on different cases: do not compare their totals.\n"


def _counts() -> Iterator[str]:
    clauses = all_clauses().values()
    levels = ", ".join(
        f"{count} {level.upper()}" for level in Level if (count := sum(each.level is level for each in clauses))
    )
    cases = len(load_corpus(data_file("cases"), None))
    yield f"{len(clauses)} clauses ({levels}), {cases} named cases, {len(proven_mutants())} mutants,\n"
    legal = len(VARIATIONS) + len(SERVICE_VARIATIONS) + len(FLIGHT_VARIATIONS)
    yield f"{legal} legal variations. For streams, files and tensors {len(IPC_MUTANTS)} more mutants,\n"
    vectors = VectorSet.load(data_file("golden") / "ipc").vectors
    yield f"{len(IPC_VARIATIONS)} legal variations, {len(HOSTILE)} hostile inputs, {len(vectors)} golden vectors.\n"


def _time() -> Iterator[str]:
    report = _report("reference")
    cases, readers = len(report["run"]["cases"]), "with" if report["run"]["readers"] else "without"
    day = report["run"]["provenance"]["began"][:10]
    yield f"The published run of {day} judged the {cases} cases of that day,\n"
    yield f"{readers} readers, in {report['seconds']:.0f}\n"
    machine = f"{report['run']['platform']}, Python {report['run']['python']}"
    yield f"seconds on two cores ({machine}): [JSON](../reports/reference.json).\n"
    yield f"Today there are {len(load_corpus(data_file('cases'), DEFAULT_PROTOCOL))} cases for Storage Read.\n"


def score(proof: Mapping[str, Any]) -> Iterator[str]:
    """The numbers of a full proof, as ``conformance prove --json`` writes it."""
    mutants = proof["mutants"].values()
    killed, broad = sum(not one["survived"] for one in mutants), sum(bool(one["surplus"]) for one in mutants)
    yield "| what | result |\n|---|---|\n"
    yield f"| mutants killed by their own clause | {killed} of {len(mutants)} |\n"
    yield f"| mutants that fail a clause that they do not name | {broad} |\n"
    yield f"| clauses without a mutant | {len(proof['unproven'])} |\n"
    changes = f"{len(proof['survivors'])} of {sum(proof['changes'].values())}"
    yield f"| single-field changes that no clause rejects and no rule permits | {changes} |\n"
    yield f"| legal variations on which a clause fails | {len(proof['alarms'])} of {proof['variations']} |\n"
