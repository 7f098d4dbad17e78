"""Where a campaign keeps what: directories, file names, and the written schema of each stage's Parquet.

Below the output directory stand ``<stage>/run=<id>/target=<name>/profile=<name>/part-*.parquet``, one directory per
:class:`Stage`, and ``runs/<id>`` with the run's arguments, commits and results.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from conformance.campaign.job import CampaignJob
from conformance.records import Exchange, Reading, Verdict, arrow_schema

__all__ = ["SCHEMAS", "RunFiles", "Stage"]


class Stage(enum.StrEnum):
    """The stages whose rows are kept."""

    PLAN = "plan"
    """One row per case: what it is made of."""
    JUDGE = "judge"
    """One row per case: what became of every clause, and digests of the bytes and of the values."""
    VERDICTS = "verdicts"
    """One row per verdict that is not a pass, with its findings."""
    DRIVE = "drive"
    """One row per exchange that is kept."""
    READ = "read"
    """One row per reading that is not simply the table that the bytes hold."""


def _with(kind: type, *more: pa.Field, without: tuple[str, ...] = ()) -> pa.Schema:
    fields = [field for field in arrow_schema(kind) if field.name not in without]
    return pa.schema([_INDEX, *fields, *more])


_INDEX: Final = pa.field("index", pa.int64(), nullable=False)

SCHEMAS: Final[Mapping[Stage, pa.Schema]] = MappingProxyType(
    {
        Stage.PLAN: pa.schema(
            [
                _INDEX,
                pa.field("case_id", pa.string(), nullable=False),
                pa.field("rows", pa.int64()),
                pa.field("columns", pa.int32()),
                # What the case covers, as conformance.campaign.coverage names it.
                pa.field("covers", pa.list_(pa.string())),
            ]
        ),
        Stage.JUDGE: pa.schema(
            [
                _INDEX,
                pa.field("case_id", pa.string(), nullable=False),
                # The outcome of the verdict that weighs most; "pass" where nothing fails.
                pa.field("outcome", pa.string(), nullable=False),
                # Bit i, least significant first, is set where clause i of the run's arguments passed.
                pa.field("passed", pa.binary(), nullable=False),
                # Bit i is set where reader i of the run's arguments read the table that the bytes hold.
                pa.field("read", pa.int32(), nullable=False),
                # Of the Arrow messages as they came; null where there are none.
                pa.field("bytes_digest", pa.int64()),
                # Of the rows that came, in any order; null where there are none, 0 where they are the case's own.
                pa.field("values_digest", pa.int64()),
                pa.field("calls", pa.int32()),
                pa.field("received", pa.int64()),
                pa.field("drive_seconds", pa.float32()),
                # Of mutated inputs processor time, and of everything that is done to them.
                pa.field("judge_seconds", pa.float32()),
                # Of mutated inputs only: the clauses that fail, in register order, how many findings they have, and
                # the most bytes that the process held beyond what it held before its first input; null if not known.
                pa.field("failed", pa.list_(pa.string())),
                pa.field("findings", pa.int32()),
                pa.field("memory", pa.int64()),
            ]
        ),
        # ``classes`` are the reason classes of the findings, as conformance.engine.outcomes makes them.
        Stage.VERDICTS: _with(Verdict, pa.field("classes", pa.list_(pa.string()))),
        # ``case`` is the case in JSON, so that an exchange can be judged alone; ``stored`` is the path, below the
        # output directory, of an exchange in a file of its own: then ``calls`` is empty. ``format`` is the version of
        # the form of both records, and null in rows that are older than it.
        Stage.DRIVE: _with(
            Exchange,
            pa.field("case", pa.string()),
            pa.field("why", pa.string()),
            pa.field("stored", pa.string()),
            pa.field("format", pa.int32()),
        ),
        Stage.READ: _with(Reading, without=("table",)),
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class RunFiles:
    """The places of one run below the directory ``root``."""

    root: Path
    run_id: str
    target: str
    profile: str

    @classmethod
    def of(cls, root: Path, job: CampaignJob) -> RunFiles:
        """The layout of a job's run."""
        return cls(root, job.run_id, job.spec.name, job.profile)

    @property
    def run(self) -> Path:
        """The run's own directory: arguments, commits, results."""
        return self.root / "runs" / self.run_id

    @property
    def commits(self) -> Path:
        """One small JSON file per committed range."""
        return self.run / "commits"

    @property
    def counterexamples(self) -> Path:
        """Shrunk cases, one file per failure."""
        return self.run / "counterexamples"

    def stage(self, stage: Stage) -> Path:
        """The directory of a stage's Parquet files for this run, target and profile."""
        return self.root / stage / f"run={self.run_id}" / f"target={self.target}" / f"profile={self.profile}"
