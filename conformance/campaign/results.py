"""The results of a campaign, by Spark SQL over its committed files: counts, coverage, the slowest cases.

Only counts, and the first case of each failure, reach the driver.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.commits import files_of, write_file
from conformance.campaign.coverage import universe
from conformance.campaign.excusing import excused, idle, settled
from conformance.campaign.runfolders import SCHEMAS, RunFiles, Stage
from conformance.campaign.storedrows import WEIGHT
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.records import Outcome, from_json, to_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "RESULTS",
    "ClauseCount",
    "Failure",
    "Hungry",
    "ReaderCount",
    "Results",
    "Slow",
    "frame_of",
    "load_results",
    "store_results",
    "sum_up",
]

RESULTS: Final = "results.json"
"""The name of the file with a run's results, in the run's directory."""

SLOWEST: Final = 10
MOST_FAILURES: Final = 1000
"""The most distinct failures (clause and reason class) in the results; more would teach nothing."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClauseCount:
    """The number of cases in which a clause had each outcome."""

    clause: str
    level: str
    outcomes: Mapping[str, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """One way in which a clause failed (a reason class): the number of cases, and the first of them.

    ``file`` is the shrunk counterexample; empty if nothing was saved.
    """

    clause: str
    reason: str
    outcome: str
    cases: int
    index: int
    case_id: str
    file: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class ReaderCount:
    """The results of a reader: the number of cases that it read correctly, and the outcomes of the others."""

    reader: str
    read: int
    others: Mapping[str, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Slow:
    """A case among the slowest."""

    index: int
    case_id: str
    seconds: float
    received: int


@dataclasses.dataclass(frozen=True, slots=True)
class Hungry:
    """A case among those with the most memory: bytes that the process used in addition to its use before the first
    case.
    """

    index: int
    case_id: str
    memory: int
    received: int


@dataclasses.dataclass(frozen=True, slots=True)
class Results:
    """The summary of a campaign.

    ``failing`` counts the cases with an unexpected failure; ``outcomes`` counts all cases. ``problems`` are
    sentences about expected failures that no drawn case shows. ``reached`` counts cases by cell of
    :mod:`conformance.campaign.coverage`, and ``never`` are the cells of the profile that no case reached.
    ``hungriest`` are the cases with the most memory, if it was measured.
    """

    run: str
    target: str
    profile: str
    cases: int
    failing: int
    outcomes: Mapping[str, int]
    clauses: tuple[ClauseCount, ...]
    failures: tuple[Failure, ...]
    readers: tuple[ReaderCount, ...]
    slowest: tuple[Slow, ...]
    reached: Mapping[str, int]
    never: tuple[str, ...]
    problems: tuple[str, ...] = ()
    hungriest: tuple[Hungry, ...] = ()

    @property
    def unexpected(self) -> bool:
        """True if anything differs from what the target's owner expects."""
        return bool(self.failing or self.problems)


def frame_of(session: SparkSession, layout: RunFiles, stage: Stage) -> DataFrame:
    """The committed rows of a stage, with the schema of that stage."""
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415  # a sandbox imports no Spark

    schema = from_arrow_schema(SCHEMAS[stage])
    files = files_of(layout, stage)
    return session.read.schema(schema).parquet(*files) if files else session.createDataFrame([], schema)


def sum_up(session: SparkSession, layout: RunFiles, job: CampaignJob) -> Results:
    """The results of everything committed so far, with the expected failures of the job's target file applied."""
    frames = {stage: frame_of(session, layout, stage) for stage in Stage}
    problems: tuple[str, ...] = ()
    if expected := job.spec.expected_failures:
        seen, judged = frames[Stage.VERDICTS], frames[Stage.JUDGE]
        problems = idle(judged, seen, expected, load_corpus())
        frames[Stage.VERDICTS] = excused(seen, expected)
        frames[Stage.JUDGE] = settled(judged, frames[Stage.VERDICTS], tuple(WEIGHT))
    for stage, frame in frames.items():
        frame.createOrReplaceTempView(f"stage_{stage}")
    outcomes = _counted(session, "SELECT outcome, count(*) FROM stage_judge GROUP BY outcome ORDER BY outcome")
    reached = _counted(
        session,
        "SELECT cell, count(*) FROM (SELECT explode(covers) AS cell FROM stage_plan) GROUP BY cell ORDER BY cell",
    )
    failures = _failures(session)
    return Results(
        run=layout.run_id,
        target=f"{job.spec.name} {job.version}".strip(),
        profile=job.profile,
        cases=sum(outcomes.values()),
        failing=session.sql(
            "SELECT DISTINCT index FROM stage_verdicts WHERE outcome IN ('fail', 'error', 'crash', "
            "'hang', 'refused', 'unexpected-pass')"
        ).count(),
        outcomes=outcomes,
        clauses=_clauses(session, job),
        failures=failures,
        readers=_readers(session, job),
        slowest=_slowest(session),
        reached=reached,
        never=tuple(sorted(universe(job.profile) - set(reached))),
        problems=problems,
        hungriest=_hungriest(session),
    )


def _counted(session: SparkSession, query: str) -> dict[str, int]:
    return {str(row[0]): int(row[1]) for row in session.sql(query).collect()}


def _clauses(session: SparkSession, job: CampaignJob) -> tuple[ClauseCount, ...]:
    """The outcomes of each clause: passes from the distinct bit patterns, which are few, everything else from the
    verdicts.
    """
    counts: dict[str, Counter[str]] = {clause: Counter() for clause in job.clauses}
    for row in session.sql("SELECT passed, count(*) AS cases FROM stage_judge GROUP BY passed").toLocalIterator():
        bits = int.from_bytes(row["passed"], "little")
        for place, clause in enumerate(job.clauses):
            if bits >> place & 1:
                counts[clause]["pass"] += row["cases"]
    # Failures of clauses on mutated inputs are expected, and are stored without their findings.
    query = f"""
        SELECT clause, outcome, count(*) AS cases
        FROM (SELECT clause, outcome FROM stage_verdicts
              UNION ALL SELECT explode(failed), '{Outcome.EXPECTED_FAIL}' FROM stage_judge)
        GROUP BY clause, outcome ORDER BY 1, 2
    """  # noqa: S608  # the outcome is a constant
    for row in session.sql(query).collect():
        counts.setdefault(row["clause"], Counter())[row["outcome"]] += row["cases"]
    register = all_clauses()
    return tuple(
        ClauseCount(clause, str(register[clause].level) if clause in register else "", dict(sorted(found.items())))
        for clause, found in counts.items()
        if found
    )


def _failures(session: SparkSession) -> tuple[Failure, ...]:
    query = f"""
        SELECT clause, class, outcome, count(*) AS cases, min(struct(index, case_id)) AS first
        FROM (SELECT index, case_id, clause, outcome, explode(classes) AS class FROM stage_verdicts
              WHERE outcome IN ('fail', 'error', 'crash', 'hang', 'refused', 'unexpected-pass'))
        GROUP BY clause, class, outcome ORDER BY clause, class, outcome LIMIT {MOST_FAILURES}
    """  # noqa: S608  # a constant of this module
    return tuple(
        Failure(
            row["clause"], row["class"], row["outcome"], row["cases"], row["first"]["index"], row["first"]["case_id"]
        )
        for row in session.sql(query).collect()
    )


def _readers(session: SparkSession, job: CampaignJob) -> tuple[ReaderCount, ...]:
    read: Counter[str] = Counter()
    for row in session.sql("SELECT read, count(*) AS cases FROM stage_judge GROUP BY read").collect():
        for place, reader in enumerate(job.readers):
            if row["read"] >> place & 1:
                read[reader] += row["cases"]
    others: dict[str, Counter[str]] = {reader: Counter() for reader in job.readers}
    query = """
        SELECT reader, IF(outcome = 'table', 'differs', outcome) AS made, count(*) AS cases
        FROM stage_read GROUP BY 1, 2 ORDER BY 1, 2
    """
    for row in session.sql(query).collect():
        others.setdefault(row["reader"], Counter())[row["made"]] += row["cases"]
    return tuple(ReaderCount(reader, read[reader], dict(found)) for reader, found in others.items())


def _slowest(session: SparkSession) -> tuple[Slow, ...]:
    query = f"""
        SELECT index, case_id, drive_seconds + judge_seconds AS seconds, received FROM stage_judge
        WHERE drive_seconds IS NOT NULL ORDER BY seconds DESC, index LIMIT {SLOWEST}
    """  # noqa: S608  # a constant of this module
    return tuple(
        Slow(row["index"], row["case_id"], round(row["seconds"], 6), row["received"])
        for row in session.sql(query).collect()
    )


def _hungriest(session: SparkSession) -> tuple[Hungry, ...]:
    query = f"""
        SELECT index, case_id, memory, received FROM stage_judge
        WHERE memory IS NOT NULL ORDER BY memory DESC, index LIMIT {SLOWEST}
    """  # noqa: S608  # a constant of this module
    return tuple(
        Hungry(row["index"], row["case_id"], row["memory"], row["received"]) for row in session.sql(query).collect()
    )


def store_results(layout: RunFiles, results: Results) -> None:
    """Write the results next to the run's arguments."""
    write_file(layout.run / RESULTS, json.dumps(to_json(results), indent=1).encode())


def load_results(layout: RunFiles) -> Results:
    """The results that :func:`store_results` wrote."""
    return from_json(Results, json.loads((layout.run / RESULTS).read_text()))
