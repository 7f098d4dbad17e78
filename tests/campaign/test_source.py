from __future__ import annotations

import json

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="a campaign needs the extra spark")

from conformance.campaign.campaignjob import Range
from conformance.campaign.source import MOST, PlanSource, options, ranges, shares


@pytest.mark.parametrize("slots", [1, 2, 10, 40])
def test_a_plan_is_the_same_on_every_partitioning(slots: int) -> None:
    """Every case once, in ranges that have the same numbers."""
    reader = PlanSource(options(shares(ranges(0, 95, size=10), slots=slots))).reader(None)
    batches = [batch for share in reader.partitions() for batch in reader.read(share)]

    rows = [row for batch in batches if isinstance(batch, pa.RecordBatch) for row in batch.to_pylist()]
    assert rows == [{"number": n, "first": 10 * n, "last": min(10 * n + 10, 95)} for n in range(10)]


def test_the_last_tasks_take_one_range_each() -> None:
    """So that no core waits long for another; and none takes more than a minute of work."""
    dealt = [len(share) for share in shares(ranges(0, 500, size=1), slots=2)]

    assert dealt == sorted(dealt, reverse=True)
    assert dealt[0] == MOST
    assert dealt[-4:] == [1, 1, 1, 1]
    assert sum(dealt) == 500


def test_a_second_part_goes_on_counting() -> None:
    """Guided cases have ranges of their own."""
    assert ranges(95, 101, size=5, number=10) == [Range(10, 95, 100), Range(11, 100, 101)]


def test_the_plan_travels_as_text() -> None:
    """Options of a data source are strings."""
    assert json.loads(options([[Range(0, 0, 5)]])["shares"]) == [[[0, 0, 5]]]
