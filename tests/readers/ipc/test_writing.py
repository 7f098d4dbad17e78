"""The output of libraries is read again with the same rows, under every option."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from conformance.readers.ipc import IPC_WRITERS, IpcPool, Job, JobLimits, JobOutcome, Unavailable
from conformance.reference.ipc.samples.tensors import TENSORS
from conformance.wire import read_stream
from conformance.wire.plain import plain_table
from tests.patience import LONG
from tests.readers.ipc.samples import as_stream

BATCHES = [
    pa.record_batch({"a": pa.array([1, None, 3], pa.int32()), "b": ["x", None, "yy" * 60]}),
    pa.record_batch({"a": pa.array([None], pa.int32()), "b": ["z"]}),
]
SOURCE = as_stream(BATCHES)
WRITTEN = [(name, kind) for name in IPC_WRITERS for kind in ("stream", "file")]


@pytest.fixture(scope="module")
def pool() -> Iterator[IpcPool]:
    """Every writer that can run here."""
    with IpcPool(tuple(IPC_WRITERS), limits=JobLimits(seconds=LONG, reuse=64)) as started:
        yield started


def read_again(kind: str, data: bytes) -> pa.Table:
    """The rows in what was written."""
    opened = pa.ipc.open_file(data) if kind == "file" else pa.ipc.open_stream(data)
    with opened as reader:
        return reader.read_all()


def single_options(space: dict[str, tuple[Any, ...]]) -> list[dict[str, Any]]:
    """No option, and each value of each option of streams and files alone."""
    of_tensors = ("layout", "through")
    return [{}, *({name: value} for name, values in space.items() if name not in of_tensors for value in values)]


@pytest.mark.parametrize(("name", "kind"), WRITTEN)
def test_rows_survive(pool: IpcPool, name: str, kind: str) -> None:
    """Each value of each option that a Python library declares gives bytes with the same rows.

    The clauses judge the output of programs; here a program must only answer.
    """
    try:
        reported = pool.hello(name)
    except Unavailable as reason:
        pytest.skip(str(reason))
    if kind not in reported.writes:
        pytest.skip(f"{name} does not write kind {kind}")
    jobs = [
        Job(repr(options), kind, SOURCE, options=options) for options in single_options(dict(reported.write_options))
    ]
    answers = list(pool.write(jobs, [name]))

    assert [answer.outcome for answer in answers if answer.outcome is not JobOutcome.UNSUPPORTED] != []
    for answer in answers:
        if answer.outcome is JobOutcome.UNSUPPORTED:
            continue  # a value that the library refuses for this kind in its own words
        if kind == "file" and answer.id == repr({"given": "encoded"}):
            assert answer.outcome is JobOutcome.REFUSED  # no file has two dictionaries for one field
            continue
        assert answer.outcome is JobOutcome.WRITTEN, answer
        if IPC_WRITERS[name].adapter is not None:
            continue
        got = plain_table(read_again(kind, answer.data).to_batches()).columns
        nulls = answer.id == repr({"given": "nulls"})
        assert got == (([None] * 4,) * 2 if nulls else plain_table(BATCHES).columns), answer.id


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"codec": "lz4"}, "compression"),
        ({"codec": "zstd"}, "compression"),
        ({"legacy": True}, "legacy"),
        ({"version": "V4"}, "version"),
    ],
)
def test_options_of_pyarrow_show(pool: IpcPool, options: dict[str, Any], what: str) -> None:
    """An option changes the bytes in the way that it says."""
    plain, asked = pool.write(
        [Job("plain", "stream", SOURCE), Job("asked", "stream", SOURCE, options=options)], ["pyarrow"]
    )

    assert plain.data.startswith(b"\xff\xff\xff\xff")
    assert asked.data.startswith(b"\xff\xff\xff\xff") == (what != "legacy")
    assert (len(asked.data) != len(plain.data)) == (what != "version"), what
    assert asked.data != plain.data


def test_deltas_and_unified_dictionaries(pool: IpcPool) -> None:
    """A dictionary that grows is written as a delta where that is asked for; one for all is written once in a file."""
    index = pa.array([2, 0], pa.int32())
    grown = [pa.array(["x", "y"]).dictionary_encode(), pa.DictionaryArray.from_arrays(index, ["x", "y", "z"])]
    source = as_stream([pa.record_batch({"d": array}) for array in grown])
    asked = [
        Job("replaced", "stream", source),
        Job("delta", "stream", source, options={"deltas": True}),
        Job("file", "file", source),
        Job("unified", "file", source, options={"unify": True}),
    ]
    replaced, delta, file, unified = pool.write(asked, ["pyarrow"])

    assert [message.delta for message in read_stream(replaced.data).dictionaries] == [False, False]
    assert [message.delta for message in read_stream(delta.data).dictionaries] == [False, True]
    assert file.outcome is JobOutcome.REFUSED
    assert read_again("file", unified.data).column("d").to_pylist() == ["x", "y", "z", "x"]


def test_options_combine(pool: IpcPool) -> None:
    """Every pair of values of pyarrow's options is taken."""
    space = dict(IPC_WRITERS["pyarrow"].options)
    jobs = [
        Job(f"{first}={one} {second}={two}", "stream", SOURCE, options={first: one, second: two})
        for first, second in itertools.combinations(space, 2)
        for one, two in itertools.product(space[first], space[second])
    ]

    for answer in pool.write(jobs, ["pyarrow"]):
        assert answer.outcome is JobOutcome.WRITTEN, answer


def test_source_that_is_no_stream(pool: IpcPool) -> None:
    """No writer writes input that it cannot read; one that trusts the declared length runs out of memory."""
    for answer in pool.write([Job("1", "stream", b"no stream at all")]):
        assert answer.outcome in (JobOutcome.REFUSED, JobOutcome.EXHAUSTED, JobOutcome.UNAVAILABLE), answer


@pytest.mark.parametrize("layout", ["", "column-major", "strided"])
def test_tensors_survive(pool: IpcPool, layout: str) -> None:
    """The values and names of a tensor are the same after writing, whatever the layout in memory was."""
    source = TENSORS["dense.cube"].model().encode()

    [answer] = pool.write([Job("cube", "tensor", source, options={"layout": layout})], ["pyarrow"])

    assert answer.outcome is JobOutcome.WRITTEN
    assert (pa.ipc.read_tensor(pa.py_buffer(answer.data)).to_numpy() == TENSORS["dense.cube"].array).all()


@pytest.mark.parametrize("through", ["coo", "csf"])
def test_tensors_survive_a_sparse_form(pool: IpcPool, through: str) -> None:
    """Values and names are the same after a tensor was sparse."""
    source = TENSORS["dense.named"].model().encode()

    [answer] = pool.write([Job("named", "tensor", source, options={"through": through})], ["pyarrow"])

    written = pa.ipc.read_tensor(pa.py_buffer(answer.data))
    assert written.dim_names == ["rows", "größe"]
    assert (written.to_numpy() == TENSORS["dense.named"].array).all()


def test_a_library_without_tensors_says_so(pool: IpcPool) -> None:
    """It is not asked."""
    [answer] = pool.write([Job("cube", "tensor", b"")], ["arro3"])

    assert answer.outcome in (JobOutcome.UNSUPPORTED, JobOutcome.UNAVAILABLE)
