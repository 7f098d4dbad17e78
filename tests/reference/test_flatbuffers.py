"""What the writer of FlatBuffers keeps changes no bytes: they follow from the tree alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.reference import flatbuffers
from conformance.reference.flatbuffers import MOST_KEPT, MOST_PACKED, TableLayout, write

LAYOUTS = [TableLayout(), TableLayout(shared_vtables=False), TableLayout(depth_first=True, explicit_defaults=True)]


def tree(name: str = "a") -> dict[str, Any]:
    """The tree of a schema with one field."""
    field = {"name": name, "nullable": 1, "type_type": 2, "type": {"bitWidth": 64, "is_signed": 1}}
    return {"version": 4, "header_type": 1, "header": {"fields": [field]}}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_kept_is_what_would_be_written(layout: TableLayout) -> None:
    """The second time as the first, and as without anything that is kept."""
    first = write("Message", tree(), layout=layout)

    assert write("Message", tree(), layout=layout) == first == flatbuffers._bytes_of("Message", tree(), layout)


def test_a_tree_that_was_changed_is_written_anew() -> None:
    """Mutants change the tree of a message that has been written."""
    model = tree()
    before = write("Message", model)
    model["header"]["fields"][0]["name"] = "b"

    assert write("Message", model) == write("Message", tree("b")) != before


@pytest.mark.parametrize("name", [b"a", "a", "aa"])
def test_trees_are_told_apart(name: str | bytes) -> None:
    """The bytes of a name are its text, and those of another are not."""
    assert (write("Message", tree(name)) == write("Message", tree())) is (name in ("a", b"a"))  # type: ignore[arg-type]


@pytest.mark.parametrize("made", [{"nodes": np.array([[1, 0]])}, {"variadicBufferCounts": np.array([1])}])
def test_other_values_are_not_kept(made: dict[str, Any]) -> None:
    """Two arrays of other types may look alike in what the tree is known by."""
    known = len(flatbuffers._WRITTEN)
    write("RecordBatch", {"length": 1, **made})

    assert len(flatbuffers._WRITTEN) == known


def test_an_array_is_not_taken_for_the_bytes_in_it() -> None:
    """Bytes in the place of numbers are one number each; the array has them in eights."""
    counts = np.array([1, 2])
    of_bytes = write("RecordBatch", {"length": 1, "variadicBufferCounts": counts.tobytes()})

    assert write("RecordBatch", {"length": 1, "variadicBufferCounts": counts}) != of_bytes


def test_a_tree_deeper_than_the_recursion_limit_is_written() -> None:
    """Hostile vectors nest so deep."""
    field: dict[str, Any] = {"name": "a"}
    for _ in range(3000):
        field = {"children": [field]}

    assert len(write("Schema", {"fields": [field]})) > 3000 * 8


def test_what_is_kept_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """In number, and each in size."""
    monkeypatch.setattr(flatbuffers, "_WRITTEN", {})
    for length in range(MOST_KEPT + 10):
        write("RecordBatch", {"length": length})
    write("Message", tree("a" * MOST_PACKED))

    assert len(flatbuffers._WRITTEN) == 10


@pytest.mark.parametrize("wrong", [{"header": {"fields": [{"nonsense": 1}]}}, {"nonsense": 1}])
def test_an_unknown_slot_is_an_error_each_time(wrong: dict[str, Any]) -> None:
    """An error is not kept."""
    for _ in range(2):
        with pytest.raises(KeyError, match="nonsense"):
            write("Message", {**tree(), **wrong})
