"""Assemble a campaign: plan, tasks on Spark, commits, guidance, results.

This is the driver's part. It keeps nothing of a case in memory: the state is in the manifests and in Parquet.
"""

from __future__ import annotations

import dataclasses
import json
import re
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.errors import PySparkException

from conformance.campaign.campaignjob import CampaignJob, Range, is_served
from conformance.campaign.commits import Tally, sweep, write_file
from conformance.campaign.guidance import Weights, weigh
from conformance.campaign.results import RESULTS, Results, frame_of, store_results, sum_up
from conformance.campaign.runfolders import RunFiles, Stage
from conformance.campaign.sandboxed import Sandbox
from conformance.campaign.shrunk import shrink_failures
from conformance.campaign.source import PLAN_FORMAT, PlanSource, options, ranges, shares
from conformance.campaign.stages import SUMMARY, RangeTask
from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.disk.files import LARGEST_TEXT, read_whole
from conformance.records import RecordError, from_json, to_json
from conformance.targets import TargetError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "RANGE",
    "Campaign",
    "CampaignError",
    "CampaignProgress",
    "range_size",
    "refuse_links",
    "store_job",
    "target_info",
]

RANGE: Final = 2000
"""The most cases in a range: a task costs Spark about 30 ms, and a lost task costs a few seconds of work."""
SLOW: Final = 100
"""The same where a server gets each case: the reference answers some ten scenarios a second on two cores."""
SHARES: Final = 16
"""The number of ranges of a small campaign; with that many, no single core works alone at the end."""
LEAST: Final = 25
"""The fewest cases in a range, unless the campaign has fewer."""

REFRESH: Final = 0.5
"""Seconds between two updates of the progress."""


@dataclasses.dataclass(frozen=True, slots=True)
class CampaignProgress:
    """The progress of a campaign: cases committed, cases failing, and cases in all."""

    cases: int
    failing: int
    total: int


class CampaignError(TargetError):
    """A task failed as often as Spark allows. Committed ranges stay, and the campaign can be started again."""

    def __init__(self, layout: RunFiles, error: Exception) -> None:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception|Unavailable): ", line)), "")
        super().__init__(
            f"a task failed for good: {said or type(error).__name__}; {layout.run / 'spark.log'} has details,"
            " and the same command continues after the committed ranges"
        )


def range_size(job: CampaignJob) -> int:
    """The number of cases in a range of a new campaign."""
    most = SLOW if is_served(job.profile) else RANGE
    return max(LEAST, min(most, job.cases // SHARES))


def refuse_links(layout: RunFiles) -> None:
    """A directory of the run that is a link would have its files elsewhere, and those of two stages in one place.

    Raises:
        TargetError: there is one.
    """
    for path in (layout.run, *map(layout.stage, Stage)):
        for one in (path, *path.parents):
            if one == layout.root:
                break
            if one.is_symlink():
                raise TargetError(f"{one} is a link; a campaign writes below its own directory alone")


def store_job(layout: RunFiles, job: CampaignJob, *, size: int) -> int:
    """Write the run's arguments unless they exist; returns the size of ranges with which the run began."""
    refuse_links(layout)
    path = layout.run / "run.json"
    if not path.exists():
        write_file(path, json.dumps({"job": to_json(job), "range": size}, indent=1).encode())
    try:
        return int(parse_object(read_whole(path, LARGEST_TEXT))["range"])
    except (ForeignJsonError, KeyError, TypeError, ValueError):
        raise TargetError(
            f"{path}: expected the arguments of this campaign; remove {layout.run} to begin again"
        ) from None


class Campaign:
    """One run on one Spark session.

    ``size`` is the number of cases in a range; a run that continues keeps its first size. ``concurrency`` bounds the
    tasks that run at a time if all share one endpoint.
    """

    def __init__(
        self, session: SparkSession, layout: RunFiles, job: CampaignJob, *, size: int = 0, concurrency: int = 0
    ) -> None:
        self._session = session
        self.layout = layout
        self.job = job
        self._size = store_job(layout, job, size=size or range_size(job))
        self._concurrency = concurrency

    def run(self, report: Callable[[CampaignProgress], None]) -> None:
        """Run every range that is not committed yet; ``report`` is called with the progress from time to time.

        Raises:
            TargetUnavailable: the target cannot run on the executors.
        """
        (self.layout.run / RESULTS).unlink(missing_ok=True)  # results of an earlier start; finish() sums up again
        plain = self.job.cases - self.job.guided
        first = ranges(0, plain, size=self._size)
        self._work(first, None, report)
        if self.job.guided:
            rest = ranges(plain, self.job.cases, size=self._size, number=len(first))
            self._work(rest, self.weights(), report)

    def weights(self) -> Weights | None:
        """The weights of the guided part, computed once from the first part and then stored with the run."""
        if not self.job.guided:
            return None
        path = self.layout.run / "weights.json"
        if not path.exists():
            covered = frame_of(self._session, self.layout, Stage.PLAN).selectExpr("index", "explode(covers) AS cell")
            failing = frame_of(self._session, self.layout, Stage.VERDICTS).selectExpr("index").distinct()
            reached = [row["cell"] for row in covered.select("cell").distinct().collect()]
            failed = [row["cell"] for row in covered.join(failing, "index").select("cell").distinct().collect()]
            write_file(path, json.dumps(to_json(weigh(self.job, reached, failed))).encode())
        try:
            return from_json(Weights, parse_object(read_whole(path, LARGEST_TEXT)))
        except (ForeignJsonError, RecordError) as error:
            raise TargetError(f"{path}: expected the weights of this campaign: {error}; remove it") from None

    def finish(self, say: Callable[[str], None], *, shrinking: bool = True) -> Results:
        """Sum up, shrink failures, clean up; the results are stored with the run."""
        results = sum_up(self._session, self.layout, self.job)
        if shrinking:
            results = shrink_failures(self.layout, self.job, results, self.weights(), say=say)
        store_results(self.layout, results)
        sweep(self.layout)
        return results

    def _work(
        self, spans: Sequence[Range], weights: Weights | None, report: Callable[[CampaignProgress], None]
    ) -> None:
        tally = Tally(self.layout)

        def look() -> None:
            tally.look()
            report(CampaignProgress(tally.cases, tally.failing, self.job.cases))

        look()
        left = [span for span in spans if span.number not in tally.numbers]
        if not left:
            return
        self._session.dataSource.register(PlanSource)
        plan = self._session.read.format(PLAN_FORMAT)
        for key, value in options(self._dealt(left)).items():
            plan = plan.option(key, value)
        frame = plan.load().mapInArrow(RangeTask(self.layout, self.job, weights), _ddl(SUMMARY))
        try:
            _watched(frame.collect, look)
        except PySparkException as error:
            raise CampaignError(self.layout, error) from None
        look()

    def _dealt(self, spans: Sequence[Range]) -> list[Sequence[Range]]:
        """The ranges of each task."""
        if self.job.shares_endpoint and self._concurrency:
            return [spans[place :: self._concurrency] for place in range(min(self._concurrency, len(spans)))]
        return shares(spans, slots=max(1, self._session.sparkContext.defaultParallelism))


def _watched(function: Callable[[], Any], look: Callable[[], None]) -> None:
    """Run ``function`` in a thread and call ``look`` from time to time until it ends; raises the exception of
    ``function``.
    """
    over = threading.Event()
    errors: list[BaseException] = []

    def work() -> None:
        try:
            function()
        except BaseException as error:  # noqa: BLE001  # raised in the caller's thread below
            errors.append(error)
        finally:
            over.set()

    threading.Thread(target=work, daemon=True, name="campaign").start()
    while not over.wait(REFRESH):
        look()
    if errors:
        raise errors[0]


def _ddl(schema: pa.Schema) -> str:
    names = {pa.int64(): "bigint", pa.float64(): "double"}
    return ", ".join(f"{field.name} {names[field.type]}" for field in schema)


def target_info(job: CampaignJob, *, python: str = "") -> dict[str, Any]:
    """The target's name, version and capabilities, from opening it once here with the interpreter of the tasks.

    Raises:
        TargetUnavailable: it cannot run here.
    """
    with Sandbox(job, python=python) as sandbox:
        sandbox.open()
        return dict(sandbox.info)
