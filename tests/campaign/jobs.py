"""Small campaigns for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.commits import files_of
from conformance.campaign.runfolders import RunFiles, Stage
from conformance.engine.selection import all_clauses
from conformance.targets import load_target

HERE = Path(__file__).parent

TIMES = ("drive_seconds", "judge_seconds")


def target_file(directory: Path, name: str, *, more: str = "") -> Path:
    """A target file for a serializer of :mod:`tests.campaign.flawed`."""
    path = directory / f"{name.lower()}.toml"
    head = f'name = "{name.lower()}"\nkind = "serializer"\n'
    path.write_text(f'{head}[serializer]\nentry = "flawed:{name}"\npath = ["{HERE}"]\n{more}')
    return path


def job(directory: Path, name: str = "Trailing", *, cases: int = 60, more: str = "", **others: Any) -> CampaignJob:
    """A job for a flawed serializer."""
    spec = load_target(target_file(directory, name, more=more))
    reported: dict[str, Any] = {"seed": 3, "profile": "arrow", "clauses": tuple(all_clauses()), **others}
    return CampaignJob(spec, cases=cases, **reported)


def found(layout: RunFiles) -> dict[str, list[dict[str, Any]]]:
    """Everything that a campaign has committed about its cases, without times, in the order of the cases."""
    kept = {}
    for stage in (Stage.JUDGE, Stage.VERDICTS, Stage.PLAN, Stage.READ):
        rows = [row for file in files_of(layout, stage) for row in pq.ParquetFile(file).read().to_pylist()]
        kept[str(stage)] = [
            {name: value for name, value in row.items() if name not in TIMES}
            for row in sorted(rows, key=lambda row: (row["index"], row.get("clause", ""), row.get("reader", "")))
        ]
    return kept
