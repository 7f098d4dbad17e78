"""The pool: whatever a reader does, there is a reading, and the next one is not disturbed."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Iterable

import pyarrow as pa
import pytest

from conformance.contain.worker import last_words
from conformance.readers import READERS, ReaderPool, Takes
from conformance.readers.tables import from_stream_bytes
from conformance.records import BqType, Column, Reading, ReadingOutcome
from tests.readers.recorded import (
    COLUMNS,
    EOS,
    SCHEMA,
    batch,
    bytes_of,
    case,
    create,
    exchange,
    of_calls,
    read,
    response,
    serialized,
    stream,
)

OF_SESSIONS = [name for name, info in READERS.items() if info.takes is not Takes.QUERY and not info.avro]
CLIENTS = [name for name, info in READERS.items() if info.takes is Takes.SERVER and not info.avro]
BYTES = [name for name in OF_SESSIONS if name not in CLIENTS]
STREAMS = [name for name, info in READERS.items() if info.takes is Takes.STREAM]
SLOTS = [name for name in OF_SESSIONS if name not in STREAMS]


def outcomes(readings: list[Reading]) -> dict[str, str]:
    """Reader to outcome, an error with its class."""
    return {reading.reader: f"{reading.outcome} {reading.error_class}".strip() for reading in readings}


def ids(reading: Reading) -> list[int]:
    """The ``id`` column that a reader read."""
    numbers: list[int] = from_stream_bytes(reading.table).column("id").to_pylist()
    return numbers


def same(readers: Iterable[str], numbers: list[int]) -> dict[str, list[int]]:
    """Every one of these readers read these ids."""
    return {name: list(numbers) for name in readers}


def test_a_reader_that_shipped_ships() -> None:
    """The names of the readers are permanent; others may join them."""
    shipped = {
        "arro3.stream",
        "nanoarrow.stream",
        "polars.stream",
        "fastavro.rows",
        "pyarrow.slots",
        "pyarrow.stream",
        "bigquery.list-rows",
        "bigquery.query-arrow",
        "bqstorage.avro-rows",
        "bqstorage.pages",
        "bqstorage.rows-to-arrow",
        "bqstorage.to-arrow-sessionless",
        "bqstorage.to-dataframe",
    }

    assert shipped <= set(READERS)


def test_every_reader_reads_a_conforming_exchange(pool: ReaderPool) -> None:
    """Every reader reads two responses, each in order."""
    recorded = exchange(bytes_of(batch(1, 2, 3)), bytes_of(batch(4, 5, 6)))

    readings = pool.read(case(rows=6), recorded)

    assert [reading.reader for reading in readings] == OF_SESSIONS
    assert {reading.reader: ids(reading) for reading in readings} == same(OF_SESSIONS, [1, 2, 3, 4, 5, 6])


def test_every_reader_reads_a_serializer(pool: ReaderPool) -> None:
    """A serializer's messages are read by the clients too, as one session."""
    readings = pool.read(case(), serialized(bytes_of(batch(1, 2, 3))))

    assert {reading.reader: ids(reading) for reading in readings} == same(OF_SESSIONS, [1, 2, 3])
    assert {reading.label for reading in readings} == {"serializer"}


def test_streams_of_a_session_are_read_together(pool: ReaderPool) -> None:
    """A full read has the rows of every stream."""
    schema = bytes_of(SCHEMA)
    parts = [response(bytes_of(batch(index * 2, index * 2 + 1)), 2, schema=schema) for index in range(4)]
    names = [stream(index) for index in range(4)]
    calls = [read(name, [part]) for name, part in zip(names, parts, strict=True)]

    readings = pool.read(case(rows=8), of_calls(create(schema, names), *calls))

    assert {reading.reader: sorted(ids(reading)) for reading in readings} == same(OF_SESSIONS, list(range(8)))


def test_marker_after_a_batch_loses_rows_in_stream_readers(pool: ReaderPool) -> None:
    """An end-of-stream marker after a batch ends the stream for stream readers, and is ignored by slot readers."""
    recorded = exchange(bytes_of(batch(1, 2, 3)) + EOS, bytes_of(batch(4, 5, 6)) + EOS)

    readings = {reading.reader: ids(reading) for reading in pool.read(case(rows=6), recorded)}

    assert readings == same(STREAMS, [1, 2, 3]) | same(SLOTS, [1, 2, 3, 4, 5, 6])


def test_marker_after_the_schema_loses_every_row_in_stream_readers(pool: ReaderPool) -> None:
    """An end-of-stream marker after the schema leaves stream readers with no rows."""
    recorded = exchange(bytes_of(batch(1, 2, 3)), schema=bytes_of(SCHEMA) + EOS)

    readings = {reading.reader: ids(reading) for reading in pool.read(case(), recorded)}

    assert readings == same(STREAMS, []) | same(SLOTS, [1, 2, 3])


def test_stream_in_the_batch_field_is_refused_by_all(pool: ReaderPool) -> None:
    """A full stream where one batch message belongs is an error in every reader."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as writer:
        writer.write_batch(batch(1, 2, 3))

    readings = pool.read(case(), exchange(sink.getvalue().to_pybytes()))

    assert {reading.outcome for reading in readings} == {ReadingOutcome.ERROR}
    assert all(reading.error_text for reading in readings)


def test_schema_missing_in_the_first_response(pool: ReaderPool) -> None:
    """Without a schema in the responses, exactly the readers that do not get the session fail."""
    recorded = exchange(bytes_of(batch(1, 2, 3)), schema_in_response=False)

    readings = outcomes(pool.read(case(), recorded))

    failing = {"bigquery.list-rows", "bqstorage.to-arrow-sessionless"}
    assert readings == {name: "error TypeError" if name in failing else "table" for name in OF_SESSIONS}


def test_zero_responses_are_an_empty_table(pool: ReaderPool) -> None:
    """A stream without responses is a table without rows for everyone."""
    readings = pool.read(case(rows=0), exchange())

    assert {
        name: from_stream_bytes(reading.table).num_rows for name, reading in zip(OF_SESSIONS, readings, strict=True)
    } == (dict.fromkeys(OF_SESSIONS, 0))


def test_zero_streams_are_an_empty_table(pool: ReaderPool) -> None:
    """A session without streams is a full read without rows."""
    readings = pool.read(case(rows=0), of_calls(create(bytes_of(SCHEMA), [])))

    assert [from_stream_bytes(reading.table).num_rows for reading in readings] == [0] * len(OF_SESSIONS)


def test_wrong_row_count_is_seen_by_pages(pool: ReaderPool) -> None:
    """A response that miscounts its rows fails the page reader, and no other."""
    recorded = exchange(bytes_of(batch(1, 2, 3)), counts=[2])

    readings = outcomes(pool.read(case(), recorded))

    assert readings == {
        name: "error RowCountMismatch" if name == "bqstorage.pages" else "table" for name in OF_SESSIONS
    }


def test_response_without_rows(pool: ReaderPool) -> None:
    """A response that carries a schema and no rows fails every reader."""
    schema = bytes_of(SCHEMA)
    responses = [response(b"", 0, schema=schema), response(bytes_of(batch(1, 2, 3)), 3)]

    readings = pool.read(case(), of_calls(create(schema, [stream()]), read(stream(), responses)))

    assert {reading.reader for reading in readings if reading.outcome is ReadingOutcome.ERROR} >= set(SLOTS)


def test_noise_in_place_of_a_response(pool: ReaderPool) -> None:
    """Bytes that are no protobuf message are an error in every reader."""
    recorded = of_calls(create(bytes_of(SCHEMA), [stream()]), read(stream(), [b"\xff\xff\xff"]))

    readings = pool.read(case(), recorded)

    assert {reading.outcome for reading in readings} == {ReadingOutcome.ERROR}


def test_compressed_responses_are_inflated_for_decoders(pool: ReaderPool) -> None:
    """A response compressed as a whole is undone for the decoders."""
    schema, plain = bytes_of(SCHEMA), bytes_of(batch(*range(100)))
    packed = pa.Codec("lz4_raw").compress(plain, asbytes=True)
    one = response(packed, 100, schema=schema, compressed_from=len(plain))
    session = create(schema, [stream()], payload_codec="LZ4")

    readings = pool.read(case(rows=100), of_calls(session, read(stream(), [one])), BYTES)

    assert [ids(reading) for reading in readings] == [list(range(100))] * len(BYTES)


def test_a_size_without_a_codec_leaves_the_payload_as_it_stands(pool: ReaderPool) -> None:
    """No codec was requested, so clients do not decompress, whatever size a response declares."""
    schema, plain = bytes_of(SCHEMA), bytes_of(batch(*range(3)))
    one = response(plain, 3, schema=schema, compressed_from=1 << 20)

    readings = pool.read(case(rows=3), of_calls(create(schema, [stream()]), read(stream(), [one])), BYTES)

    assert [ids(reading) for reading in readings] == [list(range(3))] * len(BYTES)


def test_types_that_a_reader_cannot_take(pool: ReaderPool) -> None:
    """A reader is not asked about a type that it does not know, and says which."""
    columns = (*COLUMNS, Column("big", BqType.RECORD, fields=(Column("x", BqType.BIGNUMERIC),)))

    (reading,) = pool.read(case(columns), exchange(bytes_of(batch(1, 2, 3))), ["polars.stream"])

    assert reading.outcome is ReadingOutcome.UNAVAILABLE
    assert reading.error_text == "BIGNUMERIC: polars has no 256-bit decimal"


def test_extremes_of_bignumeric_are_read(pool: ReaderPool) -> None:
    """The 77 digits of BIGNUMERIC's extremes pass the full validation, at any depth."""
    low = (-(2**255)).to_bytes(32, "little", signed=True)
    flat = pa.array([low, None], pa.binary(32)).view(pa.decimal256(76, 38))
    nested = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), flat)
    table = pa.record_batch({"a": flat, "b": nested, "c": pa.StructArray.from_arrays([flat], ["x"])})
    columns = (
        Column("a", BqType.BIGNUMERIC),
        Column("b", BqType.BIGNUMERIC),
        Column("c", BqType.RECORD, fields=(Column("x", BqType.BIGNUMERIC),)),
    )
    recorded = exchange(bytes_of(table), schema=bytes_of(table.schema), counts=[2])

    readings = outcomes(pool.read(case(columns, rows=2), recorded))

    taken = {
        name: outcome for name, outcome in readings.items() if name not in ("polars.stream", "bqstorage.to-dataframe")
    }
    assert set(taken.values()) == {"table"}


def test_equal_tables_are_kept_once(pool: ReaderPool) -> None:
    """Readers that share a worker and make the same bytes share them."""
    readings = pool.read(case(), exchange(bytes_of(batch(1, 2, 3))), ["pyarrow.slots", "pyarrow.stream"])

    assert readings[0].table is readings[1].table


def test_bomb_is_not_brought_back() -> None:
    """A table far larger than its bytes is read in the worker and stays there."""
    schema, sink = pa.schema([("s", pa.binary())]), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(pa.record_batch([pa.array([bytes(40 << 20)], pa.binary())], schema=schema))
    bomb = sink.getvalue().to_pybytes()[len(bytes_of(schema)) : -len(EOS)]
    recorded = exchange(bomb, schema=bytes_of(schema), counts=[1])
    assert len(bomb) < 1 << 16

    with ReaderPool(1, readers=["pyarrow.slots"], memory_limit=256 << 20) as small:
        (reading,) = small.read(case(rows=1), recorded)

    assert (reading.outcome, reading.table) == (ReadingOutcome.UNAVAILABLE, b"")
    assert reading.error_text.startswith("expected a table of at most 33554432 bytes, got 41943")


def test_nothing_whole_gives_no_readings(pool: ReaderPool) -> None:
    """An exchange without a full read gives no readings."""
    assert pool.read(case(), of_calls()) == []


def test_unknown_readers_are_named(pool: ReaderPool) -> None:
    """Asking for a reader that the pool does not hold is the caller's error, and the message lists what there is."""
    with pytest.raises(ValueError, match=r"expected readers among \['arro3.stream'.*but got \['pyarow'\]"):
        pool.read(case(), exchange(), ["pyarow"])
    with pytest.raises(ValueError, match=r"but got \['pyarow'\]"):
        ReaderPool(readers=["pyarow"])
    with pytest.raises(ValueError, match="at least one worker"):
        ReaderPool(0)


def test_workers_end_with_the_pool() -> None:
    """No worker process outlives its pool."""
    with ReaderPool(1, readers=["pyarrow.slots"]) as pool:
        pool.read(case(), exchange(bytes_of(batch(1, 2, 3))))
        process = pool._slots[0]._process

    assert process is not None
    assert process._worker.code is not None


def test_several_threads_read_at_once(pool: ReaderPool) -> None:
    """Readings of concurrent calls are not mixed up."""
    names = ["pyarrow.slots", "bqstorage.rows-to-arrow"]

    def one(number: int) -> list[list[int]]:
        recorded = exchange(bytes_of(batch(number)), counts=[1])
        return [ids(reading) for reading in pool.read(case(rows=1), recorded, names)]

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        found = list(threads.map(one, range(40)))

    assert found == [[[number], [number]] for number in range(40)]


def test_last_words_are_the_panic_that_was_meant() -> None:
    """Of a Rust abort the panic's message is shown, not the abort that follows from it."""
    said = """
        thread '<unnamed>' panicked at src/buffer.rs:10:9:
        the offset of the new Buffer cannot exceed the existing length
        thread '<unnamed>' panicked at library/core/src/panicking.rs:225:5:
        panic in a function that cannot unwind
        stack backtrace:
           0: 0x7f - main
        thread caused non-unwinding panic. aborting.
    """

    assert last_words(said) == "the offset of the new Buffer cannot exceed the existing length"
    assert last_words("Fatal Python error: Aborted\n\n") == "Fatal Python error: Aborted"
    assert last_words("") == ""
