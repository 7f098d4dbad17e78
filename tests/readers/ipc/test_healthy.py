"""Several libraries read the same rows, of every type, kind and compression."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from conformance.readers.ipc import IPC_READERS, IpcPool, Job, JobLimits, JobOutcome, JobStage
from conformance.readers.ipc.rewrites import as_read_by
from conformance.wire.plain import differences, plain_table
from tests.patience import LONG
from tests.readers.ipc.samples import BASIC, COLUMNS, as_file, as_stream, batch_of

ARROW_CPP = ("pyarrow", "pyarrow-validated")
COMPRESSED_DICTIONARY = "nanoarrow does not decompress dictionary batches, up to 0.9.0 at least"


@pytest.fixture(scope="module")
def pool() -> Iterator[IpcPool]:
    """Every reader that can run here."""
    with IpcPool(limits=JobLimits(seconds=LONG, reuse=64)) as started:
        yield started


def present(pool: IpcPool) -> set[str]:
    """The readers that are here."""
    return set(IPC_READERS) - set(pool.absent())


@pytest.mark.parametrize(
    ("kind", "codec"), [("stream", None), ("stream", "zstd"), ("stream", "lz4"), ("file", None), ("file", "lz4")]
)
def test_every_type_reads_alike(pool: IpcPool, kind: str, codec: str | None) -> None:
    """A reader gives the rows of every type that pyarrow writes, or says that it lacks the type; none may be wrong."""
    make = as_stream if kind == "stream" else as_file
    jobs = []
    for name, column in COLUMNS.items():
        batches = [batch_of(column), batch_of(column.slice(1))]
        jobs.append(Job(name, kind, make(batches, compression=codec)))
    wrong = []
    for answer in pool.read(jobs):
        info, batch = IPC_READERS[answer.reader], batch_of(COLUMNS[answer.id])
        if answer.reader == "nanoarrow" and answer.id == "dictionary" and codec:
            continue  # COMPRESSED_DICTIONARY: a defect of its own, which the next test keeps an eye on
        if answer.outcome is JobOutcome.ROWS:
            assert answer.table is not None
            expected = as_read_by(info, plain_table([batch, batch.slice(1)]), batch.schema)
            wrong += [f"{answer.reader}: {answer.id}: {text}" for text in differences(expected, answer.table)]
        elif answer.outcome not in (JobOutcome.UNSUPPORTED, JobOutcome.UNAVAILABLE):
            wrong.append(f"{answer.reader}: {answer.id}: {answer.outcome} {answer.error_class} {answer.error_text}")
        elif answer.id in BASIC and answer.outcome is JobOutcome.UNSUPPORTED and info.kinds and kind in info.kinds:
            wrong.append(f"{answer.reader}: {answer.id}: {answer.error_text}")

    assert wrong == []


def test_a_defect_is_seen(pool: IpcPool) -> None:
    """A release that misreads healthy bytes does not pass for one that reads them."""
    if "nanoarrow" not in present(pool) or pool.hello("nanoarrow").version != "0.9.0":
        pytest.skip(f"{COMPRESSED_DICTIONARY}; only that version is known to")
    batch = batch_of(COLUMNS["dictionary"])
    [answer] = pool.read([Job("1", "stream", as_stream([batch], compression="zstd"))], ["nanoarrow"])

    assert (answer.outcome, answer.stage) == (JobOutcome.REFUSED, JobStage.LIBRARY)
    assert answer.table is None


def test_no_batches(pool: IpcPool) -> None:
    """A stream of a schema alone has its columns, and no rows."""
    schema = pa.schema([("a", pa.int32()), ("b", pa.string())])
    answers = list(pool.read([Job("1", "stream", as_stream([], schema))], sorted(present(pool))))

    assert {answer.reader for answer in answers} >= {"pyarrow", "pyarrow-validated"}
    for answer in answers:
        assert answer.table is not None, answer
        assert answer.table.to_json() == {"names": ["a", "b"], "rows": 0, "columns": [[], []]}, answer.reader


@pytest.mark.parametrize("name", ARROW_CPP)
def test_message(pool: IpcPool, name: str) -> None:
    """A schema message and a record batch message are read apart."""
    batch = batch_of(COLUMNS["utf8"])
    job = Job("1", "message", batch.serialize().to_pybytes(), schema=batch.schema.serialize().to_pybytes())
    [answer] = pool.read([job], [name])

    assert answer.table == plain_table([batch])
    assert answer.types == ("string",)


def test_tensor(pool: IpcPool) -> None:
    """A tensor is one row: its shape, the names of its dimensions, its values in row-major order."""
    sink = pa.BufferOutputStream()
    values = np.array([[1, 2], [3, 4], [5, 6]], "<i4").T  # column-major
    pa.ipc.write_tensor(pa.Tensor.from_numpy(values, dim_names=["x", "y"]), sink)
    [answer] = pool.read([Job("1", "tensor", sink.getvalue().to_pybytes())], ["pyarrow"])

    assert answer.table is not None
    assert answer.table.names == ("shape", "names", "values")
    assert answer.table.columns == ([[2, 3]], [["x", "y"]], [[1, 3, 5, 2, 4, 6]])


@pytest.mark.parametrize("name", ["pyarrow", "pyarrow-validated", "polars"])
@pytest.mark.parametrize("kind", ["stream", "file"])
def test_included_fields(pool: IpcPool, name: str, kind: str) -> None:
    """Only the fields that are asked for are read."""
    batch = pa.record_batch({"a": [1], "b": [2], "c": [3]})
    make = as_stream if kind == "stream" else as_file
    [answer] = pool.read([Job("1", kind, make([batch]), options={"included_fields": [0, 2]})], [name])

    if name in present(pool):
        assert answer.table is not None, answer
        assert (answer.table.names, answer.table.columns) == (("a", "c"), ([1], [3]))


@pytest.mark.parametrize("options", [{"native_endian": False}, {"threads": False}, {"threads": True}])
def test_options_of_pyarrow(pool: IpcPool, options: dict[str, bool]) -> None:
    """Options that change nothing about healthy rows are taken."""
    batch = pa.record_batch({"a": [1], "b": ["x"]})
    [answer] = pool.read([Job("1", "stream", as_stream([batch], compression="zstd"), options=options)], ["pyarrow"])

    assert answer.table == plain_table([batch])


def test_validation(pool: IpcPool) -> None:
    """Text that is no UTF-8 is refused by the reader that validates, and read by the one that does not."""
    data = as_stream([pa.record_batch({"a": ["good", "evil"]})]).replace(b"evil", b"\xff\xfe\xfd\xfc")
    plain, validated = sorted(pool.read([Job("1", "stream", data)], ARROW_CPP), key=lambda answer: answer.reader)

    assert plain.table is not None
    assert plain.table.columns == (["good", {"hex": "fffefdfc"}],)
    assert (validated.outcome, validated.error_class) == (JobOutcome.REFUSED, "ArrowInvalid")


def test_threads_of_a_library_start_in_the_fork(pool: IpcPool) -> None:
    """Decompression with the library's own threads works job after job, each in a process of its own."""
    data = as_file([pa.record_batch({name: [1.5, 2.5] for name in "abcdef"})] * 3, compression="lz4")
    with IpcPool(["pyarrow", "polars", "arro3"]) as fresh:
        outcomes = {(answer.reader, answer.outcome) for answer in fresh.read([Job("1", "file", data)] * 3)}

    assert {outcome for _, outcome in outcomes} <= {JobOutcome.ROWS, JobOutcome.UNAVAILABLE}
    assert ("pyarrow", JobOutcome.ROWS) in outcomes


def test_pyarrow_counts_what_it_reads(pool: IpcPool) -> None:
    """The counts of a stream come with its rows, deltas and replaced dictionaries among them."""
    words = [pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(each)) for each in (["a"], ["a", "b"], ["c"])]
    batches = [pa.RecordBatch.from_arrays([word], names=["x"]) for word in words]
    (answer,) = pool.read([Job("counted", "stream", as_stream(batches, emit_dictionary_deltas=True))], ["pyarrow"])

    assert dict(answer.statistics) == {
        "messages": 7,
        "record_batches": 3,
        "dictionary_batches": 3,
        "dictionary_deltas": 1,
        "replaced_dictionaries": 1,
    }
