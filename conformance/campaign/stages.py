"""The code inside a Spark task: indices come in as Arrow batches, committed ranges go out as one row each.

The rows of the stages do not pass through the JVM. An exchange has about 75 kB and almost none is stored; and a task
that writes its own Parquet can commit its own range, so that nothing committed is lost if the driver dies.
"""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from conformance.campaign.campaignjob import CampaignJob, Range
from conformance.campaign.commits import Commit, manifest_of
from conformance.campaign.done import Done
from conformance.campaign.guidance import Weights
from conformance.campaign.runfolders import SCHEMAS, RunFiles, Stage
from conformance.campaign.sandboxed import Sandbox
from conformance.records import Outcome

__all__ = ["SUMMARY", "judge_range", "sandbox_for"]

SUMMARY: Final = pa.schema(
    [("number", pa.int64()), ("cases", pa.int64()), ("failing", pa.int64()), ("seconds", pa.float64())]
)
"""The columns that a task yields for each range that it committed."""

_SANDBOXES: dict[str, Sandbox] = {}


def sandbox_for(job: CampaignJob, weights: Weights | None) -> Sandbox:
    """This process's sandbox for a job: Spark reuses its Python processes, and they reuse their sandboxes."""
    key = f"{job.run_id}/{weights}"
    if key not in _SANDBOXES:
        while _SANDBOXES:
            _SANDBOXES.popitem()[1].close()
        _SANDBOXES[key] = Sandbox(job, weights)
    return _SANDBOXES[key]


def judge_range(sandbox: Iterable[Done], commit: Commit, *, inline: int) -> dict[str, Any]:
    """Collect the rows of a range's cases, write and commit them; returns the range's summary."""
    began = time.monotonic()
    rows: dict[Stage, list[Mapping[str, Any]]] = {stage: [] for stage in Stage}
    failing: Counter[str] = Counter()
    try:
        for done in sandbox:
            rows[Stage.PLAN].append(done.plan)
            rows[Stage.JUDGE].append(done.judge)
            rows[Stage.VERDICTS] += done.verdicts
            rows[Stage.READ] += done.readings
            if done.exchange is not None:
                rows[Stage.DRIVE].append(_stored(done.exchange, commit, inline))
            failing["cases"] += Outcome(done.judge["outcome"]).fails_run
        for stage, held in rows.items():
            commit.add(stage, held)
    except BaseException:
        commit.abandon()
        raise
    return commit.finish(
        {
            "cases": len(rows[Stage.JUDGE]),
            "failing": failing["cases"],
            "seconds": time.monotonic() - began,
        }
    )


def _stored(exchange: dict[str, Any], commit: Commit, inline: int) -> dict[str, Any]:
    """The row of an exchange; the calls of a large one go into a separate Arrow IPC file."""
    size = sum(len(data) for call in exchange["calls"] for data in call["responses"])
    if size <= inline:
        return exchange
    schema = pa.schema([SCHEMAS[Stage.DRIVE].field("calls")])
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_table(pa.Table.from_pylist([{"calls": exchange["calls"]}], schema=schema))
    name = f"case-{exchange['index']:09d}"
    return {**exchange, "calls": [], "stored": commit.keep(name, sink.getvalue())}


class RangeTask:
    """The function of ``mapInArrow``: runs the ranges of a partition and yields their summaries.

    A range that an earlier attempt of the task has committed is not run again.
    """

    def __init__(self, layout: RunFiles, job: CampaignJob, weights: Weights | None) -> None:
        self._layout = layout
        self._job = job
        self._weights = weights

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches with the columns ``number``, ``first`` and ``last`` in, :data:`SUMMARY` out."""
        sandbox = sandbox_for(self._job, self._weights)
        for batch in batches:
            for row in batch.to_pylist():
                span = Range(row["number"], row["first"], row["last"])
                reported = manifest_of(self._layout, span) or judge_range(
                    sandbox.run(span.first, span.last), Commit(self._layout, span), inline=self._job.inline
                )
                yield pa.RecordBatch.from_pylist([{name: reported[name] for name in SUMMARY.names}], schema=SUMMARY)
