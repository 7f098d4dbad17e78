"""The optional features that bytes use, each by itself and with others."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.ipc.features import LEVEL_OF, BytesFeature, asked_of, features
from conformance.contract.ipc.ipcview import IpcView
from conformance.records import Level
from conformance.reference.ipc.samples import SAMPLES
from conformance.wire import Kind
from tests.contract.ipc.broken import END, tensor, written
from tests.wire.forge import batch_message, dictionary_message, field, i4, schema_message

PLAIN = pa.RecordBatch.from_pydict({"x": pa.array([1, None, 3], pa.int32())})
V4 = pa.ipc.MetadataVersion.V4


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("types.int8", {BytesFeature.CORE}),
        ("types.timestamp-us", {BytesFeature.CORE}),
        ("types.interval-year-month", {BytesFeature.CORE}),
        ("types.interval-month-day-nano", {BytesFeature.NEWER_TYPES}),
        ("dictionary.index-int8", {BytesFeature.DICTIONARIES}),
        ("dictionary.of-string-view", {BytesFeature.DICTIONARIES, BytesFeature.NEWER_TYPES}),
        ("dictionary.nested-list", {BytesFeature.DICTIONARIES, BytesFeature.NESTED_DICTIONARIES}),
        ("dictionary.delta", {BytesFeature.DICTIONARIES, BytesFeature.DELTAS}),
        ("dictionary.delta-of-two", {BytesFeature.DICTIONARIES, BytesFeature.DELTAS}),
        ("dictionary.replaced", {BytesFeature.DICTIONARIES, BytesFeature.REPLACEMENT}),
        ("dictionary.delta-then-replaced", {BytesFeature.DICTIONARIES, BytesFeature.DELTAS, BytesFeature.REPLACEMENT}),
        (
            "dictionary.nested-replaced",
            {BytesFeature.DICTIONARIES, BytesFeature.NESTED_DICTIONARIES, BytesFeature.REPLACEMENT},
        ),
        ("types.decimal32", {BytesFeature.NEWER_TYPES}),
        ("types.decimal256-negative-scale", {BytesFeature.NEWER_TYPES, BytesFeature.UNUSUAL}),
        ("types.decimal128-negative-scale", {BytesFeature.UNUSUAL}),
    ],
)
def test_a_sample_uses_its_features(sample: str, expected: set[BytesFeature]) -> None:
    """No other is found in it."""
    if sample not in SAMPLES:
        pytest.skip(f"pyarrow {pa.__version__} cannot write {sample}")
    assert features(IpcView(SAMPLES[sample].stream().encode(), Kind.STREAM)) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {BytesFeature.CORE}),
        ({"metadata_version": V4}, {BytesFeature.V4}),
        ({"metadata_version": V4, "use_legacy_format": True}, {BytesFeature.V4, BytesFeature.LEGACY}),
        ({"use_legacy_format": True}, {BytesFeature.MIXED_FRAMING}),
        ({"compression": "lz4"}, {BytesFeature.COMPRESSION}),
    ],
)
def test_an_option_of_a_writer_is_a_feature(options: dict[str, object], expected: set[BytesFeature]) -> None:
    """The framing from before 0.15 is legacy in messages of its time, and a mixture in later ones."""
    assert features(IpcView(written("stream", PLAIN, **options), Kind.STREAM)) == expected


def test_what_follows_the_end_is_a_feature() -> None:
    """And so is a tensor."""
    assert features(IpcView(written("stream", PLAIN) + b"more", Kind.STREAM)) == {BytesFeature.TRAILING_BYTES}
    assert features(IpcView(tensor(), Kind.TENSOR)) == {BytesFeature.TENSORS}


@pytest.mark.parametrize(("identity", "expected"), [(7, set()), (-7, {BytesFeature.UNUSUAL})])
def test_a_negative_number_of_a_dictionary_is_unusual(identity: int, expected: set[BytesFeature]) -> None:
    """The format permits it."""
    schema = schema_message(field("x", "Int", bitWidth=32, is_signed=1) | {"dictionary": {"id": identity}})
    data = schema + dictionary_message(identity, [10, 20]) + batch_message(2, [(2, 0)], [b"", i4(0, 1)]) + END

    assert features(IpcView(data, Kind.STREAM)) == {BytesFeature.DICTIONARIES} | expected


@pytest.mark.parametrize(("slots", "expected"), [(4, BytesFeature.CORE), (5, BytesFeature.UNUSUAL)])
def test_slots_to_spare_are_unusual(slots: int, expected: BytesFeature) -> None:
    """The child of a list of fixed size may be longer than the lists together."""
    schema = schema_message(field("x", "FixedSizeList", [field("y", "Int", bitWidth=32, is_signed=1)], listSize=2))
    data = schema + batch_message(2, [(2, 0), (slots, 0)], [b"", b"", i4(*range(slots))]) + END

    assert features(IpcView(data, Kind.STREAM)) == {expected}


@pytest.mark.parametrize(
    ("used", "asked"),
    [
        (set(), ()),
        ({BytesFeature.CORE}, (BytesFeature.CORE,)),
        ({BytesFeature.V4, BytesFeature.DICTIONARIES}, (BytesFeature.V4, BytesFeature.DICTIONARIES)),
        ({BytesFeature.DICTIONARIES, BytesFeature.DELTAS}, (BytesFeature.DELTAS,)),
        ({BytesFeature.DELTAS, BytesFeature.LEGACY, BytesFeature.V4}, (BytesFeature.DELTAS, BytesFeature.LEGACY)),
        (
            {BytesFeature.DELTAS, BytesFeature.COMPRESSION, BytesFeature.TENSORS},
            (BytesFeature.COMPRESSION, BytesFeature.TENSORS),
        ),
    ],
)
def test_a_refusal_counts_against_the_least_binding_features(
    used: set[BytesFeature], asked: tuple[BytesFeature, ...]
) -> None:
    """Whoever lacks what nobody has to have may refuse the whole."""
    found = asked_of(frozenset(used))

    assert set(found) == set(asked)
    assert found == tuple(each for each in BytesFeature if each in found)


def test_each_feature_has_a_level_and_a_clause() -> None:
    """Three of them every reader has to have."""
    assert {each for each in BytesFeature if LEVEL_OF[each] is Level.MUST} == {
        BytesFeature.CORE,
        BytesFeature.V4,
        BytesFeature.DICTIONARIES,
    }
    assert BytesFeature.FILE_ORDER.clause == "reader.accepts.file-order"
