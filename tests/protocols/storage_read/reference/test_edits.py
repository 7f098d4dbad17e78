"""Systematic changes: each differs from the original in one place, and every kind of slot has its changes."""

from __future__ import annotations

import pyarrow as pa

from conformance.contract import proto
from conformance.protocols.storage_read.reference.edits import edit_protobuf, edit_tree
from conformance.reference.message import batch_message, schema_message

BATCH = pa.record_batch({"n": pa.array([1, None], pa.int64()), "t": pa.array(["a", "b"])})


def changes(path: str) -> set[str]:
    """The changes made at one path of the batch's metadata."""
    tree, _ = batch_message(BATCH).complete()
    return {edit.change for edit in edit_tree("Message", tree, "Batch") if edit.path == path}


def test_a_signed_number_is_made_larger_smaller_extreme_and_negative() -> None:
    """The length of a batch of two rows becomes everything that a length is not."""
    assert changes("Batch.header.length") == {"absent", "+1", "-1", "zero", "maximal", "minimal", "negative"}


def test_a_vector_loses_doubles_and_exchanges_its_items() -> None:
    """The list of buffers is emptied, cut, lengthened; buffers of different places are exchanged."""
    assert changes("Batch.header.nodes") == {
        "absent", "empty", "last dropped", "last doubled", "first two exchanged",
    }  # fmt: skip


def test_a_struct_has_its_fields_changed_one_at_a_time() -> None:
    """An offset and a length are changed apart from each other, and exchanged."""
    assert {"+1", "maximal", "negative"} <= changes("Batch.header.buffers[1].offset")
    assert "fields exchanged" in changes("Batch.header.buffers[0]")


def test_a_change_is_one_change() -> None:
    """No change gives back the original tree."""
    message = schema_message(BATCH.schema)
    tree, _ = message.complete()

    edits = list(edit_tree("Message", tree, "Schema"))

    assert len(edits) > 50
    assert all(edit.result != tree for edit in edits)


def test_unset_fields_of_a_message_are_set() -> None:
    """A field that was absent is given a value, one that was there is taken away."""
    message = proto.ReadRowsResponse(row_count=3)

    edits = {(edit.path, edit.change) for edit in edit_protobuf(message)}

    assert ("ReadRowsResponse.row_count", "absent") in edits
    assert ("ReadRowsResponse.uncompressed_byte_size", "+1") in edits


def test_nested_messages_are_changed_in_place() -> None:
    """A change inside a sub-message leaves its siblings alone."""
    message = proto.ReadSession(name="n", streams=[proto.ReadStream(name="a"), proto.ReadStream(name="b")])

    edit = next(edit for edit in edit_protobuf(message) if edit.path == "ReadSession.streams[1].name")

    changed = proto.ReadSession.FromString(edit.result)
    assert changed.streams[0].name == "a"
    assert changed.streams[1].name != "b"
    assert changed.name == "n"
