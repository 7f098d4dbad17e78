"""The layout of a campaign on disk: directories, file names, and the schema of each stage's Parquet files.

The output directory contains ``<stage>/run=<id>/target=<name>/profile=<name>/part-*.parquet``, one directory per
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

from conformance.campaign.campaignjob import CampaignJob
from conformance.records import Exchange, Reading, Verdict, arrow_schema

__all__ = ["SCHEMAS", "RunFiles", "Stage"]


class Stage(enum.StrEnum):
    """The stages whose rows are stored."""

    PLAN = "plan"
    """One row per case: how it is made."""
    JUDGE = "judge"
    """One row per case: the results of all clauses, and digests of the bytes and of the values."""
    VERDICTS = "verdicts"
    """One row per verdict that is not a pass, with its findings."""
    DRIVE = "drive"
    """One row per stored exchange."""
    READ = "read"
    """One row per reading that is not simply the table that the bytes contain."""


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
                # The cells that the case covers, as conformance.campaign.coverage names them.
                pa.field("covers", pa.list_(pa.string())),
            ]
        ),
        Stage.JUDGE: pa.schema(
            [
                _INDEX,
                pa.field("case_id", pa.string(), nullable=False),
                # The heaviest outcome among the case's verdicts; "pass" if nothing fails.
                pa.field("outcome", pa.string(), nullable=False),
                # Bit i, least significant first, is set if clause i of the run's arguments passed.
                pa.field("passed", pa.binary(), nullable=False),
                # Bit i is set if reader i of the run's arguments read the table that the bytes contain.
                pa.field("read", pa.int32(), nullable=False),
                # Digest of the Arrow messages as they arrived; null if there are none.
                pa.field("bytes_digest", pa.int64()),
                # Digest of the rows that arrived, in any order; null if there are none, 0 if they equal the case's
                # rows.
                pa.field("values_digest", pa.int64()),
                # True if the driver stopped before the end of the case; null in rows written before the field existed.
                pa.field("stopped", pa.bool_()),
                pa.field("calls", pa.int32()),
                pa.field("received", pa.int64()),
                pa.field("drive_seconds", pa.float32()),
                # For mutated inputs: processor time, of all operations on the input.
                pa.field("judge_seconds", pa.float32()),
                # For mutated inputs only: the clauses that fail, in register order; the number of their findings;
                # and the peak memory of the process in addition to its memory before the first input, null if
                # unknown.
                pa.field("failed", pa.list_(pa.string())),
                pa.field("findings", pa.int32()),
                pa.field("memory", pa.int64()),
            ]
        ),
        # ``classes`` are the reason classes of the findings, as conformance.engine.outcomes makes them.
        Stage.VERDICTS: _with(Verdict, pa.field("classes", pa.list_(pa.string()))),
        # ``case`` is the case as JSON, so that an exchange can be judged by itself. ``stored`` is the path, below
        # the output directory, of an exchange in a file of its own; ``calls`` is then empty. ``format`` is the
        # version of the form of both records; it is null in rows written before the field existed.
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
    """The paths of one run below the directory ``root``."""

    root: Path
    run_id: str
    target: str
    profile: str

    @classmethod
    def of(cls, root: Path, job: CampaignJob) -> RunFiles:
        """The paths of a job's run."""
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
