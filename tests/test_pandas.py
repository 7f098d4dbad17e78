"""Processes without pandas: what pyarrow then knows, and arrays as numpy without it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from conformance._pandas import to_numpy

_SPARED = """
import sys
import pyarrow as pa
from conformance._pandas import leave_pandas_out
leave_pandas_out()
leave_pandas_out()
assert pa.array([1, None], pa.int64()).null_count == 1
assert pa.table({"a": pa.array([[1]], pa.list_(pa.int8()))}).num_rows == 1
assert "pandas" not in sys.modules
import pandas as pd
numbers = pd.Series([1.0, float("nan")])
assert pa.array(numbers).to_pylist() == [1.0, None], "a Series has NULL where it has NaN"
assert pa.array(pd.Series(["a", pd.NA, pd.NaT], dtype=object)).to_pylist() == ["a", None, None]
"""
_CONVERTED = """
import sys
import pyarrow as pa
from conformance._pandas import leave_pandas_out
leave_pandas_out()
frame = pa.table({"a": pa.array([1, 2], pa.int64())}).to_pandas()
assert type(frame) is sys.modules["pandas"].DataFrame
assert pa.Table.from_pandas(frame, preserve_index=False).to_pydict() == {"a": [1, 2]}
"""
_NEVER = """
from conformance._pandas import leave_pandas_out
leave_pandas_out(always=True)
import pyarrow as pa
assert pa.array([1, None]).null_count == 1
try:
    import pandas
except ModuleNotFoundError as error:
    assert error.name == "pandas"
else:
    raise AssertionError
"""


@pytest.mark.parametrize("script", [_SPARED, _CONVERTED, _NEVER], ids=["imported later", "converted", "always"])
def test_pyarrow_finds_no_pandas_before_it_is_wanted(script: str) -> None:
    """Conversions with a type do without pandas; whoever imports it later gets all that pyarrow does with it."""
    pytest.importorskip("pandas")

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", [pa.bool_(), pa.int8(), pa.uint16(), pa.int32(), pa.int64()], ids=str)
def test_every_slice_has_the_values_that_pyarrow_finds(kind: pa.DataType) -> None:
    """An array may begin inside a byte of its truth values, and may be empty."""
    whole = pa.array([number % 3 == 0 for number in range(21)], pa.bool_()).cast(kind)
    for start in range(21):
        for count in (0, 1, 7, 21):
            part = whole.slice(start, count)

            found = to_numpy(part)

            assert found.dtype == kind.to_pandas_dtype()
            assert np.array_equal(found, part.to_numpy(zero_copy_only=False))


@pytest.mark.parametrize(
    "array", [pa.array([1, None], pa.int8()), pa.array([1.5], pa.float32())], ids=["NULL", "float"]
)
def test_other_arrays_are_refused(array: pa.Array) -> None:
    """An array of numpy has no NULL among integers, and pyarrow calls a type float that is another one in numpy."""
    with pytest.raises(TypeError, match="integers or truth values without NULL"):
        to_numpy(array)
