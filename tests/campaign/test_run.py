"""How a campaign is divided into ranges."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.jobs import job

pytest.importorskip("pyspark", reason="the campaign needs Spark")

from conformance.campaign.run import LEAST, RANGE, SLOW, range_size, refuse_links
from conformance.campaign.runfolders import RunFiles, Stage
from conformance.protocols.storage_read.generate.scenarios import SCENARIO
from conformance.targets.targeterrors import TargetError


@pytest.mark.parametrize(
    ("cases", "profile", "size"),
    [
        (10_000_000, "arrow", RANGE),
        (100_000, SCENARIO, SLOW),
        (100_000, "server", SLOW),
        (60, "arrow", LEAST),
        (1_600, "server", 100),
    ],
)
def test_a_lost_range_costs_seconds(tmp_path: Path, cases: int, profile: str, size: int) -> None:
    """A case that is put to a server takes longer, so fewer of them are lost and run again."""
    assert range_size(job(tmp_path, cases=cases, profile=profile)) == size


@pytest.mark.parametrize("stage", Stage)
def test_a_folder_of_a_run_that_is_a_link_is_refused(tmp_path: Path, stage: Stage) -> None:
    """The files of all stages would be in one place, elsewhere, and would replace each other."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / stage).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(TargetError, match="is a link"):
        refuse_links(RunFiles(tmp_path / "out", "0123456789ab", "t", "arrow"))


def test_the_folder_of_a_campaign_may_be_a_link(tmp_path: Path) -> None:
    """The user has named it."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")

    refuse_links(RunFiles(tmp_path / "out", "0123456789ab", "t", "arrow"))
