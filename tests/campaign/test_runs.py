"""The arguments of an earlier campaign, which its folder holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.campaign.runs import RunError, load_job
from conformance.disk import pipes


def test_other_json_is_no_campaign(tmp_path: Path) -> None:
    """The sentence names the file."""
    (tmp_path / "run.json").write_text('{"job": 1}')

    with pytest.raises(RunError, match=r"run\.json: expected the arguments of a campaign"):
        load_job(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody writes into it."""
    monkeypatch.setattr(pipes, "FIRST_SECONDS", 0)
    os.mkfifo(tmp_path / "run.json")

    with pytest.raises(OSError, match="nothing came through the pipe"):
        load_job(tmp_path)
