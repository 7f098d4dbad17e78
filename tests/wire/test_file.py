"""Whole files: what the footer says against the stream, and batches by random access."""

from __future__ import annotations

import inspect

import pyarrow as pa
import pytest

from conformance.wire import Rule, UndecodableError, read_file, read_stream
from tests.fixtures import fixture
from tests.wire.breaking_files import FILES, GOOD_FILE
from tests.wire.corpus import batches
from tests.wire.forge import batch_message, dictionary_message, field, i4, schema_message
from tests.wire.sealing import (
    BATCH,
    DELTA,
    ENCODED,
    ENCODED_SCHEMA,
    END,
    INT,
    VALUES,
    Sealed,
    encoded,
    footer_table,
    plain,
)
from tests.wire.test_real_bytes import OLD, QUIRKS

NULLS = batch_message(2, [(2, 2)], [b"\0", i4(0, 0)])
BEYOND = batch_message(2, [(2, 0)], [b"", i4(0, 2)])
"""Indices of which the second needs a dictionary of three values."""


def _rules(data: bytes) -> list[Rule]:
    return [fault.rule for fault in read_file(data).faults]


def _written(*parts: pa.RecordBatch, metadata: dict[str, str] | None = None, **options: object) -> bytes:
    sink = pa.BufferOutputStream()
    chosen = pa.ipc.IpcWriteOptions(**options)
    more = {"metadata": metadata} if metadata else {}
    with pa.ipc.new_file(sink, parts[0].schema, options=chosen, **more) as writer:
        for part in parts:
            writer.write_batch(part)
    return bytes(sink.getvalue().to_pybytes())


def _encoded(*values: str | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"x": pa.array(values).dictionary_encode()})


@pytest.mark.parametrize("name", [name for name in batches() if "sliced" not in name])
def test_files_of_pyarrow_have_no_fault(name: str) -> None:
    """Every type, written as a file, is read by its footer and as a stream, without a remark."""
    reading = read_file(_written(batches()[name], batches()[name]))

    assert reading.faults == []
    assert reading.stream is not None
    assert reading.batches == reading.stream.batches
    assert len(reading.batches) == 2
    assert reading.schema == reading.stream.schema


def test_batches_are_decoded_with_the_dictionaries_of_the_file() -> None:
    """Deltas count for all batches, wherever they are."""
    parts = [_encoded("a", "b"), _encoded("a", "b", "c")]

    reading = read_file(_written(*parts, emit_dictionary_deltas=True))

    assert reading.faults == []
    assert [batch.to_pydict() for batch in reading.to_batches()] == [part.to_pydict() for part in parts]


def test_offsets_count_from_the_start_of_the_file() -> None:
    """Stream and footer speak of the same places."""
    reading = read_file(GOOD_FILE)

    assert reading.stream is not None
    assert reading.footer is not None
    assert reading.stream.messages[0].start == 8
    assert [block.offset for block in reading.footer.batches or ()] == [
        message.start for message in reading.stream.messages[1:3]
    ]
    assert (
        GOOD_FILE[reading.footer.end :] == (reading.footer.end - reading.footer.start).to_bytes(4, "little") + b"ARROW1"
    )


@pytest.mark.parametrize("rule", [rule for rule in FILES if rule.startswith(("file.", "footer."))], ids=str)
def test_a_deviation_of_magic_or_footer_is_told_once(rule: Rule) -> None:
    """One fault is one finding; a list of deltas out of order also breaks the order of blocks."""
    assert [found for found in _rules(FILES[rule]) if found is not Rule.BLOCK_ORDER] == [rule]


def test_dictionaries_may_stand_after_the_batches() -> None:
    """A file may do things that a stream may not."""
    file = encoded(BATCH, VALUES)
    data = file.seal(file.blocks[2:], file.blocks[1:2])

    reading = read_file(data)

    assert reading.faults == []
    assert reading.stream is not None
    assert [fault.rule for fault in reading.stream.faults] == [Rule.DICTIONARY_MISSING]
    assert reading.to_batches()[0].to_pydict() == {"x": [10, 20]}


def test_a_delta_after_the_batch_that_needs_it_is_enough() -> None:
    """Indices are judged by all that the dictionary comes to."""
    file = encoded(VALUES, BEYOND, DELTA)

    assert _rules(file.seal([file.blocks[1], file.blocks[3]], [file.blocks[2]])) == []
    assert _rules(file.seal([file.blocks[1]], [file.blocks[2]])) == [Rule.BLOCK_UNLISTED, Rule.DICTIONARY_INDEX_RANGE]


def test_a_dictionary_that_the_file_lacks_is_missing() -> None:
    """Values that point into no dictionary are a violation, nulls are a note."""
    for batch, rule in ((BATCH, Rule.DICTIONARY_MISSING), (NULLS, Rule.DICTIONARY_LATE)):
        file = encoded(batch)
        assert _rules(file.seal([], file.blocks[1:])) == [rule]


def test_a_delta_listed_before_its_dictionary_has_no_base() -> None:
    """Deltas apply in the order of the footer."""
    file = encoded(VALUES, DELTA, BATCH)
    base, delta, batch = file.blocks[1:]

    found = _rules(file.seal([delta, base], [batch]))

    assert found == [Rule.BLOCK_ORDER, Rule.DICTIONARY_DELTA_WITHOUT_BASE]


def test_the_footer_alone_leads_to_the_batches() -> None:
    """Without a magic in front there is no stream, but what the footer names is read and judged."""
    file = encoded(VALUES, BEYOND)
    data = b"\0" * 8 + file.seal(file.blocks[1:2], file.blocks[2:])[8:]

    reading = read_file(data)

    assert reading.stream is None
    assert [fault.rule for fault in reading.faults] == [Rule.FILE_MAGIC_START, Rule.DICTIONARY_INDEX_RANGE]
    assert len(reading.batches) == 1


def test_a_stream_that_begins_later_is_read_from_where_it_begins() -> None:
    """Zeros between magic and stream are one finding, not an end marker with everything behind it."""
    file = plain(head=b"ARROW1".ljust(64, b"\0"))

    reading = read_file(file.seal(batches=file.blocks[1:]))

    assert [(fault.rule, fault.start, fault.end) for fault in reading.faults] == [(Rule.FILE_STREAM_START, 8, 64)]
    assert reading.stream is not None
    assert reading.batches == reading.stream.batches
    assert len(reading.to_batches()) == 2


def test_a_legacy_stream_may_begin_later_too() -> None:
    """The word behind the zeros is then a legacy length."""
    data = b"ARROW1".ljust(16, b"\0") + ENCODED_SCHEMA[4:]

    assert Rule.FILE_STREAM_START in _rules(data)


@pytest.mark.parametrize("behind", [bytes(4), bytes(64), bytes(64) + b"\1\0\0\0", bytes(4) + ENCODED_SCHEMA])
def test_zeros_with_no_schema_behind_them_are_an_end_marker(behind: bytes) -> None:
    """Bytes that are not padding up to a schema at a multiple of 8 are read from byte 8."""
    found = _rules(footer_table(b"ARROW1\0\0" + behind, {"version": 4, "schema": {"fields": [ENCODED]}}))

    assert Rule.STREAM_SCHEMA_FIRST in found
    assert Rule.FILE_STREAM_START not in found


def test_an_unfinished_file_is_read_as_a_stream() -> None:
    """A writer that was never closed leaves batches, and no footer."""
    data = GOOD_FILE[: GOOD_FILE.index(END)]

    reading = read_file(data)

    assert [fault.rule for fault in reading.faults] == [Rule.FILE_MAGIC_END, Rule.FILE_END_MISSING]
    assert reading.stream is not None
    assert len(reading.stream.batches) == 2
    with pytest.raises(UndecodableError, match="no footer"):
        reading.to_batches()


def test_a_file_may_have_metadata_of_its_own() -> None:
    """Pyarrow writes a file's metadata to its footer alone, which is the place that the format has for it."""
    if "metadata" not in inspect.signature(pa.ipc.new_file).parameters:
        pytest.skip("this pyarrow writes no metadata to a footer")
    data = _written(pa.RecordBatch.from_pydict({"x": pa.array([1])}), metadata={"origin": "somewhere"})

    read = read_file(data)

    assert read.faults == []
    assert read.footer is not None
    assert read.footer.metadata == (("origin", "somewhere"),)


def test_up_to_four_features_of_a_footer_are_shown() -> None:
    """The finding on a footer with other features shows the first four of them."""
    file = plain()
    schema = {"fields": list(file.fields), "features": [1, 2, 1, 2, 1]}

    (fault,) = read_file(file.seal(batches=file.blocks[1:], schema=schema)).faults

    assert fault.observed.partition(";")[0].count("DICTIONARY_REPLACEMENT") == 2
    assert fault.observed.partition(";")[0].count("COMPRESSED_BODY") == 2


def test_blocks_that_name_one_message_cost_no_more_than_one() -> None:
    """Thousands of blocks of the same message are not read thousands of times."""
    file = plain()
    data = file.seal(batches=file.blocks[1:] * 2000)

    reading = read_file(data)

    assert len(reading.batches) == 2
    assert {fault.rule for fault in reading.faults} == {Rule.BLOCK_REPEATED}


def test_an_inner_dictionary_may_grow_after_the_outer_one() -> None:
    """Indices among a dictionary's values are judged by all that the inner one comes to."""
    inner = pa.array(["a", "b"]).dictionary_encode()
    nested = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.StructArray.from_arrays([inner], names=["y"]))

    reading = read_file(_written(pa.RecordBatch.from_pydict({"x": nested})))

    assert reading.faults == []
    assert reading.to_batches()[0].to_pydict() == {"x": [{"y": "a"}, {"y": "b"}]}


def test_compressed_files_have_no_fault() -> None:
    """A footer says nothing of compression, and nothing is wrong with it."""
    for codec in ("lz4", "zstd"):
        assert _rules(_written(_encoded("a" * 100, None), compression=codec)) == []


WITHOUT_VERSION = {"generated_decimal", "generated_primitive_no_batches", "generated_primitive_zerolength"}
"""Files of 0.14.1 whose footer has no version, which says V1."""


@pytest.mark.parametrize(
    ("folder", "expected"), [("0.14.1", OLD), ("0.17.1", {Rule.MESSAGE_VERSION_V4}), ("1.0.0-littleendian", set())]
)
def test_golden_files_have_no_fault_but_the_known(folder: str, expected: set[Rule]) -> None:
    """Golden files are legal, and say by their footer what their stream says."""
    files = sorted(fixture("arrow-testing", folder).glob("*.arrow_file"))
    assert files
    found: set[Rule] = set()

    for file in files:
        reading, stream = read_file(file.read_bytes()), read_stream(file.with_suffix(".stream").read_bytes())

        rules = {fault.rule for fault in reading.faults}
        lacks = folder == "0.14.1" and file.stem in WITHOUT_VERSION
        assert (Rule.FOOTER_VERSION_DIFFERS in rules) is lacks
        found |= rules - {Rule.FOOTER_VERSION_DIFFERS}
        assert [batch.length for batch in reading.batches] == [batch.length for batch in stream.batches]
        assert reading.schema is not None
        assert reading.stream is not None
        assert reading.stream.schema is not None
        assert reading.schema.fields == reading.stream.schema.fields

    assert found - QUIRKS == expected


def test_a_dictionary_twice_is_told_even_where_the_footer_names_one() -> None:
    """A dictionary batch that a reader of the stream takes for a replacement counts even if it is not listed."""
    file = encoded(VALUES, dictionary_message(7, [30, 40]), BATCH)

    found = _rules(file.seal([file.blocks[1]], [file.blocks[3]]))

    assert found == [Rule.BLOCK_UNLISTED, Rule.FILE_DICTIONARY_REPLACED]


def test_behind_a_broken_message_the_footer_still_leads() -> None:
    """Behind the end of a broken stream, a batch is read by its block, and is not reported as outside the stream."""
    data = bytearray(GOOD_FILE)
    first = read_file(GOOD_FILE).batches[0].message
    assert first is not None
    data[first.start + 4 : first.start + 8] = i4(1 << 20)

    reading = read_file(bytes(data))

    assert [fault.rule for fault in reading.faults] == [Rule.METADATA_TRUNCATED, Rule.BLOCK_NO_MESSAGE]
    assert [batch.length for batch in reading.batches] == [2]


def test_a_file_below_v4_has_its_version_as_its_one_fault() -> None:
    """Neither the stream nor the footer of such a file has the tables of today."""
    old = {"version": 2}
    file = Sealed([schema_message(INT, message=old), BATCH])
    data = file.seal(batches=[(1, 2, 3)], version=2, schema={"fields": [INT | {"name": b"\xff"}]})

    reading = read_file(data)

    assert [fault.rule for fault in reading.faults] == [Rule.MESSAGE_VERSION_BEFORE_V4]
    assert reading.footer is None


def test_the_newer_of_two_files_is_judged() -> None:
    """The end of an older, longer file behind it is one fault, and the batches are those of the newer file."""
    reading = read_file(FILES[Rule.FILE_OVERWRITTEN])

    (fault,) = reading.faults
    assert fault.rule is Rule.FILE_OVERWRITTEN
    assert fault.start == len(GOOD_FILE)
    assert [batch.length for batch in reading.batches] == [2, 2]


def test_a_file_in_a_column_is_no_newer_file() -> None:
    """Bytes of a file that a batch holds are values, not the end of the file around them."""
    text = batch_message(1, [(1, 0)], [b"", i4(0, len(GOOD_FILE)), GOOD_FILE])
    file = Sealed([schema_message(field("x", "Binary")), text], [field("x", "Binary")])

    assert read_file(file.seal(batches=file.blocks[1:])).faults == []


def test_a_stream_with_a_footer_behind_it_is_named() -> None:
    """The magic at the end says that it is a file, and the bytes at the start that it is none."""
    fault, *_ = read_file(GOOD_FILE[8:]).faults

    assert fault.rule is Rule.FILE_MAGIC_START
    assert "which begin a stream" in fault.observed
