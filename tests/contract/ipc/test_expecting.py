"""Expectations: which bytes are to be read, which refused, and which leave a reader free."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES, Role
from conformance.contract.closed import Tier, Validity
from conformance.contract.ipc.expecting import expect
from conformance.contract.ipc.features import LEVEL_OF, BytesFeature, asked_of
from conformance.contract.ipc.judging import ipc_clauses
from conformance.contract.ipc.tiers import REFUSED, ROWS_CERTAIN, UNDECIDED
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import Level
from conformance.reference.ipc.hostile import HOSTILE
from conformance.reference.ipc.mutants import IPC_MUTANTS
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.ipc.tensors import tensor_model
from conformance.reference.ipc.variations import IPC_VARIATIONS
from conformance.reference.ipc.writer import stream_model
from conformance.wire import Kind, PlainTable, Rule, Severity, plain_table
from tests.contract.ipc.broken import END, GOOD, broken, tensor, written
from tests.wire.forge import batch_message, dictionary_message, field, i4, schema_message

PLAIN = pa.RecordBatch.from_pydict({"x": pa.array([1, None, 3], pa.int32())})
INT = field("x", "Int", bitWidth=32, is_signed=1)
SCHEMA = schema_message(INT)
ENCODED_SCHEMA = schema_message(INT | {"dictionary": {"id": 7}})
NULLS = batch_message(2, [(2, 2)], [b"\0", i4(0, 0)])


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_the_core_is_to_be_read(kind: str) -> None:
    """A plain stream or file has to be accepted, with the rows that are in it."""
    made = expect(written(kind, PLAIN, PLAIN), Kind(kind))

    assert (made.result, made.tier, made.clauses) == (Validity.VALID, Tier.CORE, ("reader.accepts.core",))
    assert made.rows == PlainTable(("x",), ([1, None, 3, 1, None, 3],), 6)


def test_a_schema_without_batches_has_columns_and_no_rows() -> None:
    """There are names even where there is nothing else."""
    assert expect(SCHEMA + END).rows == PlainTable(("x",), ([],), 0)


@pytest.mark.parametrize(
    ("options", "batch", "clauses"),
    [
        (
            {"use_legacy_format": True, "metadata_version": pa.ipc.MetadataVersion.V4},
            PLAIN,
            ("reader.accepts.legacy",),
        ),
        ({"use_legacy_format": True}, PLAIN, ("reader.accepts.mixed-framing",)),
        ({}, pa.RecordBatch.from_pydict({"x": pa.nulls(1, pa.decimal128(5, -2))}), ("reader.accepts.unusual",)),
        ({"metadata_version": pa.ipc.MetadataVersion.V4}, PLAIN, ("reader.accepts.v4",)),
        ({"compression": "zstd"}, PLAIN, ("reader.accepts.compression",)),
        ({}, GOOD, ("reader.accepts.dictionaries",)),
        ({"compression": "lz4"}, GOOD, ("reader.accepts.compression",)),
        ({}, pa.RecordBatch.from_pydict({"x": pa.array([1], pa.decimal256(5, 0))}), ("reader.accepts.newer-types",)),
        (
            {},
            pa.RecordBatch.from_pydict({"x": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}),
            ("reader.accepts.newer-types",),
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_feature_has_its_clause(options: dict[str, object], batch: pa.RecordBatch, clauses: tuple[str, ...]) -> None:
    """A refusal is attributed to the feature with the lowest level."""
    made = expect(written("stream", batch, **options), Kind.STREAM)

    assert (made.result, made.clauses) == (Validity.VALID, clauses)
    assert made.tier is (
        Tier.CORE if clauses[0] in ("reader.accepts.v4", "reader.accepts.dictionaries") else Tier.OPTIONAL
    )
    assert made.rows is not None


def test_a_tensor_is_optional() -> None:
    """Implementations need not read tensors."""
    made = expect(tensor())

    assert (made.result, made.tier, made.clauses) == (Validity.VALID, Tier.OPTIONAL, ("reader.accepts.tensors",))


@pytest.mark.parametrize("rule", broken())
def test_a_broken_rule_is_taken_by_its_tier(rule: Rule) -> None:
    """Structure is refused by its clause, content is free, notes leave the bytes legal or undecided."""
    kind, data = broken()[rule]
    made = expect(data, kind)

    if rule in REFUSED:
        assert (made.result, made.tier) == (Validity.INVALID, Tier.STRUCTURE)
        assert made.clauses in {(REFUSED[rule],), ("reader.refuses.flatbuffers",), ("reader.refuses.body",)}
        assert made.rows is None
    elif rule.severity is Severity.VIOLATION and rule not in UNDECIDED:
        assert made.result is Validity.INVALID
    else:
        assert made.result is not Validity.INVALID
    assert made.reason


@pytest.mark.parametrize(("slots", "clauses"), [(4, ("reader.accepts.core",)), (5, None)])
def test_a_list_of_fixed_size_may_have_slots_to_spare(slots: int, clauses: tuple[str, ...] | None) -> None:
    """A child that is longer than the lists together is legal, and is asked of nobody as a plain one is."""
    schema = schema_message(field("x", "FixedSizeList", [INT], listSize=2))
    data = schema + batch_message(2, [(2, 0), (slots, 0)], [b"", b"", i4(*range(slots))]) + END

    made = expect(data, Kind.STREAM)

    assert (made.clauses == ("reader.accepts.core",)) is (clauses is not None)


def test_a_late_dictionary_is_permitted_and_has_rows() -> None:
    """The texts conflict: who accepts it returns nulls."""
    data = ENCODED_SCHEMA + NULLS + dictionary_message(7, [10, 20]) + END

    made = expect(data, Kind.STREAM)

    assert (made.result, made.clauses, made.rows) == (
        Validity.PERMITTED,
        (),
        PlainTable(("x",), ([None, None],), 2),
    )


def test_content_leaves_a_reader_free() -> None:
    """Text that is no UTF-8 may be accepted, and nobody can say what it is."""
    batch = batch_message(1, [(1, 0)], [b"", i4(0, 1), b"\xff"])
    made = expect(schema_message(field("x", "Utf8")) + batch + END, Kind.STREAM)

    assert (made.result, made.tier, made.clauses, made.rows) == (Validity.INVALID, Tier.CONTENT, (), None)


def test_rows_that_stand_are_expected_of_who_accepts() -> None:
    """A dictionary that no field names changes no row; who passes over it returns all of them."""
    data = SCHEMA + dictionary_message(8, [10]) + batch_message(2, [(2, 0)], [b"", i4(1, 2)]) + END

    made = expect(data, Kind.STREAM)

    assert (made.result, made.tier, made.rows) == (Validity.INVALID, Tier.CONTENT, PlainTable(("x",), ([1, 2],), 2))


@pytest.mark.parametrize("check", ["content-checksum", "block-checksum", "content-size", "header-checksum"])
def test_checks_of_a_frame_may_be_ignored(check: str) -> None:
    """LZ4's format lets decoders ignore checksums and the content size; one that does returns the frame's content."""
    made = next(IPC_MUTANTS[f"message.compression.{check}-wrong"].make())

    expectation = expect(made.data, Kind.STREAM)

    assert (expectation.result, expectation.tier, expectation.clauses) == (Validity.INVALID, Tier.CONTENT, ())
    assert expectation.rows == plain_table(SAMPLES[made.sample].batches)


def test_a_dense_tensor_is_one_row() -> None:
    """Shape, names and values of a tensor are what a reader has to return."""
    made = expect(tensor_model(np.array([[1, 2, 3]], np.int16), names=("a", "")).encode(), Kind.TENSOR)

    assert made.rows == PlainTable(("shape", "names", "values"), ([[1, 3]], [["a", None]], [[1, 2, 3]]), 1)


def test_rows_are_not_told_where_a_message_could_not_be_read() -> None:
    """A message that this package cannot read may be a batch to another reader, with rows of its own."""
    batch = MUTANTS["flatbuffers.version-unaligned"].serializer
    assert batch is not None
    data = PLAIN.schema.serialize().to_pybytes() + batch.serialize_batch(PLAIN) + END

    made = expect(data, Kind.STREAM)

    assert (made.result, made.rows) == (Validity.INVALID, None)


@pytest.mark.parametrize(("batches", "rows"), [(9_000, 1), (12_000, None)])
def test_nothing_is_expected_of_messages_that_the_suite_does_not_read(batches: int, rows: int | None) -> None:
    """Of a stream with more messages than are judged, neither the rows are known nor whether it is legal."""
    opening, batch = (message.encode() for message in stream_model([PLAIN.slice(0, 1)]).messages)
    empty = stream_model([PLAIN.slice(0, 0)]).messages[1].encode()

    made = expect(opening + batch + empty * batches, Kind.STREAM)

    assert made.result is (Validity.PERMITTED if rows is None else Validity.VALID)
    assert (None if made.rows is None else made.rows.rows) == rows
    assert ("where the suite stops reading" in made.reason) is (rows is None)


def test_tables_name_rules_once() -> None:
    """A rule is refused, or leaves rows standing, or is undecided; what is refused is a violation."""
    assert not set(REFUSED) & (ROWS_CERTAIN | UNDECIDED)
    assert not ROWS_CERTAIN & UNDECIDED
    assert all(rule.severity is Severity.VIOLATION for rule in REFUSED)


def test_every_clause_named_exists() -> None:
    """Expectations name clauses on readers, and all of these clauses but those that are asked of every input."""
    ipc_clauses("ipc-stream")
    named = set(REFUSED.values()) | {feature.clause for feature in BytesFeature}
    readers = {one.id for one in CLAUSES.values() if one.role is Role.READER}

    always = {
        "reader.accepted-rows-are-true",
        "reader.lacks-by-an-error",
        "reader.rows-true",
        "reader.statistics",
        "reader.survives",
        "reader.survives-legal-input",
        "reader.ways-out-agree",
        "reader.well-defined-error",
    }
    assert readers - named == always
    assert named <= readers
    assert all(CLAUSES[feature.clause].level is LEVEL_OF[feature] for feature in BytesFeature)


def test_the_least_binding_feature_is_asked_of() -> None:
    """A reader that lacks compression need not read V4 in a compressed stream."""
    assert asked_of(frozenset({BytesFeature.V4, BytesFeature.COMPRESSION})) == (BytesFeature.COMPRESSION,)
    assert asked_of(frozenset({BytesFeature.V4, BytesFeature.DELTAS})) == (BytesFeature.DELTAS,)
    assert LEVEL_OF[BytesFeature.CORE] is Level.MUST


def test_the_values_of_a_tensor_are_told_only_where_they_can_be_counted() -> None:
    """With strides of 0, a few bytes are as many values as there are numbers for."""
    made = expect(HOSTILE["wholes.tensor-strides-0"].make(), Kind.TENSOR)

    assert (made.result, made.rows) == (Validity.VALID, None)


@pytest.mark.parametrize(
    ("mutant", "tier"),
    [
        ("message.batch.buffer-surplus", Tier.CONTENT),
        ("message.batch.buffer-missing", Tier.STRUCTURE),
        ("message.metadata.integer-with-child", Tier.CONTENT),
        ("dictionary.two-columns", Tier.CONTENT),
        ("dictionary.length-lies", Tier.CONTENT),
    ],
)
def test_what_is_there_beyond_need_may_be_passed_over(mutant: str, tier: Tier) -> None:
    """More nodes, buffers or children than the schema has need not be noticed; fewer lead elsewhere."""
    made = next(iter(IPC_MUTANTS[mutant].make()))

    assert expect(made.data, Kind.STREAM).tier is tier


@pytest.mark.parametrize(
    ("sample", "more", "tier"),
    [
        ("types.string-view", [0], Tier.CONTENT),
        ("types.string-view", [3, -1], Tier.CONTENT),
        ("types.int64", [1], Tier.CONTENT),
        ("types.string-view", None, Tier.STRUCTURE),
    ],
)
def test_surplus_counts_of_data_buffers_may_be_passed_over(sample: str, more: list[int] | None, tier: Tier) -> None:
    """A reader that stops after the last view field never sees further counts; a negative one before is refused."""
    if sample not in SAMPLES:
        pytest.skip("this pyarrow lacks the type")
    model = SAMPLES[sample].stream()
    for batch in model.batches:
        counts = batch.complete()[0]["header"].get("variadicBufferCounts", [])
        batch.header["variadicBufferCounts"] = [-1 for _ in counts] if more is None else [*counts, *more]

    expectation = expect(model.encode(), Kind.STREAM)

    assert (expectation.result, expectation.tier) == (Validity.INVALID, tier)
    assert "view field" in expectation.reason


def test_a_schema_without_a_vector_of_fields_may_be_refused() -> None:
    """The format allows it for a schema without columns, and readers in wide use refuse it: either is permitted."""
    made = next(iter(IPC_VARIATIONS["schema.fields-absent"].make()))

    assert expect(made.data, Kind.STREAM).result is Validity.PERMITTED
