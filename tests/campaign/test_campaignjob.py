from __future__ import annotations

import dataclasses
from pathlib import Path

from conformance.campaign.campaignjob import CampaignJob
from conformance.records import from_json, to_json
from tests.campaign.jobs import job


def test_the_same_arguments_name_the_same_run(tmp_path: Path) -> None:
    """The folder of the target's file makes no difference."""
    (tmp_path / "other").mkdir()

    assert job(tmp_path).run_id == job(tmp_path / "other").run_id


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    """So is anything that can change a verdict."""
    one = job(tmp_path)

    others = {dataclasses.replace(one, seed=4).run_id, one.of_version("2").run_id, one.run_id}

    assert len(others) == 3


def test_a_job_is_written_down_and_read_again(tmp_path: Path) -> None:
    """run.json holds the whole of it."""
    one = job(tmp_path)

    assert from_json(CampaignJob, to_json(one)) == one


def test_another_form_is_another_run(tmp_path: Path) -> None:
    """Its cases have other ids."""
    one = job(tmp_path)

    assert dataclasses.replace(one, form="avro").run_id != one.run_id
