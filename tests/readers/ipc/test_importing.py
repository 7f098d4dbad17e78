"""Batches that libraries import over the C data interface: slices with offsets that hold the rows of the bytes."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest

from conformance.readers.ipc import Decoded, Unsupported, arrowcpp
from conformance.readers.ipc.arrowcpp import AFTER, nulls_agree
from conformance.readers.ipc.importing import exported
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
