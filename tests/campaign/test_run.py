"""How a campaign is divided into ranges."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.jobs import job

pytest.importorskip("pyspark", reason="the campaign needs Spark")

from conformance.campaign.run import LEAST, RANGE, SLOW, range_size
from conformance.protocols.storage_read.generate.scenarios import SCENARIO


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
