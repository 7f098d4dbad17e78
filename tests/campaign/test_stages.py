"""The work of a task on its ranges."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from conformance.campaign import stages
from conformance.campaign.campaignjob import Range
from conformance.campaign.commits import Commit
from conformance.campaign.runfolders import RunFiles
from conformance.campaign.sandboxed import Sandbox
from conformance.campaign.stages import RangeTask
from tests.campaign.jobs import job


def test_a_task_that_is_tried_again_goes_on_where_commits_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A range that an earlier attempt has committed is not worked on again, and its summary is the committed one."""
    one = job(tmp_path, cases=20)
    layout = RunFiles.of(tmp_path, one)
    Commit(layout, Range(0, 0, 10)).finish({"cases": 10, "failing": 3, "seconds": 0.5})
    worked: list[Range] = []

    def judged(_sandbox: object, commit: Commit, *, inline: int) -> dict[str, object]:
        del inline
        worked.append(commit.span)
        return {"number": 1, "cases": 10, "failing": 0, "seconds": 0.1}

    sandboxes: dict[str, Sandbox] = {}
    monkeypatch.setattr(stages, "_SANDBOXES", sandboxes)
    monkeypatch.setattr(stages, "judge_range", judged)
    rows = [{"number": 0, "first": 0, "last": 10}, {"number": 1, "first": 10, "last": 20}]

    reported = [
        batch.to_pylist()[0] for batch in RangeTask(layout, one, None)(iter([pa.RecordBatch.from_pylist(rows)]))
    ]

    for sandbox in sandboxes.values():
        sandbox.close()
    assert worked == [Range(1, 10, 20)]
    assert [row["failing"] for row in reported] == [3, 0]
