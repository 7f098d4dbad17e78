from __future__ import annotations

import pytest

from conformance.generate.values import PROFILES, RANDOM_POOL, pool_values
from conformance.generate.written import array_from_values, values_from_array
from conformance.records import BqType, Column, ValueProfile

RANGES = (BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP)
COLUMNS = [
    Column("v", kind, range_of=range_of)
    for kind in BqType
    if kind is not BqType.RECORD
    for range_of in (RANGES if kind is BqType.RANGE else (None,))
]


def test_every_type_has_every_profile() -> None:
    """The table has a row per type that holds values, and in each an entry per profile."""
    assert set(PROFILES) == set(BqType) - {BqType.RECORD}
    assert all(set(row) == set(ValueProfile) for row in PROFILES.values())


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{column.type}{column.range_of or ''}")
@pytest.mark.parametrize("profile", ValueProfile)
def test_pool_values_survive_arrow(column: Column, profile: ValueProfile) -> None:
    """Every value of every pool is the same after a trip through Arrow."""
    array = array_from_values(column, pool_values(column, profile))

    again = array_from_values(column, values_from_array(column, array))

    assert len(array) > 0
    assert [part and part.to_pybytes() for part in again.buffers()] == [
        part and part.to_pybytes() for part in array.buffers()
    ]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{column.type}{column.range_of or ''}")
def test_profiles_differ(column: Column) -> None:
    """CONSTANT is one value, RANDOM many, and BOUNDARY has more than SMALL shows."""
    sizes = {profile: len(set(map(repr, pool_values(column, profile)))) for profile in ValueProfile}

    assert sizes[ValueProfile.CONSTANT] == 1
    assert sizes[ValueProfile.RANDOM] > RANDOM_POOL // 3 or column.type is BqType.BOOL
    assert sizes[ValueProfile.SMALL] >= 2
    assert sizes[ValueProfile.BOUNDARY] >= sizes[ValueProfile.SMALL]


@pytest.mark.parametrize(
    ("column", "edges"),
    [
        (Column("v", BqType.INT64), [-(1 << 63), (1 << 63) - 1, 0]),
        (Column("v", BqType.FLOAT64), ["NaN", "Infinity", "-Infinity", -0.0, 5e-324]),
        (Column("v", BqType.STRING), ["", "\x00", "\U0010ffff", "é", "€", "😀"]),
        (Column("v", BqType.BYTES), ["", "AA==", "/w=="]),
        (Column("v", BqType.DATE), ["0001-01-01", "9999-12-31", "1969-12-31"]),
        (Column("v", BqType.TIME), ["00:00:00", "23:59:59.999999"]),
        (Column("v", BqType.TIMESTAMP), ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"]),
        (Column("v", BqType.NUMERIC), ["9" * 29 + "." + "9" * 9, "-" + "9" * 29 + "." + "9" * 9, "0.000000001"]),
        (
            Column("v", BqType.BIGNUMERIC),
            ["-578960446186580977117854925043439539266.34992332820282019728792003956564819968"],
        ),
        (Column("v", BqType.NUMERIC, precision=3, scale=1), ["99.9", "-99.9", "0.1"]),
        (Column("v", BqType.JSON), ["null", "{}", "[]"]),
        (Column("v", BqType.GEOGRAPHY), ["GEOMETRYCOLLECTION EMPTY"]),
        (Column("v", BqType.INTERVAL), [{"months": -14, "days": 3, "micros": -1}]),
        (Column("v", BqType.RANGE, range_of=BqType.DATE), [{"start": None, "end": None}]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, Column) else "",
)
def test_boundaries(column: Column, edges: list[object]) -> None:
    """The boundary profile of each type has the ends of its range and its odd values."""
    shown = set(
        map(repr, values_from_array(column, array_from_values(column, pool_values(column, ValueProfile.BOUNDARY))))
    )

    assert {repr(edge) for edge in edges} <= shown
