"""What a writer has to write of a sample, by the form in which it was given it."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.engine.given import expected_of, expected_tensors, not_asked
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.ipc.samples.tensors import TENSORS
from conformance.wire.plain import plain_table


@pytest.mark.parametrize("name", SAMPLES)
def test_nulls_are_valid_and_nothing_else(name: str) -> None:
    """Of every type, also of those that have no validity of their own: as many rows, the same schema."""
    batches = SAMPLES[name].batches

    made = expected_of(batches, "nulls")

    assert [batch.num_rows for batch in made] == [batch.num_rows for batch in batches]
    for batch, given in zip(made, batches, strict=True):
        batch.validate()
        assert batch.schema.equals(given.schema, check_metadata=True)
    assert {value for column in plain_table(made).columns for value in column} <= {None}


@pytest.mark.parametrize("form", ["", "sliced", "chunked", "cut", "encoded", "built"])
def test_other_forms_have_the_rows_of_the_sample(form: str) -> None:
    """They are other arrays with the same values."""
    batches = SAMPLES["types.int32"].batches

    assert expected_of(batches, form) is batches


def test_only_encoded_columns_have_indices_of_their_own() -> None:
    """A writer of them is not asked for the indices of the sample."""
    assert not_asked("encoded") == {"written.encoding"}
    assert not_asked("") == not_asked("nulls") == not_asked("built") == frozenset()


def test_a_negative_zero_may_be_lost_where_a_tensor_was_sparse() -> None:
    """Two tensors are permitted, of which the second has a zero in its place; without a sparse form, one."""
    sample = TENSORS["dense.vector"]

    exact, other = (reading.to_numpy() for reading in expected_tensors(sample, "coo"))

    assert np.signbit(exact).tolist() == [False, True, False]
    assert np.signbit(other).tolist() == [False, False, False]
    assert (exact == other).all()
    assert len(expected_tensors(sample, "")) == 1


@pytest.mark.parametrize("name", [name for name in TENSORS if name != "dense.vector"])
def test_every_other_tensor_stays_as_it_is(name: str) -> None:
    """No other sample has a negative zero."""
    assert len(expected_tensors(TENSORS[name], "coo")) == 1
