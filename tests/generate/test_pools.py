from __future__ import annotations

import pytest

from conformance.generate.pools import pool, range_pool, sized_pool
from conformance.records import BqType, Column, Mode, ValueProfile

RANGES = (BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP)


@pytest.mark.parametrize("range_of", RANGES)
@pytest.mark.parametrize("profile", ValueProfile)
def test_ranges_start_before_they_end(range_of: BqType, profile: ValueProfile) -> None:
    """BigQuery has no empty and no backward range."""
    ranges = range_pool(Column("v", BqType.RANGE, range_of=range_of), profile)
    starts, ends = (bound[1:] for bound in ranges.bounds)
    both = ~(ranges.open[0][1:] | ranges.open[1][1:])

    assert (starts < ends)[both].all()


@pytest.mark.parametrize("range_of", RANGES)
@pytest.mark.parametrize("profile", ValueProfile)
def test_required_ranges_have_both_bounds(range_of: BqType, profile: ValueProfile) -> None:
    """A REQUIRED range has no open bound: the service would lose it."""
    required = range_pool(Column("v", BqType.RANGE, Mode.REQUIRED, range_of=range_of), profile)
    nullable = range_pool(Column("v", BqType.RANGE, range_of=range_of), ValueProfile.BOUNDARY)

    assert required.size >= 1
    assert not any(side[1:].any() for side in required.open)
    assert all(side[1:].any() for side in nullable.open)


@pytest.mark.parametrize("size", [1, 100, 5000])
def test_sized_pools_have_one_size(size: int) -> None:
    """Cells of a given size have exactly that size, and differ."""
    sized = sized_pool(size)

    assert {len(text) for text in sized.texts[1:]} == {size}
    assert len(set(sized.texts[1:])) == 3


@pytest.mark.parametrize("kind", [BqType.STRING, BqType.BYTES])
@pytest.mark.parametrize("length", [1, 10])
@pytest.mark.parametrize("profile", ValueProfile)
def test_declared_lengths_bound_the_values(kind: BqType, length: int, profile: ValueProfile) -> None:
    """No value of STRING(L) or BYTES(L) is longer, the longest are as long."""
    texts = pool(Column("v", kind, max_length=length), profile).texts
    lengths = [len(text.decode()) if kind is BqType.STRING else len(text) for text in texts]

    assert max(lengths) <= length
    assert profile is not ValueProfile.WIDE or min(lengths[1:]) == length
