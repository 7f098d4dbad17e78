from __future__ import annotations

import json

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="a campaign needs the extra spark")

from conformance.campaign.job import Range
from conformance.campaign.source import PlanSource, options, ranges


def planned(partitions: int) -> list[dict[str, int]]:
    """The rows of a plan of 95 cases, as partitions yield them."""
    reader = PlanSource(options(ranges(0, 95, size=10), partitions=partitions)).reader(None)
    shares = reader.partitions()
    assert len(shares) == min(partitions, 10)
    batches = [batch for share in shares for batch in reader.read(share)]
    return [row for batch in batches if isinstance(batch, pa.RecordBatch) for row in batch.to_pylist()]


@pytest.mark.parametrize("partitions", [1, 3, 10, 40])
def test_a_plan_is_the_same_on_every_partitioning(partitions: int) -> None:
    """Every case once, in ranges that have the same numbers."""
    rows = sorted(planned(partitions), key=lambda row: row["number"])

    assert rows == [{"number": n, "first": 10 * n, "last": min(10 * n + 10, 95)} for n in range(10)]


def test_a_second_part_goes_on_counting() -> None:
    """Guided cases have ranges of their own."""
    assert ranges(95, 101, size=5, number=10) == [Range(10, 95, 100), Range(11, 100, 101)]


def test_the_plan_travels_as_text() -> None:
    """Options of a data source are strings."""
    assert json.loads(options([Range(0, 0, 5)], partitions=2)["shares"]) == [[[0, 0, 5]]]
