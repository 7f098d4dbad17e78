"""Judge stored exchanges again: today's clauses on bytes that were recorded earlier, without any target.

Only the pure judge runs here. No decoder reads the bytes, so clauses on readers are not observed.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.commits import files_of
from conformance.campaign.results import frame_of
from conformance.campaign.runfolders import SCHEMAS, RunFiles, Stage
from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.outcomes import reason_classes
from conformance.engine.recorded import Stored
from conformance.engine.selection import all_clauses, of_protocol
from conformance.records import FORMAT, Case, Exchange, RecordError, Verdict, arrow_schema, from_json, from_row, to_row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["REJUDGED", "Rejudged", "judge_again", "stored_exchange"]

REJUDGED: Final = SCHEMAS[Stage.VERDICTS]
"""One row per verdict, including passes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Rejudged:
    """The result of judging again: exchanges judged, verdicts by clause and outcome, and changed verdicts.

    ``changed`` are (clause, outcome before, outcome now) with their number of cases; either outcome may be ``pass``.
    """

    exchanges: int
    clauses: Mapping[str, Mapping[str, int]]
    changed: tuple[tuple[str, str, str, int], ...]
    directory: str


def stored_exchange(root: Path, row: Mapping[str, Any]) -> tuple[Case, Exchange]:
    """The case and the exchange in a row of the drive stage; a large exchange is read from its own file.

    Raises:
        RecordError: a later version of the suite wrote the row, in a form that this version does not know.
    """
    if (form := row.get("format") or 1) > FORMAT:
        raise RecordError("format", f"{FORMAT} or an earlier one, as this version of the suite reads", form)
    names = arrow_schema(Exchange).names
    held = {name: row[name] for name in names if name in row}
    if row["stored"]:
        with pa.ipc.open_file(str(root / row["stored"])) as file:
            held["calls"] = file.read_all().column("calls")[0].as_py()
    return from_json(Case, json.loads(row["case"])), from_row(Exchange, held)


class _Judge:
    """The function of ``mapInArrow``: exchanges in, verdicts out."""

    def __init__(self, root: Path, clauses: Sequence[str]) -> None:
        self._root = root
        self._clauses = clauses

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        register = all_clauses()
        exchanges: dict[str, Exchange] = {}
        step = CaseStep([register[clause] for clause in self._clauses], Stored(exchanges))
        for batch in batches:
            rows = [row for held in batch.to_pylist() for row in self._judged(step, exchanges, held)]
            yield from pa.Table.from_pylist(rows, schema=REJUDGED).to_batches()

    def _judged(self, step: CaseStep, exchanges: dict[str, Exchange], row: Mapping[str, Any]) -> list[dict[str, Any]]:
        case, exchange = stored_exchange(self._root, row)
        exchanges.clear()
        exchanges[case.id] = exchange
        return [_row(row["index"], verdict) for verdict in step.verdicts(step.take(CaseWork(case)))]


def _row(index: int, verdict: Verdict) -> dict[str, Any]:
    return {"index": index, **to_row(verdict), "classes": list(reason_classes(verdict)) if verdict.findings else []}


def judge_again(session: SparkSession, layout: RunFiles, job: CampaignJob) -> Rejudged:
    """Judge every stored exchange of a run under all clauses of this version on its protocol."""
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415  # a sandbox imports no Spark

    clauses = tuple(one.id for one in of_protocol(job.protocol))
    exchanges = frame_of(session, layout, Stage.DRIVE)
    judged = exchanges.repartition(max(2, len(files_of(layout, Stage.DRIVE)) // 8)).mapInArrow(
        _Judge(layout.root, clauses), from_arrow_schema(REJUDGED)
    )
    directory = layout.run / "rejudged"
    judged.write.mode("overwrite").parquet(str(directory))
    again = session.read.schema(from_arrow_schema(REJUDGED)).parquet(str(directory))
    counts: dict[str, dict[str, int]] = {}
    for row in again.groupBy("clause", "outcome").count().orderBy("clause", "outcome").collect():
        counts.setdefault(row["clause"], {})[row["outcome"]] = row["count"]
    return Rejudged(exchanges.count(), counts, _changed(session, layout, exchanges, again, job.clauses), str(directory))


def _changed(
    session: SparkSession, layout: RunFiles, exchanges: DataFrame, again: DataFrame, stored: Sequence[str]
) -> tuple[tuple[str, str, str, int], ...]:
    """Verdicts that differ between the run and now; clauses on readers are not judged again."""
    exchanges.select("index").createOrReplaceTempView("again_cases")
    again.createOrReplaceTempView("again_verdicts")
    frame_of(session, layout, Stage.VERDICTS).createOrReplaceTempView("again_before")
    known = pa.table({"clause": list(stored)})
    session.createDataFrame(known.to_pylist(), "clause string").createOrReplaceTempView("again_known")
    query = """
        WITH before AS (SELECT b.index, b.clause, b.outcome FROM again_before b JOIN again_cases USING (index)
                        WHERE b.clause NOT LIKE 'readers.%'),
             now AS (SELECT index, clause, outcome FROM again_verdicts WHERE outcome <> 'pass')
        SELECT clause, coalesce(before.outcome, IF(known.clause IS NULL, 'not judged', 'pass')) AS was,
               coalesce(now.outcome, 'pass') AS is, count(*) AS cases
        FROM before FULL OUTER JOIN now USING (index, clause) LEFT JOIN again_known known USING (clause)
        WHERE before.outcome IS DISTINCT FROM now.outcome
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    """
    return tuple((row["clause"], row["was"], row["is"], row["cases"]) for row in session.sql(query).collect())
