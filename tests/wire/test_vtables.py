"""A vtable before what refers to its table is legal, rare, and seen."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.reference.flatbuffers import TableLayout
from conformance.reference.message import schema_message
from conformance.wire.vtables import has_early_vtable

NESTED = pa.schema([("a", pa.list_(pa.int64())), ("b", pa.struct([("x", pa.utf8()), ("y", pa.int64())]))])


def metadata(schema: pa.Schema, layout: TableLayout) -> bytes:
    """The metadata of a schema message in a layout."""
    message = schema_message(schema)
    message.layout = layout
    return message.encode()[8:]


@pytest.mark.parametrize(
    ("layout", "early"),
    [
        (TableLayout(), False),
        (TableLayout(depth_first=True), False),
        (TableLayout(vtables_last=True), False),
        (TableLayout(shared_vtables=False), False),
        (TableLayout(shared_first=True), True),
        (TableLayout(shared_first=True, depth_first=True), True),
    ],
    ids=str,
)
def test_an_item_may_have_the_vtable_of_its_list(layout: TableLayout, *, early: bool) -> None:
    """Only where a table points back to a vtable of an earlier table."""
    assert has_early_vtable(metadata(NESTED, layout)) is early


def test_columns_that_share_a_vtable_in_their_vector_are_none() -> None:
    """The vtable comes after the vector that refers to both tables."""
    flat = pa.schema([("a", pa.int64()), ("b", pa.int64())])

    assert not has_early_vtable(metadata(flat, TableLayout(shared_first=True)))


def test_the_bytes_of_arrow_have_none() -> None:
    """Its builder writes from back to front."""
    assert not has_early_vtable(NESTED.serialize().to_pybytes()[8:])


@pytest.mark.parametrize("data", [b"", bytes(64), b"\xff" * 64], ids=["empty", "zeros", "ones"])
def test_what_is_no_metadata_has_none(data: bytes) -> None:
    """Broken bytes are no legal ones."""
    assert not has_early_vtable(data)
