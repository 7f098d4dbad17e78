"""Single cells, and rows taken out of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.contract.comparing import cellbits

INTERVALS = pa.array([(1, 2, 3), None, (4, 5, 6)], pa.month_day_nano_interval())
ARRAYS = {
    "int64": pa.array([1, None, 3], pa.int64()),
    "interval": INTERVALS,
    "list": pa.ListArray.from_arrays(pa.array([0, 1, 1, 3], pa.int32()), INTERVALS),
    "record": pa.StructArray.from_arrays([INTERVALS, pa.array(["a", "b", None])], ["interval", "text"]),
}
PLACES = [[2, 0, 0], [1], []]


@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize("name", ARRAYS)
def test_rows_are_taken_whatever_the_type(name: str, places: Sequence[int]) -> None:
    """Every pyarrow gives the values at the places, intervals at any depth among them."""
    array, values = ARRAYS[name], ARRAYS[name].to_pylist()

    taken = cellbits.take(array, places)

    assert taken.type == array.type
    assert taken.to_pylist() == [values[place] for place in places]


def test_rows_of_a_table_are_taken_across_chunks() -> None:
    """A table keeps its schema, and the chunks of its columns do not matter."""
    table = pa.table(ARRAYS).replace_schema_metadata({"k": "v"})
    values = table.to_pylist()

    taken = cellbits.take(pa.concat_tables([table, table]), [4, 2, 0])

    assert taken.schema.equals(table.schema, check_metadata=True)
    assert taken.to_pylist() == [values[1], values[2], values[0]]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_the_same_floats_are_the_same(kind: type[np.floating[Any]]) -> None:
    """NULL, NaN and both zeros are equal to themselves, and to nothing else.

    The floats are NumPy's, because pyarrow 14 neither casts to float16 nor makes it of Python's.
    """
    floats = pa.array(
        np.array([0.0, -0.0, np.nan, 2.0], kind), mask=np.array([False, False, False, True]), from_pandas=False
    )

    assert cellbits.same_floats(floats, floats.slice(0))
    for row in range(4):
        other = pa.concat_arrays([floats.slice(0, row), pa.array(np.array([1.0], kind)), floats.slice(row + 1)])
        assert not cellbits.same_floats(floats, other)


@pytest.mark.parametrize(
    ("arrow", "expected"),
    [
        (pa.float64(), True),
        (pa.int64(), False),
        (pa.list_(pa.struct([("a", pa.utf8()), ("b", pa.list_(pa.float32()))])), True),
        (pa.map_(pa.utf8(), pa.float16()), True),
        (pa.struct([]), False),
    ],
    ids=str,
)
def test_a_float_is_seen_at_any_depth(arrow: pa.DataType, expected: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """It decides whether pyarrow's plain equality is enough."""
    assert cellbits.has_float(arrow) is expected
