"""Whole streams: how they begin and end, which dictionaries they define, and what is found in foreign ones."""

from __future__ import annotations

import random
import time

import pyarrow as pa
import pytest

from conformance.contain.text import many
from conformance.wire import Header, Rule, batch_to_arrow, read_stream
from tests.fixtures import fixture
from tests.wire.breaking import (
    ENCODED_SCHEMA,
    END,
    GOOD_BATCH,
    GOOD_SCHEMA,
    INDICES,
    SOUND,
    VALUES,
)
from tests.wire.breaking_files import GOOD_TENSOR
from tests.wire.corpus import batches
from tests.wire.forge import (
    SCHEMA,
    Forge,
    batch_message,
    dictionary_message,
    encapsulate,
    field,
    i4,
    schema_message,
)
from tests.wire.sealing import INT, footer_table
from tests.wire.test_real_bytes import OLD, QUIRKS
from tests.wire.test_robustness import LONGEST, _mutate


def _rules(*messages: bytes) -> list[Rule]:
    return [fault.rule for fault in read_stream(b"".join(messages)).faults]


def _written(*parts: pa.RecordBatch, **options: object) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, parts[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for part in parts:
            writer.write_batch(part)
    return bytes(sink.getvalue().to_pybytes())


def _encoded(*values: str | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"x": pa.array(values).dictionary_encode()})


@pytest.mark.parametrize("name", [name for name in batches() if "sliced" not in name])
def test_streams_of_pyarrow_have_no_fault(name: str) -> None:
    """Every type, written twice over as a stream, is read whole and without a remark."""
    data = _written(batches()[name], batches()[name])

    reading = read_stream(data)

    assert reading.faults == []
    assert len(reading.batches) == 2
    assert reading.end == len(data)
    assert reading.messages[-1].header is Header.END_OF_STREAM


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_dictionaries_have_no_fault(codec: str) -> None:
    """A dictionary batch is compressed as a record batch is."""
    reading = read_stream(_written(_encoded("a" * 100, "b", None), compression=codec))

    assert reading.faults == []
    assert batch_to_arrow(reading.dictionaries[0].batch).column(0).to_pylist() == ["a" * 100, "b"]


def test_legacy_stream_is_noted_and_no_more() -> None:
    """Framing without continuation words, end marker included, is one note per message."""
    reading = read_stream(_written(_encoded("a"), use_legacy_format=True))

    assert {fault.rule for fault in reading.faults} == {Rule.PREFIX_CONTINUATION_MISSING}
    assert reading.messages[-1].header is Header.END_OF_STREAM


def test_delta_appends_to_its_dictionary() -> None:
    """Indices beyond the base are sound once a delta has brought their values."""
    parts = [_encoded("a", "b"), _encoded("a", "b", "c")]

    reading = read_stream(_written(*parts, emit_dictionary_deltas=True))

    assert reading.faults == []
    assert [(made.delta, made.batch.length) for made in reading.dictionaries] == [(False, 2), (True, 1)]


def test_indices_are_judged_by_the_dictionary_of_their_time() -> None:
    """A replacement counts from its place on: the batch before it is sound, the same batch after it is not."""
    short = dictionary_message(7, [10])

    assert _rules(ENCODED_SCHEMA, VALUES, SOUND, short, END) == []
    assert _rules(ENCODED_SCHEMA, VALUES, short, SOUND, END) == [Rule.DICTIONARY_INDEX_RANGE]


def test_index_fault_points_into_the_whole_stream() -> None:
    """The place of a fault counts from the first byte of the stream."""
    data = ENCODED_SCHEMA + VALUES + INDICES + END

    (fault,) = read_stream(data).faults

    assert data[fault.start : fault.end] == (2).to_bytes(4, "little")
    assert fault.path == "x dictionary indices"


def test_nested_dictionary_may_follow_the_outer_one() -> None:
    """A dictionary among another's values is asked for when a batch needs it, and not before."""
    inner = pa.array(["a", "b"]).dictionary_encode()
    nested = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.StructArray.from_arrays([inner], names=["y"]))
    messages = list(pa.ipc.MessageReader.open_stream(_written(pa.RecordBatch.from_pydict({"x": nested}))))
    schema, first, second, batch = (message.serialize().to_pybytes() for message in messages)

    assert _rules(schema, first, second, batch, END) == []
    assert _rules(schema, second, first, batch, END) == []
    assert Rule.DICTIONARY_MISSING in _rules(schema, second, batch, END)


@pytest.mark.parametrize("cut", range(1, len(GOOD_BATCH)))
def test_cut_stream_is_a_violation(cut: int) -> None:
    """A stream may end after a message, but never inside one."""
    reading = read_stream((GOOD_SCHEMA + GOOD_BATCH)[:-cut])

    assert reading.violations


def test_end_marker_hides_what_follows() -> None:
    """Bytes after the marker are noted once and not read."""
    reading = read_stream(GOOD_SCHEMA + END + GOOD_BATCH)

    assert [fault.rule for fault in reading.faults] == [Rule.STREAM_BYTES_AFTER_END]
    assert reading.batches == []


def test_no_bytes_are_no_stream() -> None:
    """Empty input is reported as such."""
    assert _rules() == [Rule.PREFIX_EMPTY]


@pytest.mark.parametrize(
    ("folder", "expected"), [("0.14.1", OLD), ("0.17.1", {Rule.MESSAGE_VERSION_V4}), ("1.0.0-littleendian", set())]
)
def test_golden_streams_have_no_fault_but_the_known(folder: str, expected: set[Rule]) -> None:
    """Whole golden streams are legal, dictionaries included, but for values known to be out of range."""
    streams = sorted(fixture("arrow-testing", folder).glob("*.stream"))
    assert streams

    found = {fault.rule for stream in streams for fault in read_stream(stream.read_bytes()).faults}

    assert found - QUIRKS == expected


@pytest.mark.parametrize("seed", range(4))
def test_mutated_streams_are_read_in_time(seed: int) -> None:
    """Flipped, cut and stretched streams end in faults, or in none; never in an exception."""
    rng = random.Random(seed)
    corpus = [_written(batches()["every type"], batches()["every type"]), ENCODED_SCHEMA + VALUES + SOUND + END]
    parts = [_encoded("a", "b"), _encoded("a", "b", "c"), _encoded("z")]
    corpus += [_written(*parts, emit_dictionary_deltas=True, compression=codec) for codec in (None, "lz4", "zstd")]

    for _ in range(400):
        data = _mutate(rng.choice(corpus), rng)
        started = time.process_time()

        reading = read_stream(data)

        assert time.process_time() - started < LONGEST
        assert 0 <= reading.end <= len(data)
        assert all(0 <= fault.start <= fault.end <= len(data) for fault in reading.faults)


def test_a_stream_of_tensors_has_no_schema_first() -> None:
    """A tensor where the schema belongs is reported as such, and nothing is read by it."""
    reading = read_stream(GOOD_TENSOR + END)

    assert [fault.rule for fault in reading.faults] == [Rule.STREAM_SCHEMA_FIRST]
    assert reading.faults[0].observed == "a Tensor message"
    assert reading.schema is None


def test_lengths_are_judged_where_a_message_starts_at_any_byte() -> None:
    """A body of odd length shifts the next message, whose own metadata is still a multiple of 8."""
    batch = batch_message(1, [(1, 0)], [b"", b"\1"], body=b"\1" + bytes(9))
    schema = schema_message(field("x", "Int", bitWidth=8, is_signed=1))

    assert _rules(schema, batch, batch, END) == [Rule.MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8] * 2


def test_an_index_among_values_is_reported_once() -> None:
    """A dictionary that waits for another one is judged before the next record batch, and not once more after it."""
    inner = pa.array(["a", "b"]).dictionary_encode()
    nested = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.StructArray.from_arrays([inner], names=["y"]))
    messages = list(pa.ipc.MessageReader.open_stream(_written(pa.RecordBatch.from_pydict({"x": nested}))))
    schema, first, second, batch = (message.serialize().to_pybytes() for message in messages)
    assert second.endswith(i4(0, 1))
    wrong = second[:-4] + i4(9)

    assert _rules(schema, wrong, first, batch, batch, END) == [Rule.DICTIONARY_INDEX_RANGE]


# --- what is not this stream ----------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2])
def test_of_a_version_below_v4_nothing_more_is_read(version: int) -> None:
    """V1 to V3 have other tables, buffers and dictionaries: the version is the one fault."""
    old = {"version": version}
    reading = read_stream(
        schema_message(INT | {"name": b"\xff"}, message=old)
        + batch_message(2, [(9, 0)], [i4(1, 2)], message=old)
        + b"and so on"
    )

    assert [fault.rule for fault in reading.faults] == [Rule.MESSAGE_VERSION_BEFORE_V4]
    assert (reading.schema, reading.outdated) == (None, True)


def test_a_message_without_a_version_is_read() -> None:
    """By the definition it is of V1, and in fact of a writer that forgot it: its other faults count."""
    root = {"header_type": SCHEMA, "header": {"fields": [INT]}, "bodyLength": 0}
    absent = encapsulate(Forge().root("Message", root))

    reading = read_stream(absent + batch_message(2, [(3, 0)], [b"", i4(1, 2, 3)]) + END)

    assert {Rule.MESSAGE_VERSION_BEFORE_V4, Rule.BATCH_COLUMN_LENGTH} <= {fault.rule for fault in reading.faults}


def _footer(magic: bytes) -> bytes:
    return footer_table(b"", {"version": 4, "schema": {"fields": [INT]}})[:-6] + magic


@pytest.mark.parametrize("magic", [b"", b"ARROW1"])
@pytest.mark.parametrize(("end", "rule"), [(b"", Rule.PREFIX_CONTINUATION_MISSING), (END, Rule.STREAM_BYTES_AFTER_END)])
def test_a_footer_behind_a_stream_is_named(end: bytes, rule: Rule, magic: bytes) -> None:
    """It belongs to a file; a reader of the stream takes it for a message, or for noise."""
    found = read_stream(GOOD_SCHEMA + GOOD_BATCH + end + _footer(magic)).faults

    assert rule in {fault.rule for fault in found}
    assert [fault.rule for fault in found if "the footer of a file" in fault.observed] == [rule]


def test_noise_behind_a_stream_is_no_footer() -> None:
    """A length at the end that fits by chance does not make bytes a footer."""
    noise = b"\7" * 20
    found = read_stream(GOOD_SCHEMA + GOOD_BATCH + noise + i4(len(noise))).faults

    assert not [fault for fault in found if "footer" in fault.observed]


@pytest.mark.parametrize(
    ("more", "named"), [(GOOD_SCHEMA, ", another stream"), (GOOD_BATCH, ""), (END, ""), (b"\7" * 9, "")]
)
def test_another_stream_behind_the_marker_is_named(more: bytes, named: str) -> None:
    """Several streams may come from one source: where the next one begins is known."""
    reading = read_stream(GOOD_SCHEMA + GOOD_BATCH + END + more)

    (fault,) = reading.faults
    assert reading.followed is bool(named)
    assert fault.observed == f"{many(len(more), 'byte')} after the marker{named}"
