"""Batches that libraries import over the C data interface: slices with offsets that hold the rows of the bytes."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pyarrow as pa
import pytest

from conformance.readers.ipc import Decoded, Unsupported, arrowcpp
from conformance.readers.ipc.arrowcpp import AFTER, measured, nulls_agree
from conformance.readers.ipc.cinterface import exported
from conformance.reference.ipc.combined import make, row_of
from conformance.wire.plain import differences, plain_table


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("layout", ["utf8", "union-sparse", "dictionary-with-null", "struct-of-runs"])
def test_the_slices_hold_the_rows(kind: str, layout: str) -> None:
    """Every slice has an offset, and one of each batch has no rows."""
    made = make(row_of(f"combined.{kind}.V5.plain.little.usual.several.some.{layout}"))

    batches = list(pa.RecordBatchReader.from_stream(exported(kind, made.data)))

    assert differences(plain_table(made.batches), plain_table(batches)) == []
    assert [batch.num_rows for batch in batches] == [4, 5, 0, 0, 0, 0, 2, 3, 0]
    assert all(column.offset for batch in batches if batch.num_rows for column in batch.columns)


def test_bytes_without_batches_cannot_be_imported() -> None:
    """The suite's own decoder gives none, so nothing is the library's fault."""
    with pytest.raises(Unsupported, match="no schema"):
        exported("stream", b"")


def test_a_pyarrow_that_imports_no_capsule_lacks_this_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before version 15 there is no ``from_stream``; that is no fault of what is read."""
    source = exported("stream", make(row_of("combined.stream.V5.plain.little.usual.several.some.utf8")).data)
    monkeypatch.setattr(arrowcpp, "pa", SimpleNamespace(RecordBatchReader=object))

    with pytest.raises(Unsupported, match="does not import by the PyCapsule interface"):
        arrowcpp.imported(source)


class _Forgetful:
    """A column that says that nothing is null."""

    type = pa.int8()

    def is_null(self) -> pa.Array:
        """No nulls."""
        return pa.array([False, False])


def test_a_column_that_denies_its_nulls_is_found() -> None:
    """The values and ``is_null`` have to agree."""
    with pytest.raises(ValueError, match="is_null: expected"):
        nulls_agree(_Forgetful(), [False, True])


def test_inspecting_changes_nothing() -> None:
    """Structs and nulls are looked at, and the batches come back."""
    batch = pa.record_batch({"s": pa.array([{"a": 1}, None]), "n": pa.array([None, 2])})

    assert list(AFTER["inspected"](Decoded(batch.schema, [batch]))) == [batch]


class _Cast:
    """A column that becomes another one when it is cast."""

    type = pa.int8()

    def __init__(self, becomes: pa.Array) -> None:
        self._becomes = becomes

    def cast(self, kind: pa.DataType) -> pa.Array:
        """The other column."""
        assert kind == self.type
        return self._becomes


class _Batch:
    """A batch of one such column, each of whose slices is itself."""

    num_rows = 1
    schema = pa.schema([("x", pa.int8())])

    def __init__(self, becomes: pa.Array) -> None:
        self.columns = [_Cast(becomes)]

    def slice(self, offset: int, length: int) -> _Batch:
        """The batch."""
        del offset, length
        return self


def test_a_cast_to_the_same_type_is_validated_and_handed_back() -> None:
    """Its rows are compared; an array that is none is an error of its own."""
    broken = pa.Array.from_buffers(pa.utf8(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    other, bad = (Decoded(_Batch.schema, [_Batch(made)]) for made in (pa.array([7], pa.int8()), broken))

    assert next(AFTER["recast"](other)).to_pydict() == {"x": [7]}
    with pytest.raises(pa.ArrowInvalid):
        next(AFTER["recast"](bad))


def test_what_pandas_cannot_hold_is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batches come back; without pandas, nothing is compared."""
    batch = pa.record_batch({"t": pa.array([1], pa.int64()).cast(pa.time64("ns")), "n": pa.array([2])})
    made = Decoded(batch.schema, [batch])

    assert list(AFTER["pandas"](made)) == [batch]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(Unsupported, match="pandas"):
        list(AFTER["pandas"](made))


def test_maps_and_sizes_are_asked_for() -> None:
    """A size below zero is found."""

    class Negative:
        nbytes, columns = -1, ()

        def get_total_buffer_size(self) -> int:
            return 0

    with pytest.raises(ValueError, match="nbytes: expected the size"):
        measured(Negative())
