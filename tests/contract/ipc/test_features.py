"""The optional features that bytes use, each by itself and with others."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.ipc.features import LEVEL_OF, Feature, asked_of, features
from conformance.contract.ipc.view import IpcView
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
        ("types.int8", {Feature.CORE}),
        ("types.timestamp-us", {Feature.CORE}),
        ("types.interval-year-month", {Feature.CORE}),
        ("types.interval-month-day-nano", {Feature.NEWER_TYPES}),
        ("dictionary.index-int8", {Feature.DICTIONARIES}),
        ("dictionary.of-string-view", {Feature.DICTIONARIES, Feature.NEWER_TYPES}),
        ("dictionary.nested-list", {Feature.DICTIONARIES, Feature.NESTED_DICTIONARIES}),
        ("dictionary.delta", {Feature.DICTIONARIES, Feature.DELTAS}),
        ("dictionary.delta-of-two", {Feature.DICTIONARIES, Feature.DELTAS}),
        ("dictionary.replaced", {Feature.DICTIONARIES, Feature.REPLACEMENT}),
        ("dictionary.delta-then-replaced", {Feature.DICTIONARIES, Feature.DELTAS, Feature.REPLACEMENT}),
        ("dictionary.nested-replaced", {Feature.DICTIONARIES, Feature.NESTED_DICTIONARIES, Feature.REPLACEMENT}),
        ("types.decimal32", {Feature.NEWER_TYPES}),
        ("types.decimal256-negative-scale", {Feature.NEWER_TYPES, Feature.UNUSUAL}),
        ("types.decimal128-negative-scale", {Feature.UNUSUAL}),
    ],
)
def test_a_sample_uses_its_features(sample: str, expected: set[Feature]) -> None:
    """No other is found in it."""
    if sample not in SAMPLES:
        pytest.skip(f"pyarrow {pa.__version__} cannot write {sample}")
    assert features(IpcView(SAMPLES[sample].stream().encode(), Kind.STREAM)) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {Feature.CORE}),
        ({"metadata_version": V4}, {Feature.V4}),
        ({"metadata_version": V4, "use_legacy_format": True}, {Feature.V4, Feature.LEGACY}),
        ({"use_legacy_format": True}, {Feature.MIXED_FRAMING}),
        ({"compression": "lz4"}, {Feature.COMPRESSION}),
    ],
)
def test_an_option_of_a_writer_is_a_feature(options: dict[str, object], expected: set[Feature]) -> None:
    """The framing from before 0.15 is legacy in messages of its time, and a mixture in later ones."""
    assert features(IpcView(written("stream", PLAIN, **options), Kind.STREAM)) == expected


def test_what_follows_the_end_is_a_feature() -> None:
    """And so is a tensor."""
    assert features(IpcView(written("stream", PLAIN) + b"more", Kind.STREAM)) == {Feature.TRAILING_BYTES}
    assert features(IpcView(tensor(), Kind.TENSOR)) == {Feature.TENSORS}


@pytest.mark.parametrize(("identity", "expected"), [(7, set()), (-7, {Feature.UNUSUAL})])
def test_a_negative_number_of_a_dictionary_is_unusual(identity: int, expected: set[Feature]) -> None:
    """The format permits it."""
    schema = schema_message(field("x", "Int", bitWidth=32, is_signed=1) | {"dictionary": {"id": identity}})
    data = schema + dictionary_message(identity, [10, 20]) + batch_message(2, [(2, 0)], [b"", i4(0, 1)]) + END

    assert features(IpcView(data, Kind.STREAM)) == {Feature.DICTIONARIES} | expected


@pytest.mark.parametrize(("slots", "expected"), [(4, Feature.CORE), (5, Feature.UNUSUAL)])
def test_slots_to_spare_are_unusual(slots: int, expected: Feature) -> None:
    """The child of a list of fixed size may be longer than the lists together."""
    schema = schema_message(field("x", "FixedSizeList", [field("y", "Int", bitWidth=32, is_signed=1)], listSize=2))
    data = schema + batch_message(2, [(2, 0), (slots, 0)], [b"", b"", i4(*range(slots))]) + END

    assert features(IpcView(data, Kind.STREAM)) == {expected}


@pytest.mark.parametrize(
    ("used", "asked"),
    [
        (set(), ()),
        ({Feature.CORE}, (Feature.CORE,)),
        ({Feature.V4, Feature.DICTIONARIES}, (Feature.V4, Feature.DICTIONARIES)),
        ({Feature.DICTIONARIES, Feature.DELTAS}, (Feature.DELTAS,)),
        ({Feature.DELTAS, Feature.LEGACY, Feature.V4}, (Feature.DELTAS, Feature.LEGACY)),
        ({Feature.DELTAS, Feature.COMPRESSION, Feature.TENSORS}, (Feature.COMPRESSION, Feature.TENSORS)),
    ],
)
def test_a_refusal_counts_against_the_least_binding_features(used: set[Feature], asked: tuple[Feature, ...]) -> None:
    """Whoever lacks what nobody has to have may refuse the whole."""
    found = asked_of(frozenset(used))

    assert set(found) == set(asked)
    assert found == tuple(each for each in Feature if each in found)


def test_each_feature_has_a_level_and_a_clause() -> None:
    """Three of them every reader has to have."""
    assert {each for each in Feature if LEVEL_OF[each] is Level.MUST} == {
        Feature.CORE,
        Feature.V4,
        Feature.DICTIONARIES,
    }
    assert Feature.FILE_ORDER.clause == "reader.accepts.file-order"
