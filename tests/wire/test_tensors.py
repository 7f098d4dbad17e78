"""Tensors: what pyarrow writes is read as it was meant, and sparse ones by their index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.wire import Rule, SparseTensor, Tensor, UndecodableError, UnsupportedHereError, read_tensor
from tests.wire.breaking import END, GOOD_SCHEMA
from tests.wire.breaking_files import GOOD_SPARSE, GOOD_TENSOR, TENSORS
from tests.wire.forge import i1, i4, i8, type_code
from tests.wire.sealing import Index, coo, csf, csx, sparse_message, tensor_message

MATRIX = np.array([[0, 5, 0, 6], [0, 0, 7, 0], [8, 0, 0, 9]], np.int32)


def _rules(data: bytes) -> list[Rule]:
    return [fault.rule for fault in read_tensor(data).faults]


def _written(values: np.ndarray[Any, Any], names: Sequence[str] = ()) -> bytes:
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(values, dim_names=list(names) or None), sink)
    return bytes(sink.getvalue().to_pybytes())


ARRAYS = {
    "vector": np.arange(8, dtype=np.int64),
    "box": np.arange(24, dtype=np.int32).reshape(2, 3, 4),
    "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "every second": np.arange(16, dtype=np.uint8).reshape(4, 4)[::2],
    "half floats": np.array([[1.5, -0.0], [2, 3]], np.float16),
    "empty": np.zeros((0, 3), np.float32),
    "scalar": np.array(5),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_tensors_of_pyarrow_have_no_fault(name: str) -> None:
    """Every shape is read whole, without a remark, and comes out as the array that went in."""
    reading = read_tensor(_written(ARRAYS[name]))

    made = reading.to_numpy()

    assert reading.faults == []
    assert made.dtype == ARRAYS[name].dtype
    assert np.array_equal(made, ARRAYS[name])


def test_a_body_of_odd_length_is_told() -> None:
    """Where values end short of 8 bytes, pyarrow writes a body that is no multiple of 8."""
    assert _rules(_written(np.array([1, 2, 3], np.int32))) == [Rule.MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8]


def test_names_and_strides_are_read() -> None:
    """Dimensions keep their names, and strides are bytes."""
    tensor = read_tensor(_written(ARRAYS["columns first"], ["row", "column"])).tensor

    assert isinstance(tensor, Tensor)
    assert tensor.names == ("row", "column")
    assert tensor.shape == (2, 3)
    assert tensor.strides == (8, 16)


def test_strides_are_those_of_row_major_order_if_there_are_none() -> None:
    """An absent vector of strides is no fault."""
    reading = read_tensor(GOOD_TENSOR)

    assert isinstance(reading.tensor, Tensor)
    assert reading.tensor.strides == (12, 4)
    assert reading.to_numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_values_may_be_shared_by_strides_of_0() -> None:
    """The format asks strides not to be negative, and no more."""
    reading = read_tensor(tensor_message(2, 3, body=i4(7), strides=[0, 0]))

    assert reading.faults == []
    assert reading.to_numpy().tolist() == [[7] * 3] * 2


@pytest.mark.parametrize("rule", list(TENSORS), ids=str)
def test_a_deviation_is_told_once(rule: Rule) -> None:
    """One fault is one finding, except for bytes that then belong to no buffer."""
    aside = {Rule.BODY_PADDING_NONZERO, Rule.BODY_UNACCOUNTED}

    assert [found for found in _rules(TENSORS[rule]) if found not in aside] == [rule]


@pytest.mark.parametrize("data", GOOD_SPARSE, ids=["COO", "CSX", "CSF"])
def test_each_index_leads_to_its_values(data: bytes) -> None:
    """With every form of index, the values are at its positions."""
    reading = read_tensor(data)

    assert reading.faults == []
    assert isinstance(reading.tensor, SparseTensor)
    made = reading.to_numpy()
    assert made[0].tolist() == [0, 5, 0]
    assert reading.to_coordinates()[0].tolist() == [0, 1]
    assert np.count_nonzero(made) == reading.tensor.length


_VALUES = [5, 6, 7, 8, 9]
FORMS = {
    "coordinates": coo((0, 1), (0, 3), (1, 2), (2, 0), (2, 3), isCanonical=1),
    "coordinates, columns first": coo((0, 0), (1, 2), (2, 1), (3, 2), (0, 3), indicesStrides=[8, 40]),
    "rows": csx([0, 2, 3, 5], [1, 3, 2, 0, 3]),
    "fibers": csf([[0, 2, 3, 5]], [[0, 1, 2], [1, 3, 2, 0, 3]], [0, 1]),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_says_the_same(name: str) -> None:
    """One matrix in every form of index."""
    reading = read_tensor(sparse_message([3, 4], _VALUES, FORMS[name]))

    assert reading.faults == []
    assert reading.to_numpy().tolist() == MATRIX.tolist()


def test_columns_and_reversed_fibers_say_the_same() -> None:
    """Axes in another order lead to the same places."""
    for index in (csx([0, 1, 2, 3, 5], [2, 0, 1, 0, 2], axis=1), csf(*_COLUMNS, [1, 0])):
        reading = read_tensor(sparse_message([3, 4], [8, 5, 7, 6, 9], index))
        assert reading.faults == []
        assert reading.to_numpy().tolist() == MATRIX.tolist()


_COLUMNS = [[0, 1, 2, 3, 5]], [[0, 1, 2, 3], [2, 0, 1, 0, 2]]


@pytest.mark.parametrize(
    ("index", "rule"),
    [
        (csx([1, 2, 3, 5], [1, 3, 2, 0, 3]), Rule.SPARSE_POINTERS),
        (csx([0, 2, 3, 4], [1, 3, 2, 0, 3]), Rule.SPARSE_POINTERS),
        (csx([0, 2, 3], [1, 3, 2, 0, 3]), Rule.SPARSE_BUFFER_TOO_SMALL),
        (csf([[0, 2, 3]], [[0, 1, 2], [1, 3, 2, 0, 3]], [0, 1]), Rule.SPARSE_BUFFER_TOO_SMALL),
        (csf([[0, 2, 3, 5]], [[0, 1, 3], [1, 3, 2, 0, 3]], [0, 1]), Rule.SPARSE_INDEX_RANGE),
        (coo((0, 1), (0, 3), (1, 2), (1, 2), (2, 3), isCanonical=1), Rule.SPARSE_NOT_CANONICAL),
        (coo((0, 1), (0, 3), (1, 2), (2, -1), (2, 3)), Rule.SPARSE_INDEX_RANGE),
        (coo((0, 1), (0, 3), (1, 2), (2, 0), (2, 3), indicesStrides=[32, 8]), Rule.SPARSE_BUFFER_TOO_SMALL),
    ],
)
def test_an_index_that_lies_is_told(index: Index, rule: Rule) -> None:
    """Pointers, sizes and places are judged at every level."""
    assert _rules(sparse_message([3, 4], _VALUES, index)) == [rule]


def test_what_is_broken_is_not_decoded() -> None:
    """An index outside of its dimension leads nowhere."""
    with pytest.raises(UndecodableError, match=r"sparse\.index-range"):
        read_tensor(TENSORS[Rule.SPARSE_INDEX_RANGE]).to_numpy()


def test_what_is_out_of_order_is_decoded() -> None:
    """An untrue flag is a violation, but every value has its place."""
    assert read_tensor(TENSORS[Rule.SPARSE_NOT_CANONICAL]).to_numpy().tolist() == [[0, 6, 0], [0, 0, 5]]


def test_a_tensor_too_large_to_spread_out_has_coordinates() -> None:
    """A declared shape costs nothing to read."""
    reading = read_tensor(sparse_message([1 << 40, 1 << 40], [5], coo((7, 1 << 39))))

    assert reading.faults == []
    with pytest.raises(UnsupportedHereError, match="takes more than"):
        reading.to_numpy()
    assert reading.to_coordinates().tolist() == [[7, 1 << 39]]


def test_a_sparse_tensor_may_hold_nothing() -> None:
    """No value at all is a length of 0, and no fault."""
    reading = read_tensor(sparse_message([2, 3], [], coo()))

    assert reading.faults == []
    assert reading.to_coordinates().shape == (0, 2)


def test_two_values_in_one_place_are_not_added_up() -> None:
    """The format does not say what they come to."""
    with pytest.raises(UnsupportedHereError, match="same coordinates"):
        read_tensor(sparse_message([2, 3], [5, 6], coo((0, 1), (0, 1)))).to_numpy()


def test_booleans_are_not_decoded() -> None:
    """The format does not define their layout in a tensor, and the suite does not guess it."""
    with pytest.raises(UnsupportedHereError, match="expected values of one byte or more"):
        read_tensor(tensor_message(2, body=i1(1), type_type=type_code("Bool"), type={})).to_numpy()


def test_values_that_are_no_numbers_are_raw_bytes() -> None:
    """A decimal comes out as its 16 bytes."""
    kind = {"type_type": type_code("Decimal"), "type": {"precision": 38, "scale": 2}}

    made = read_tensor(tensor_message(2, body=i8(1, 0, 2, 0), **kind)).to_numpy()

    assert made.dtype == np.dtype("V16")
    assert bytes(made[1])[:8] == i8(2)


def test_months_are_integers() -> None:
    """An interval of months is one number, unlike the other intervals."""
    kind = {"type_type": type_code("Interval"), "type": {"unit": 0}}

    made = read_tensor(tensor_message(2, body=i4(1, -2), **kind)).to_numpy()

    assert made.tolist() == [1, -2]


def test_other_messages_are_no_tensors() -> None:
    """The header says so, and bytes after a tensor are reported."""
    assert _rules(GOOD_SCHEMA) == [Rule.MESSAGE_HEADER_KIND]
    assert _rules(END) == [Rule.MESSAGE_END_OF_STREAM]
    assert _rules(b"") == [Rule.PREFIX_EMPTY]
    assert _rules(GOOD_TENSOR + GOOD_TENSOR) == [Rule.MESSAGE_SECOND_MESSAGE]


@pytest.mark.parametrize("cut", range(8, len(GOOD_SPARSE[2]), 24))
def test_a_cut_tensor_is_a_violation(cut: int) -> None:
    """Every cut of a tensor is reported, and nothing is decoded."""
    reading = read_tensor(GOOD_SPARSE[2][:-cut])

    assert reading.violations
    with pytest.raises(UndecodableError):
        reading.to_numpy()


def test_dimensions_without_end_are_read_in_time() -> None:
    """A shape of thousands of dimensions is no more than its bytes."""
    reading = read_tensor(tensor_message(*[1] * 5000, body=i4(1)))

    assert reading.faults == []
    with pytest.raises(UnsupportedHereError):
        reading.to_numpy()


@pytest.mark.parametrize("rest", [[0], [1 << 62], [-1, 7]], ids=["falling", "huge", "negative"])
def test_what_stands_after_the_pointers_is_no_pointer(rest: list[int]) -> None:
    """A buffer may be longer than its pointers; what fills it up neither places a value nor asks for memory."""
    rows = read_tensor(sparse_message([2, 3], [5, 6], csx([0, 1, 2, *rest], [1, 2])))
    fibers = read_tensor(sparse_message([2, 3], [5, 6], csf([[0, 1, 2, *rest]], [[0, 1], [1, 2]], [0, 1])))

    assert rows.to_coordinates().tolist() == [[0, 1], [1, 2]]
    assert fibers.to_coordinates().tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("data", [tensor_message(*[1] * 70, body=i4(1)), sparse_message([1] * 70, [5], coo([0] * 70))])
def test_only_some_of_many_dimensions_are_named(data: bytes) -> None:
    """A shape may have any number of dimensions; the text of an error has the first 16 of them."""
    with pytest.raises(UnsupportedHereError) as raised:
        read_tensor(data).to_numpy()

    assert str(raised.value).startswith(f"numpy has no array for shape {(1,) * 16}: ")


def test_coordinates_are_read_by_their_strides() -> None:
    """Coordinates may lie column by column; their buffer must reach the last one, and not a byte more."""
    rows = [(0, 1), (1, 2)]
    by_columns = coo(*zip(*rows, strict=True), indicesStrides=[8, 16])
    spread = coo((0, 1), (9, 9), (1, 2), indicesStrides=[32, 8])
    too_far = coo((0, 1), (9, 9), (1, 2), indicesStrides=[32, 16])

    assert read_tensor(sparse_message([2, 3], [5, 6], by_columns)).to_coordinates().tolist() == [[0, 1], [1, 2]]
    assert read_tensor(sparse_message([2, 3], [5, 6], spread)).to_coordinates().tolist() == [[0, 1], [1, 2]]
    (fault,) = read_tensor(sparse_message([2, 3], [5, 6], too_far)).faults
    assert fault.rule is Rule.SPARSE_BUFFER_TOO_SMALL
    assert fault.observed == "48 bytes, where the strides (32, 16) need 56"


def test_a_fault_of_an_entry_spans_the_entry() -> None:
    """A wrong index is shown at its own 8 bytes, behind the buffers before it."""
    reading = read_tensor(sparse_message([1, 20], range(9), csx([0, 9], [*range(8), 99])))

    (fault,) = reading.faults
    assert fault.rule is Rule.SPARSE_INDEX_RANGE
    assert fault.observed == "the index 99 in dimension 1 of size 20, entry 8 (1 such entry)"
    assert reading.message is not None
    start = reading.message.body_start + 64 + 8 * 8
    assert (fault.start, fault.end) == (start, start + 8)


def test_buffers_in_another_order_are_decoded() -> None:
    """The order of buffers in the body is judged, and does not matter to their values."""
    ordered = csx([0, 1, 3], [1, 0, 2])

    def swapped(layer: Any) -> tuple[int, Any]:
        number, slots = ordered(layer)
        first, second = bytes(layer.body[:64]), bytes(layer.body[64:128])
        layer.body[:] = second + first
        pointers, indices = slots["indptrBuffer"], slots["indicesBuffer"]
        return number, {**slots, "indptrBuffer": (64, pointers[1]), "indicesBuffer": (0, indices[1])}

    reading = read_tensor(sparse_message([2, 3], [5, 6, 7], swapped))

    assert [fault.rule for fault in reading.faults] == [Rule.BUFFER_ORDER]
    assert reading.faults[0].observed == "offsets [64, 0, 128]"
    assert reading.to_numpy().tolist() == [[0, 5, 0], [6, 0, 7]]


@pytest.mark.parametrize("rule", [Rule.SPARSE_INDEX_RANGE, Rule.SPARSE_BUFFER_OVERLAP])
def test_an_error_names_three_faults(rule: Rule) -> None:
    """Why a tensor is not decoded is said by its first three violations, or notes where it has no violation."""
    reading = read_tensor(TENSORS[rule])
    reading.faults *= 4

    with pytest.raises(UndecodableError) as raised:
        reading.to_numpy()

    assert str(raised.value) == "the tensor cannot be decoded: " + "; ".join(map(str, reading.faults[:3]))


@pytest.mark.parametrize("slot", ["indptrBuffers", "indicesBuffers", "axisOrder"])
def test_fibers_without_a_part_of_their_index_are_not_followed(slot: str) -> None:
    """A vector that is missing from the index is reported, and the tensor is not decoded."""
    complete = csf([[0, 1, 2], [0, 1, 2]], [[0, 1], [0, 1], [0, 1]], [0, 1, 2])

    def lay(layer: Any) -> Any:
        number, slots = complete(layer)
        return number, {name: value for name, value in slots.items() if name != slot}

    reading = read_tensor(sparse_message([2, 2, 2], [5, 6], lay))

    assert [fault.rule for fault in reading.faults] == [Rule.FLATBUF_REQUIRED_MISSING]
    assert reading.tensor is None


def test_an_index_is_canonical_only_if_it_says_so() -> None:
    """The flag of coordinates is read; other indices have none."""
    canonical = sparse_message([2, 3], [5, 6], coo((0, 1), (1, 2), isCanonical=1))
    tensors = [read_tensor(data).tensor for data in (canonical, *GOOD_SPARSE)]

    assert [isinstance(each, SparseTensor) and each.index.canonical for each in tensors] == [True, False, False, False]
