"""Tensors compared with the input of their writer: each loss has its clause, and what a writer may choose has none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from conformance.contract.ipc.judging import judge_ipc
from conformance.records import Outcome
from conformance.reference.ipc.samples.tensors import TENSORS
from conformance.reference.ipc.tensors import TensorModel, sparse_model, tensor_model
from conformance.wire import Kind, read_tensor

MATRIX = np.arange(6, dtype=np.int32).reshape(2, 3)
HOLES = np.array([[0, 9, 0], [0, 0, 3]], np.int64)
NAMES = ("rows", "columns")


def compared(given: TensorModel, found: bytes) -> dict[str, Outcome]:
    """The outcomes of the clauses on what was written."""
    verdicts = judge_ipc(found, Kind.TENSOR, given=read_tensor(given.encode()))
    return {one.clause: one.outcome for one in verdicts if one.clause.startswith("written.")}


def failing(given: TensorModel, found: TensorModel) -> list[str]:
    """The clauses that fail if a writer makes ``found`` of ``given``."""
    return [clause for clause, outcome in compared(given, found.encode()).items() if outcome is Outcome.FAIL]


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_is_itself(name: str) -> None:
    """Every sample passes all five clauses, dense and sparse, in each type and form."""
    model = TENSORS[name].model()

    assert list(compared(model, model.encode()).values()) == [Outcome.PASS] * 5


@pytest.mark.parametrize(
    ("given", "found", "clauses"),
    [
        (tensor_model(MATRIX), tensor_model(MATRIX.T.copy()), ["written.tensor-shape"]),
        (tensor_model(MATRIX), tensor_model(MATRIX.reshape(6)), ["written.tensor-shape"]),
        (tensor_model(MATRIX), tensor_model(MATRIX.astype(np.int64)), ["written.tensor-type"]),
        (tensor_model(MATRIX), tensor_model(MATRIX, kind=pa.date32()), ["written.tensor-type"]),
        (tensor_model(MATRIX, names=NAMES), tensor_model(MATRIX), ["written.tensor-names"]),
        (tensor_model(MATRIX, names=NAMES), tensor_model(MATRIX, names=NAMES[::-1]), ["written.tensor-names"]),
        (tensor_model(MATRIX), tensor_model(MATRIX + 1), ["written.tensor-values"]),
        (tensor_model(np.array([0.0])), tensor_model(np.array([-0.0])), ["written.tensor-values"]),
        (sparse_model(HOLES, "COO"), tensor_model(HOLES), ["written.tensor-form"]),
        (sparse_model(HOLES, "CSR"), sparse_model(HOLES, "CSC"), ["written.tensor-form"]),
        (
            sparse_model(HOLES, "CSF"),
            sparse_model(HOLES + np.eye(2, 3, dtype=np.int64), "CSF"),
            ["written.tensor-values"],
        ),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, list) else "",
)
def test_each_loss_has_its_clause(given: TensorModel, found: TensorModel, clauses: list[str]) -> None:
    """A difference from the input is reported once."""
    assert failing(given, found) == clauses


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (tensor_model(MATRIX), tensor_model(np.asfortranarray(MATRIX))),
        (tensor_model(MATRIX), tensor_model(MATRIX, strides=False)),
        (tensor_model(MATRIX), tensor_model(MATRIX, names=("", ""))),
        (tensor_model(np.array([np.nan])), tensor_model(np.array([np.nan]))),
        (sparse_model(HOLES, "COO"), sparse_model(HOLES, "COO", index=pa.int8(), strides=False)),
    ],
    ids=["column-major", "no strides", "empty names", "NaN", "narrow indices"],
)
def test_what_a_writer_may_choose(given: TensorModel, found: TensorModel) -> None:
    """Strides, empty names for none, and the width of indices."""
    assert failing(given, found) == []


def test_a_finding_names_the_place() -> None:
    """The position of the first value that differs, and both values."""
    changed = MATRIX.copy()
    changed[1, 2] = 7

    verdicts = judge_ipc(tensor_model(changed).encode(), Kind.TENSOR, given=read_tensor(tensor_model(MATRIX).encode()))

    (finding,) = next(one.findings for one in verdicts if one.clause == "written.tensor-values")
    assert (finding.required, finding.observed, finding.field) == ("5 at [1, 2]", "7", "data")


@pytest.mark.parametrize(
    "cut", [lambda data: data[:40], lambda data: data[:-8]], ids=["metadata is cut", "body is cut"]
)
def test_nothing_is_compared_that_cannot_be_read(cut: Callable[[bytes], bytes]) -> None:
    """Broken bytes fail the clauses on bytes; values that are not there are not compared."""
    model = tensor_model(MATRIX)
    data = cut(model.encode())

    assert "written.tensor-values" not in compared(model, data)
    assert Outcome.FAIL in {one.outcome for one in judge_ipc(data, Kind.TENSOR)}


def test_nothing_is_compared_where_nothing_is_known() -> None:
    """Without the tensor that was given, no clause on what was written is observed."""
    verdicts = judge_ipc(tensor_model(MATRIX).encode(), Kind.TENSOR, writer=True)

    assert not [one for one in verdicts if one.clause.startswith("written.")]
